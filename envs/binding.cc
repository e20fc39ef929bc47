#include "envs/binding.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "envs/servos.h"

namespace gripstream {
namespace {

std::vector<std::string> NamesOf(const mjModel* model, mjtObj type, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    const char* name = mj_id2name(model, type, i);
    if (name != nullptr) names.emplace_back(name);
  }
  return names;
}

std::string ListOf(const std::vector<std::string>& names) {
  constexpr size_t kShown = 40;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return names.empty() ? "none" : text;
}

class Resolver {
 public:
  Resolver(const mjModel* model, const std::string& path) : model_(model), path_(path) {}

  int Id(mjtObj type, const char* kind, mjtSize count, const std::string& key, const std::string& name) const {
    const int id = mj_name2id(model_, type, name.c_str());
    if (id >= 0) return id;
    const std::vector<std::string> names = NamesOf(model_, type, static_cast<int>(count));
    const std::string nearest = NearestName(name, names);
    throw InputError(path_, "task." + key, name,
                     std::string("one of the model's ") + kind + (nearest.empty() ? "" : " ('" + nearest + "'?)") +
                         ": " + ListOf(names));
  }
  int Site(const std::string& key, const std::string& name) const {
    return Id(mjOBJ_SITE, "sites", model_->nsite, key, name);
  }
  [[noreturn]] void Refuse(const std::string& key, const std::string& value, const std::string& expected) const {
    throw InputError(path_, "task." + key, value, expected);
  }

