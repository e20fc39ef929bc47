#include "envs/servos.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace gripstream {
namespace {

// Actuator ids in the task's joint order; a name that is not there is told by whoever binds the names.
std::vector<int> BoundActuators(const mjModel& model, const BindingConfig& binding) {
  std::vector<int> ids;
  for (const std::string& name : binding.actuators) {
    const int id = mj_name2id(&model, mjOBJ_ACTUATOR, name.c_str());
    if (id < 0) return {};
    ids.push_back(id);
  }
  for (int id = 0; binding.actuators.empty() && id < model.nactuator; ++id) {
    if (mj_id2name(&model, mjOBJ_ACTUATOR, id) != nullptr) ids.push_back(id);
  }
  return ids;
}

// One number for all or one each; 0 where there is none.
std::vector<double> PerActuator(const std::vector<double>& given, size_t count, const std::string& key,
                                const std::string& path) {
  if (given.empty()) return std::vector<double>(count, 0.0);
  if (given.size() == 1) return std::vector<double>(count, given.front());
  if (given.size() != count)
    throw InputError(path, "task.binding." + key, std::to_string(given.size()) + " numbers",
                     "none, one for all or " + std::to_string(count) + ", one per actuator");
  return given;
}

double GreatestForce(const mjModel& model, int id, ActuatorKind kind) {
  const double gear = std::abs(model.actuator_gear[6 * id]);
  double force = 0;  // no limit
  if (kind == ActuatorKind::kMotor && model.actuator_ctrllimited[id] != 0) {
    const mjtNum* range = model.actuator_ctrlrange + 2 * id;
    force = std::abs(model.actuator_gainprm[mjNGAIN * id]) * std::max(std::abs(range[0]), std::abs(range[1]));
  }
  if (model.actuator_forcelimited[id] != 0) {
    const mjtNum* range = model.actuator_forcerange + 2 * id;
    const double most = std::max(std::abs(range[0]), std::abs(range[1]));
    force = force > 0 ? std::min(force, most) : most;
  }
  return force * gear;
}

void MakeServo(const mjModel& model, int id, double stiffness, double damping, mjsActuator* actuator) {
  const double force = GreatestForce(model, id, KindOf(model, id));
  const mjtNum* range = model.jnt_range + 2 * model.actuator_trnid[2 * id];
  std::fill_n(actuator->gainprm, mjNGAIN, 0.0);
  std::fill_n(actuator->biasprm, mjNBIAS, 0.0);
  std::fill_n(actuator->gear, 6, 0.0);
  actuator->gear[0] = 1;
  actuator->gaintype = mjGAIN_FIXED;
  actuator->biastype = mjBIAS_AFFINE;
  actuator->gainprm[0] = stiffness;
  actuator->biasprm[1] = -stiffness;
  actuator->biasprm[2] = damping > 0 ? -damping : 1;  // above 0 MuJoCo takes it for a ratio: 1 is critical damping
  actuator->inheritrange = 0;
  actuator->ctrllimited = mjLIMITED_TRUE;
  std::copy_n(range, 2, actuator->ctrlrange);
  actuator->forcelimited = force > 0 ? mjLIMITED_TRUE : mjLIMITED_FALSE;
  actuator->forcerange[0] = -force;
  actuator->forcerange[1] = force;
}

bool CompensateGravity(mjSpec* spec, const mjModel& model, const BindingConfig& binding) {
  const int site = mj_name2id(&model, mjOBJ_SITE, binding.palm_site.c_str());
  if (!binding.gravity_compensation || site < 0) return false;
  const int root = model.body_rootid[model.site_bodyid[site]];
  for (mjsElement* body = mjs_firstElement(spec, mjOBJ_BODY); body != nullptr; body = mjs_nextElement(spec, body)) {
    const int id = mjs_getId(body);
    if (id > 0 && model.body_rootid[id] == root) mjs_asBody(body)->gravcomp = 1;
  }
  return true;
}

}  // namespace

ActuatorKind KindOf(const mjModel& model, int id) {
  if (model.actuator_trntype[id] != mjTRN_JOINT) return ActuatorKind::kNoJoint;
  const int type = model.jnt_type[model.actuator_trnid[2 * id]];
  if (type != mjJNT_HINGE && type != mjJNT_SLIDE) return ActuatorKind::kNoJoint;
  if (model.actuator_dyntype[id] != mjDYN_NONE) return ActuatorKind::kStateful;
  const mjtNum* bias = model.actuator_biasprm + mjNBIAS * id;
  const double gain = model.actuator_gainprm[mjNGAIN * id];
  const int bias_type = model.actuator_biastype[id];
  if (model.actuator_gaintype[id] != mjGAIN_FIXED) return ActuatorKind::kOtherServo;
  if (bias_type == mjBIAS_NONE) return ActuatorKind::kMotor;
  if (bias_type != mjBIAS_AFFINE) return ActuatorKind::kOtherServo;
  if (bias[0] == 0 && bias[1] == 0) return ActuatorKind::kVelocity;
  const bool rests = bias[0] == 0 && gain > 0 && std::abs(gain + bias[1]) <= 1e-9 * gain;
  return rests && model.actuator_gear[6 * id] == 1 ? ActuatorKind::kPosition : ActuatorKind::kOtherServo;
}

const char* WordsFor(ActuatorKind kind) {
  switch (kind) {
    case ActuatorKind::kPosition:
      return "a position servo";
    case ActuatorKind::kMotor:
      return "a motor";
    case ActuatorKind::kVelocity:
      return "a velocity servo";
    case ActuatorKind::kOtherServo:
      return "a servo that does not rest where its control says";
    case ActuatorKind::kStateful:
      return "an actuator with a state of its own";
    case ActuatorKind::kNoJoint:
      return "not on a hinge or slide";
  }
  return "";
}

bool PrepareRobot(mjSpec* spec, const mjModel& model, const BindingConfig& binding, const std::string& path) {
  const std::vector<int> ids = BoundActuators(model, binding);
  const std::vector<double> stiffness = PerActuator(binding.servo_stiffness, ids.size(), "servo_stiffness", path);
  const std::vector<double> damping = PerActuator(binding.servo_damping, ids.size(), "servo_damping", path);
  const bool each = binding.servo_stiffness.size() > 1;
  bool changed = CompensateGravity(spec, model, binding);
  for (size_t j = 0; j < ids.size(); ++j) {
    const ActuatorKind kind = KindOf(model, ids[j]);
    const std::string name = mj_id2name(&model, mjOBJ_ACTUATOR, ids[j]);
    if (kind == ActuatorKind::kStateful || kind == ActuatorKind::kNoJoint)
      throw InputError(path, "task.binding.actuators", name + ", " + WordsFor(kind),
                       "a position servo, a motor or a velocity servo on a hinge or slide");
    if (kind == ActuatorKind::kPosition && !(each && stiffness[j] > 0)) continue;
    if (stiffness[j] == 0)
      throw InputError(path, "task.binding.servo_stiffness", "nothing for '" + name + "', " + WordsFor(kind),
                       "the stiffness of a position servo that is to drive its joint");
    MakeServo(model, ids[j], stiffness[j], damping[j],
              mjs_asActuator(mjs_findElement(spec, mjOBJ_ACTUATOR, name.c_str())));
    changed = true;
  }
  return changed;
}

}  // namespace gripstream
