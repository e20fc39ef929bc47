// MuJoCo models and their data, freed with their owner.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>

namespace gripstream {

struct ModelDeleter {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
};
struct DataDeleter {
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using ModelPtr = std::unique_ptr<mjModel, ModelDeleter>;
using DataPtr = std::unique_ptr<mjData, DataDeleter>;

}  // namespace gripstream
