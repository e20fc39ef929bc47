// The MuJoCo models of a task: the robot's MJCF with the object body's geoms exchanged for each catalogue object's, and
// the names of the task's configuration resolved to ids.
//
// mjBatch runs models of one layout only, so every object body has the same number of geoms: missing ones are points of
// no mass that collide with nothing and are fully transparent (renderers skip alpha 0). All ids are the same in all
// models. One model per object, shared by every environment that holds it; owned by the set. Immutable; thread-safe.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>
#include <vector>

#include "control/robot_model.h"
#include "envs/config.h"

namespace gripstream {

inline constexpr int kMaxRobotJoints = 64;

struct ObjectInfo {
  std::string name;
  int catalogue_id = -1;     // index in the catalogue file, -1 for the model's own object
  double half_height_m = 0;  // of the body's origin over the table when it rests
};

// The task's names as numbers. Joints are in the order of `actuators`: the one joint order everywhere.
struct RobotBinding : RobotModel {
  std::vector<int> actuators;   // actuator ids
  std::vector<int> qpos, dofs;  // addresses per joint
  std::vector<int> touches;     // addresses in sensordata
  int palm_site = -1;
  int object_body = -1;
  int object_qpos = -1, object_dof = -1;  // addresses of its free joint
  int camera = -1;
  std::vector<double> home_qpos;  // [nq] of the home key
};

class ModelSet {
 public:
  // Throws InputError on an unreadable or malformed model, a name that is not there, or a model that does not fit.
  explicit ModelSet(const TaskConfig& config);

  int Objects() const { return static_cast<int>(objects_.size()); }
  // Indices of the objects to train on, and of those that only a held-out evaluation uses.
  const std::vector<int>& Train() const { return train_; }
  const std::vector<int>& HeldOut() const { return held_out_; }
  const ObjectInfo& Object(int index) const { return objects_[static_cast<size_t>(index)]; }
  const mjModel* Model(int object) const { return models_[static_cast<size_t>(object)].get(); }
  const RobotBinding& Binding() const { return binding_; }

 private:
  struct FreeModel {
    void operator()(mjModel* model) const { mj_deleteModel(model); }
  };
  void PutObjects(const TaskConfig& config, const std::string& path, mjSpec* spec);

  std::vector<ObjectInfo> objects_;
  std::vector<int> train_, held_out_;
  std::vector<std::unique_ptr<mjModel, FreeModel>> models_;
  RobotBinding binding_;
};

}  // namespace gripstream
