#include <mujoco/mjbatch.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/cpus.h"
#include "core/error.h"
#include "envs/per_env.h"
#include "envs/physics.h"

namespace gripstream {
namespace {

constexpr mjtWarning kBadNumbers[] = {mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC, mjWARN_BADCTRL};
constexpr mjtWarning kOverflows[] = {mjWARN_CONTACTFULL, mjWARN_CNSTRFULL};

SimHealth HealthOf(const mjData* data) {
  for (const mjtWarning kind : kBadNumbers) {
    if (data->warning[kind].number > 0) return SimHealth::kBadNumber;
  }
  for (const mjtWarning kind : kOverflows) {
    if (data->warning[kind].number > 0) return SimHealth::kOverflow;
  }
  return SimHealth::kOk;
}

SimView View(const mjModel* model, mjData* data) {
  return {model,
          data->qpos,
          data->qvel,
          data->ctrl,
          data->xfrc_applied,
          data->qfrc_actuator,
          data->sensordata,
          data->site_xpos,
          data->site_xmat,
          data->xpos,
          data->xquat};
}

// Whether a camera or light follows a centre of mass.
bool TracksCom(const mjModel* model) {
  const auto tracks = [](int mode) { return mode == mjCAMLIGHT_TRACKCOM || mode == mjCAMLIGHT_TARGETBODYCOM; };
  return std::any_of(model->cam_mode, model->cam_mode + model->ncam, tracks) ||
         std::any_of(model->light_mode, model->light_mode + model->nlight, tracks);
}

class MujocoPhysics final : public BatchPhysics {
 public:
  MujocoPhysics(const mjModel* model, int envs, int threads)
      : models_(static_cast<size_t>(envs), model), tracks_com_(TracksCom(model)) {
    mjBatchConfig config;
    mjb_defaultConfig(&config);
    config.nthread = threads > 0 ? threads : AvailableCpus();
    char error[512] = "";
    batch_ = mjb_makeBatch(model, envs, &config, error, sizeof error);
    if (batch_ == nullptr) throw InputError("physics", error);
    health_.assign(static_cast<size_t>(envs), SimHealth::kOk);
    geom_xpos_ = {envs, 3 * static_cast<size_t>(model->ngeom)};
    geom_xmat_ = {envs, 9 * static_cast<size_t>(model->ngeom)};
    cam_xpos_ = {envs, 3 * static_cast<size_t>(model->ncam)};
    cam_xmat_ = {envs, 9 * static_cast<size_t>(model->ncam)};
    light_xpos_ = light_xdir_ = {envs, 3 * static_cast<size_t>(model->nlight)};
    mjb_setModels(batch_, models_.data());
  }
  ~MujocoPhysics() override { mjb_deleteBatch(batch_); }
  MujocoPhysics(const MujocoPhysics&) = delete;
  MujocoPhysics& operator=(const MujocoPhysics&) = delete;

  int Envs() const override { return mjb_nsim(batch_); }
  int Threads() const override { return mjb_nthread(batch_); }
  const mjModel* Model(int env) const override { return models_[static_cast<size_t>(env)]; }

  void SetModels(std::span<const mjModel* const> models) override {
    GS_CHECK(models.size() == models_.size(), "one model per environment");
    std::copy(models.begin(), models.end(), models_.begin());
    mjb_setModels(batch_, models_.data());
  }

  void Step(int ticks, int substeps, const Control& control, const Observe& observe) override {
    const Job job{this, ticks, substeps, &control, nullptr, &observe};
    Run(job, {}, &RunStep);
  }
  void Reset(std::span<const int> ids, const Fill& fill, const Observe& observe) override {
    const Job job{this, 0, 0, nullptr, &fill, &observe};
    Run(job, ids, &RunReset);
  }
  void Forward(std::span<const int> ids, const Observe& observe) override {
    const Job job{this, 0, 0, nullptr, nullptr, &observe};
    Run(job, ids, &RunForward);
  }
  SimHealth Health(int env) const override { return health_[static_cast<size_t>(env)]; }

  const mjtNum* GeomXpos(int env) const override { return geom_xpos_[env].data(); }
  const mjtNum* GeomXmat(int env) const override { return geom_xmat_[env].data(); }
  const mjtNum* CamXpos(int env) const override { return cam_xpos_[env].data(); }
  const mjtNum* CamXmat(int env) const override { return cam_xmat_[env].data(); }
  const mjtNum* LightXpos(int env) const override { return light_xpos_[env].data(); }
  const mjtNum* LightXdir(int env) const override { return light_xdir_[env].data(); }

