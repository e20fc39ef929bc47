// Models of an environment's own: copies of the mjModel struct in which a few arrays are the environment's and all
// others are the shared model's.
//
// mjb_expand would do this inside mjBatch but refuses models of the caller's, which the object catalogue needs. The own
// arrays are those that randomisation changes and those that mj_setConst derives from them. One thread at a time; what
// Model() gives stays at its address for the object's lifetime and must not be stepped during Set.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <vector>

#include "envs/model.h"
#include "envs/randomise.h"

namespace gripstream {

class OwnModels {
 public:
  // `models` must outlive this.
  OwnModels(const ModelSet& models, int envs);
  ~OwnModels();

  const mjModel* Model(int env) const;
  // Environment `env` gets object `object` under `draw`.
  void Set(int env, int object, const PhysicsDraw& draw);

 private:
  struct Own;
  struct Scratch;
  mjModel* ScratchOf(int object);

  const ModelSet& models_;
  std::vector<std::unique_ptr<Own>> own_;
  std::vector<std::unique_ptr<Scratch>> scratch_;  // per object, made when first needed
};

}  // namespace gripstream
