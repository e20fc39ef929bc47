// Physics of N environments behind one narrow interface; mujoco (mjBatch) is the backend for CPUs.
//
//   Reset(ids, fill, observe)      -> state written by `fill`, then poses
//   Step(ticks, substeps, control, observe)
//                                  -> ticks x (control, substeps physics steps), then poses
//
// Poses and everything that `observe` sees belong to the state as it is after the call: mj_step alone leaves them one
// step behind. The callbacks run on the physics threads, for one environment at a time each; they must touch only that
// environment's data and must not throw. Calls from several threads are serialised by the caller.
#pragma once

#include <mujoco/mujoco.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace gripstream {

// One environment as a callback sees it; valid during the callback.
struct SimView {
  const mjModel* model;
  mjtNum* qpos;          // [nq]; writable in `fill` only
  mjtNum* qvel;          // [nv]; writable in `fill` only
  mjtNum* ctrl;          // [nu]; writable in `fill` and `control`
  mjtNum* xfrc_applied;  // [nbody, 6] force (N) and torque (Nm) on bodies; writable in `control`, kept until changed
  const mjtNum* qfrc_actuator;  // [nv] and
  const mjtNum* sensordata;     // [nsensordata], as of the last physics step's start; zeros after a reset
  const mjtNum* site_xpos;      // [nsite, 3], poses: not valid in `fill` and `control`
  const mjtNum* site_xmat;      // [nsite, 9]
  const mjtNum* xpos;           // [nbody, 3]
  const mjtNum* xquat;          // [nbody, 4]
};

// What became of an environment in the last call.
enum class SimHealth : uint8_t {
  kOk = 0,
  kBadNumber = 1,  // NaN, infinity or a huge value in state, acceleration or control
  kOverflow = 2,   // more contacts or constraints than there is room for
  kError = 3,      // the physics library refused the step
};

class BatchPhysics {
 public:
  using Control = std::function<void(int env, int tick, const SimView& sim)>;
  using Observe = std::function<void(int env, const SimView& sim)>;
  using Fill = std::function<void(int env, const SimView& sim)>;

  virtual ~BatchPhysics() = default;

  virtual int Envs() const = 0;
  virtual int Threads() const = 0;
  // The model of each environment; the models must agree in everything but object shapes. Owned by the caller.
  // Friction, gains or masses of an environment's own also come this way, in a copy of the mjModel struct whose other
  // pointers are shared: mjb_expand, mjBatch's own way, does not work together with models of the caller's.
  virtual void SetModels(std::span<const mjModel* const> models) = 0;
  virtual const mjModel* Model(int env) const = 0;

  // All environments. An environment whose health is not kOk has no valid state: reset it. `observe` is not called on
  // it.
  virtual void Step(int ticks, int substeps, const Control& control, const Observe& observe) = 0;
  // `ids` ascending. The model's default state, changed by `fill`.
  virtual void Reset(std::span<const int> ids, const Fill& fill, const Observe& observe) = 0;
  // Poses of the current state, after WriteState.
  virtual void Forward(std::span<const int> ids, const Observe& observe) = 0;
  virtual SimHealth Health(int env) const = 0;

  // Poses, [N, ...] contiguous; valid until the next call.
  virtual const mjtNum* GeomXpos(int env) const = 0;   // [ngeom, 3]
  virtual const mjtNum* GeomXmat(int env) const = 0;   // [ngeom, 9]
  virtual const mjtNum* CamXpos(int env) const = 0;    // [ncam, 3]
  virtual const mjtNum* CamXmat(int env) const = 0;    // [ncam, 9]
  virtual const mjtNum* LightXpos(int env) const = 0;  // [nlight, 3]
  virtual const mjtNum* LightXdir(int env) const = 0;  // [nlight, 3]

  // Everything that decides the future of an environment: StateSize() numbers.
  virtual int StateSize() const = 0;
  virtual void ReadState(int env, mjtNum* out) const = 0;
  virtual void WriteState(int env, const mjtNum* in) = 0;
};

// Environments start with models.front() each. Throws InputError when the library refuses the model.
std::unique_ptr<BatchPhysics> MakeMujocoPhysics(const mjModel* model, int envs, int threads);

}  // namespace gripstream