  int StateSize() const override { return mjb_nstate(batch_); }
  void ReadState(int env, mjtNum* out) const override {
    std::copy_n(mjb_state(batch_) + static_cast<ptrdiff_t>(env) * StateSize(), StateSize(), out);
  }
  void WriteState(int env, const mjtNum* in) override {
    std::copy_n(in, StateSize(), mjb_state(batch_) + static_cast<ptrdiff_t>(env) * StateSize());
  }

 private:
  struct Job {
    MujocoPhysics* self;
    int ticks, substeps;
    const Control* control;
    const Fill* fill;
    const Observe* observe;
  };

  // The kinematic part of mj_forward: all that images and observations need. mjb_output's copies are of no use here,
  // they do not happen after mjb_apply.
  void UpdatePoses(const mjModel* model, mjData* data, int env) {
    mj_kinematics(model, data);
    if (tracks_com_) mj_comPos(model, data);
    mj_camlight(model, data);
    std::copy_n(data->geom_xpos, geom_xpos_[env].size(), geom_xpos_[env].begin());
    std::copy_n(data->geom_xmat, geom_xmat_[env].size(), geom_xmat_[env].begin());
    std::copy_n(data->cam_xpos, cam_xpos_[env].size(), cam_xpos_[env].begin());
    std::copy_n(data->cam_xmat, cam_xmat_[env].size(), cam_xmat_[env].begin());
    std::copy_n(data->light_xpos, light_xpos_[env].size(), light_xpos_[env].begin());
    std::copy_n(data->light_xdir, light_xdir_[env].size(), light_xdir_[env].begin());
  }

  // Runs `body` on the environments, then marks those in which the library raised an error.
  void Run(const Job& job, std::span<const int> ids, mjfBatchFunc body) {
    const bool all = ids.data() == nullptr;
    if (!all && ids.empty()) return;
    const int failed =
        mjb_apply(batch_, ids.data(), static_cast<int>(ids.size()), body, const_cast<Job*>(&job), /*save=*/1);
    if (failed == 0) return;
    const int* status = mjb_status(batch_);
    const auto check = [&](int env) {
      if (status[env] != 0) health_[static_cast<size_t>(env)] = SimHealth::kError;
    };
    if (all) {
      for (int env = 0; env < Envs(); ++env) check(env);
    } else {
      for (const int env : ids) check(env);
    }
  }

  static void RunStep(const mjModel* model, mjData* data, int env, void* arg) {
    const Job& job = *static_cast<const Job*>(arg);
    SimHealth& health = job.self->health_[static_cast<size_t>(env)];
    std::memset(data->warning, 0, sizeof data->warning);
    const SimView view = View(model, data);
    for (int tick = 0; tick < job.ticks; ++tick) {
      (*job.control)(env, tick, view);
      for (int substep = 0; substep < job.substeps; ++substep) mj_step(model, data);
      health = HealthOf(data);
      if (health != SimHealth::kOk) return;
    }
    job.self->UpdatePoses(model, data, env);
    (*job.observe)(env, view);
  }

  static void RunReset(const mjModel* model, mjData* data, int env, void* arg) {
    const Job& job = *static_cast<const Job*>(arg);
    mj_resetData(model, data);
    const SimView view = View(model, data);
    (*job.fill)(env, view);
    job.self->health_[static_cast<size_t>(env)] = SimHealth::kOk;
    job.self->UpdatePoses(model, data, env);
    (*job.observe)(env, view);
  }

  static void RunForward(const mjModel* model, mjData* data, int env, void* arg) {
    const Job& job = *static_cast<const Job*>(arg);
    job.self->UpdatePoses(model, data, env);
    (*job.observe)(env, View(model, data));
  }

  std::vector<const mjModel*> models_;
  const bool tracks_com_;
  mjBatch* batch_ = nullptr;
  std::vector<SimHealth> health_;
  PerEnv<mjtNum> geom_xpos_, geom_xmat_, cam_xpos_, cam_xmat_, light_xpos_, light_xdir_;
};

}  // namespace

std::unique_ptr<BatchPhysics> MakeMujocoPhysics(const mjModel* model, int envs, int threads) {
  return std::make_unique<MujocoPhysics>(model, envs, threads);
}

}  // namespace gripstream