 private:
  const mjModel* model_;
  const std::string& path_;
};

Vec3 ToVec3(const mjtNum* v) {
  return {v[0], v[1], v[2]};
}
Quat ToQuat(const mjtNum* q) {
  return {q[0], q[1], q[2], q[3]};
}

// Where both the joint and its actuator's control may be.
JointLimit LimitsOf(const mjModel* model, int actuator, int joint, const Resolver& resolver) {
  const bool control = model->actuator_ctrllimited[actuator] != 0, limited = model->jnt_limited[joint] != 0;
  const std::string name = mj_id2name(model, mjOBJ_ACTUATOR, actuator);
  if (!control && !limited) resolver.Refuse("binding.actuators", name, "a limited joint");
  JointLimit limit{-1e10, 1e10};
  for (const mjtNum* range : {control ? model->actuator_ctrlrange + 2 * actuator : nullptr,
                              limited ? model->jnt_range + 2 * joint : nullptr}) {
    if (range == nullptr) continue;
    limit = {std::max(limit.lower, range[0]), std::min(limit.upper, range[1])};
  }
  if (limit.lower >= limit.upper) resolver.Refuse("binding.actuators", name, "a control range within the joint's");
  return limit;
}

void BindActuators(const mjModel* model, const BindingConfig& names, const Resolver& resolver, RobotBinding& out) {
  std::vector<std::string> wanted = names.actuators;
  if (wanted.empty()) wanted = NamesOf(model, mjOBJ_ACTUATOR, static_cast<int>(model->nu));
  if (wanted.empty()) resolver.Refuse("binding.actuators", "none", "a model with named actuators");
  for (const std::string& name : wanted) {
    const int id = resolver.Id(mjOBJ_ACTUATOR, "actuators", model->nu, "binding.actuators", name);
    const ActuatorKind kind = KindOf(*model, id);
    if (kind != ActuatorKind::kPosition)
      resolver.Refuse("binding.actuators", name + ", " + WordsFor(kind), "a position servo");
    const int joint = model->actuator_trnid[2 * id];
    out.actuators.push_back(id);
    out.qpos.push_back(model->jnt_qposadr[joint]);
    out.dofs.push_back(model->jnt_dofadr[joint]);
    out.tree.limits.push_back(LimitsOf(model, id, joint, resolver));
    out.tree.joint_names.emplace_back(mj_id2name(model, mjOBJ_JOINT, joint));
    out.home.push_back(out.home_qpos[static_cast<size_t>(out.qpos.back())]);
  }
  if (wanted.size() > kMaxRobotJoints)
    resolver.Refuse("binding.actuators", std::to_string(wanted.size()), "at most " + std::to_string(kMaxRobotJoints));
  if (names.arm_joints > static_cast<int>(wanted.size()))
    resolver.Refuse("binding.arm_joints", std::to_string(names.arm_joints),
                    "at most the number of actuators, " + std::to_string(wanted.size()));
  out.arm_joints = names.arm_joints;
}

// One link per joint of a body, or one fixed link. Joints that no actuator moves stay where the home posture has them.
void AddBody(const mjModel* model, int body, int parent, RobotBinding& out) {
  Transform pose{ToVec3(model->body_pos + 3 * body), ToQuat(model->body_quat + 4 * body)};
  const int first = model->body_jntadr[body], count = model->body_jntnum[body];
  for (int joint = first; joint < first + count; ++joint) {
    Link link{.name = mj_id2name(model, mjOBJ_BODY, body), .parent = parent, .parent_pose = pose};
    const int type = model->jnt_type[joint];
    const int address = model->jnt_qposadr[joint];
    const auto found = std::find(out.qpos.begin(), out.qpos.end(), address);
    if (type == mjJNT_HINGE || type == mjJNT_SLIDE) {
      link.axis = ToVec3(model->jnt_axis + 3 * joint);
      link.anchor = ToVec3(model->jnt_pos + 3 * joint);
      const bool moved = found != out.qpos.end();
      const double value =
          moved ? -model->qpos0[address] : out.home_qpos[static_cast<size_t>(address)] - model->qpos0[address];
      const Quat turn = AxisAngle(link.axis, value);
      link.parent_pose = type == mjJNT_HINGE ? pose * Transform{link.anchor - Rotate(turn, link.anchor), turn}
                                             : pose * Transform{value * link.axis, {}};
      if (moved) {
        link.kind = type == mjJNT_HINGE ? JointKind::kHinge : JointKind::kSlide;
        link.joint = static_cast<int>(found - out.qpos.begin());
      }
    }
    out.tree.links.push_back(link);
    parent = static_cast<int>(out.tree.links.size()) - 1;
    pose = {};
  }
  if (count == 0)
    out.tree.links.push_back({.name = mj_id2name(model, mjOBJ_BODY, body), .parent = parent, .parent_pose = pose});
}

// The links from the world to the given sites' bodies.
void BuildTree(const mjModel* model, const std::vector<int>& sites, RobotBinding& out) {
  std::vector<bool> needed(static_cast<size_t>(model->nbody), false);
  for (const int site : sites) {
    for (int body = model->site_bodyid[site]; body > 0; body = model->body_parentid[body])
      needed[static_cast<size_t>(body)] = true;
  }
  std::vector<int> last_link(static_cast<size_t>(model->nbody), -1);
  out.tree.links.push_back({.name = "world"});
  last_link[0] = 0;
  for (int body = 1; body < model->nbody; ++body) {
    if (!needed[static_cast<size_t>(body)]) continue;
    AddBody(model, body, last_link[static_cast<size_t>(model->body_parentid[body])], out);
    last_link[static_cast<size_t>(body)] = static_cast<int>(out.tree.links.size()) - 1;
  }
  out.tree.Check();
  const auto frame = [&](int site) {
    return LinkFrame{last_link[static_cast<size_t>(model->site_bodyid[site])],
                     {ToVec3(model->site_pos + 3 * site), ToQuat(model->site_quat + 4 * site)}};
  };
  out.palm = frame(sites.front());
  for (size_t i = 1; i < sites.size(); ++i) out.tips.push_back(frame(sites[i]));
}

void BindObject(const mjModel* model, const std::string& name, const Resolver& resolver, RobotBinding& out) {
  out.object_body = resolver.Id(mjOBJ_BODY, "bodies", model->nbody, "binding.object_body", name);
  const int joint = model->body_jntadr[out.object_body];
  if (model->body_jntnum[out.object_body] != 1 || model->jnt_type[joint] != mjJNT_FREE)
    resolver.Refuse("binding.object_body", name, "a body with a free joint");
  out.object_qpos = model->jnt_qposadr[joint];
  out.object_dof = model->jnt_dofadr[joint];
}

void BindTouches(const mjModel* model, const std::vector<std::string>& names, const Resolver& resolver,
                 RobotBinding& out) {
  for (const std::string& name : names) {
    const int id = resolver.Id(mjOBJ_SENSOR, "sensors", model->nsensor, "binding.touch_sensors", name);
    if (model->sensor_type[id] != mjSENS_TOUCH) resolver.Refuse("binding.touch_sensors", name, "a touch sensor");
    out.touches.push_back(model->sensor_adr[id]);
  }
  for (int id = 0; names.empty() && id < model->nsensor; ++id) {
    if (model->sensor_type[id] == mjSENS_TOUCH) out.touches.push_back(model->sensor_adr[id]);
  }
}

}  // namespace

RobotBinding Bind(const mjModel* model, const TaskConfig& config, const std::string& path) {
  const BindingConfig& names = config.binding;
  const Resolver resolver(model, path);
  RobotBinding out;
  const int key = resolver.Id(mjOBJ_KEY, "keyframes", model->nkey, "binding.home_key", names.home_key);
  out.home_qpos.assign(model->key_qpos + key * model->nq, model->key_qpos + (key + 1) * model->nq);
  BindActuators(model, names, resolver, out);
  out.palm_site = resolver.Site("binding.palm_site", names.palm_site);
  std::vector<int> sites = {out.palm_site};
  for (const std::string& tip : names.tip_sites) sites.push_back(resolver.Site("binding.tip_sites", tip));
  BindTouches(model, names.touch_sensors, resolver, out);
  BindObject(model, names.object_body, resolver, out);
  out.camera = resolver.Id(mjOBJ_CAMERA, "cameras", model->ncam, "camera", config.camera);
  BuildTree(model, sites, out);
  return out;
}

}  // namespace gripstream
