#include "deploy/manifest_robot.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr const char* kKinds[] = {"fixed", "hinge", "slide"};

void Append(std::vector<double>& to, Vec3 v) {
  to.insert(to.end(), {v.x, v.y, v.z});
}
void Append(std::vector<double>& to, Quat q) {
  to.insert(to.end(), {q.w, q.x, q.y, q.z});
}
Vec3 Vec3At(const std::vector<double>& from, size_t i) {
  return {from[3 * i], from[3 * i + 1], from[3 * i + 2]};
}
Quat QuatAt(const std::vector<double>& from, size_t i) {
  return {from[4 * i], from[4 * i + 1], from[4 * i + 2], from[4 * i + 3]};
}

class Checker {
 public:
  explicit Checker(const std::string& file) : file_(file) {}
  void That(bool holds, const std::string& key, const std::string& value, const std::string& expected) const {
    if (!holds) throw InputError(file_, key, value, expected);
  }
  template <class T>
  void Size(const std::vector<T>& list, const std::string& key, size_t size, const std::string& why) const {
    That(list.size() == size, key, std::to_string(list.size()) + " entries", std::to_string(size) + ", " + why);
  }

 private:
  const std::string& file_;
};

void CheckJoints(const ManifestJoints& joints, const Checker& check) {
  const size_t n = joints.names.size();
  check.That(n > 0, "joints.names", "none", "at least one joint");
  check.Size(joints.lower, "joints.lower", n, "one per joint");
  check.Size(joints.upper, "joints.upper", n, "one per joint");
  check.Size(joints.home, "joints.home", n, "one per joint");
  for (size_t j = 0; j < n; ++j)
    check.That(joints.lower[j] < joints.upper[j], "joints.lower", std::to_string(joints.lower[j]),
               "less than joints.upper of " + joints.names[j] + ", " + std::to_string(joints.upper[j]));
  check.That(joints.arm >= 1 && static_cast<size_t>(joints.arm) <= n, "joints.arm", std::to_string(joints.arm),
             "1 to " + std::to_string(n));
}

void CheckLink(const ManifestChain& chain, size_t i, int joints, const Checker& check) {
  const std::string& kind = chain.kinds[i];
  check.That(std::ranges::find(kKinds, kind) != std::end(kKinds), "chain.kinds", kind, "fixed, hinge or slide");
  check.That(chain.parents[i] < static_cast<int>(i), "chain.parents", std::to_string(chain.parents[i]),
             "an earlier link than " + std::to_string(i));
  const bool moves = kind != "fixed";
  check.That(moves ? chain.joints[i] >= 0 && chain.joints[i] < joints : chain.joints[i] == -1, "chain.joints",
             std::to_string(chain.joints[i]), moves ? "one of the joints" : "-1 for a fixed link");
}

void CheckChain(const ManifestChain& chain, int joints, const Checker& check) {
  const size_t n = chain.links.size(), frames = chain.frame_links.size();
  check.That(n > 0 && n <= kMaxMotionLinks, "chain.links", std::to_string(n),
             "1 to " + std::to_string(kMaxMotionLinks) + " links");
  check.Size(chain.parents, "chain.parents", n, "one per link");
  check.Size(chain.kinds, "chain.kinds", n, "one per link");
  check.Size(chain.joints, "chain.joints", n, "one per link");
  check.Size(chain.positions_m, "chain.positions_m", 3 * n, "three per link");
  check.Size(chain.rotations, "chain.rotations", 4 * n, "four per link");
  check.Size(chain.axes, "chain.axes", 3 * n, "three per link");
  check.Size(chain.anchors_m, "chain.anchors_m", 3 * n, "three per link");
  for (size_t i = 0; i < n; ++i) CheckLink(chain, i, joints, check);
  check.That(frames > 0, "chain.frame_links", "none", "at least the palm's");
  check.Size(chain.frame_positions_m, "chain.frame_positions_m", 3 * frames, "three per frame");
  check.Size(chain.frame_rotations, "chain.frame_rotations", 4 * frames, "four per frame");
  for (const int link : chain.frame_links)
    check.That(static_cast<size_t>(link) < n, "chain.frame_links", std::to_string(link), "one of the links");
}

void CheckRates(const ManifestControl& control, const Checker& check) {
  const double ticks = control.target_hz / control.policy_hz;
  check.That(std::abs(ticks - std::round(ticks)) < 1e-6 && ticks > 0.5, "control.target_hz",
             std::to_string(control.target_hz), "a multiple of control.policy_hz");
  check.That(control.episode_s * control.policy_hz > 0.5, "control.episode_s", std::to_string(control.episode_s),
             "at least one policy step");
}

void CheckCamera(const ManifestCamera& camera, const std::string& key, const Checker& check) {
  if (camera.name.empty()) return;
  check.That(camera.width_px > 0, key + ".width_px", std::to_string(camera.width_px), "at least 1");
  check.That(camera.height_px > 0, key + ".height_px", std::to_string(camera.height_px), "at least 1");
  check.That(camera.fx_px > 0, key + ".fx_px", std::to_string(camera.fx_px), "more than 0");
  check.That(camera.fy_px > 0, key + ".fy_px", std::to_string(camera.fy_px), "more than 0");
}

}  // namespace

ManifestChain ChainOf(const RobotModel& robot) {
  ManifestChain chain;
  for (const Link& link : robot.tree.links) {
    chain.links.push_back(link.name);
    chain.parents.push_back(link.parent);
    chain.kinds.emplace_back(kKinds[static_cast<size_t>(link.kind)]);
    chain.joints.push_back(link.joint);
    Append(chain.positions_m, link.parent_pose.pos);
    Append(chain.rotations, link.parent_pose.quat);
    Append(chain.axes, link.axis);
    Append(chain.anchors_m, link.anchor);
  }
  std::vector<LinkFrame> frames = {robot.palm};
  frames.insert(frames.end(), robot.tips.begin(), robot.tips.end());
  for (const LinkFrame& frame : frames) {
    chain.frame_links.push_back(frame.link);
    Append(chain.frame_positions_m, frame.pose.pos);
    Append(chain.frame_rotations, frame.pose.quat);
  }
  return chain;
}

ManifestJoints JointsOf(const RobotModel& robot) {
  ManifestJoints joints;
  joints.names = robot.tree.joint_names;
  joints.arm = robot.arm_joints;
  joints.home = robot.home;
  for (const JointLimit& limit : robot.tree.limits) {
    joints.lower.push_back(limit.lower);
    joints.upper.push_back(limit.upper);
  }
  return joints;
}

RobotModel RobotOf(const Manifest& manifest) {
  const ManifestChain& chain = manifest.chain;
  RobotModel robot;
  for (size_t i = 0; i < chain.links.size(); ++i) {
    const auto kind = std::ranges::find(kKinds, chain.kinds[i]) - std::begin(kKinds);
    robot.tree.links.push_back({.name = chain.links[i],
                                .parent = chain.parents[i],
                                .parent_pose = {Vec3At(chain.positions_m, i), QuatAt(chain.rotations, i)},
                                .kind = static_cast<JointKind>(kind),
                                .joint = chain.joints[i],
                                .axis = Vec3At(chain.axes, i),
                                .anchor = Vec3At(chain.anchors_m, i)});
  }
  robot.tree.joint_names = manifest.joints.names;
  for (size_t j = 0; j < manifest.joints.names.size(); ++j)
    robot.tree.limits.push_back({manifest.joints.lower[j], manifest.joints.upper[j]});
  robot.arm_joints = manifest.joints.arm;
  robot.home = manifest.joints.home;
  for (size_t i = 0; i < chain.frame_links.size(); ++i) {
    const LinkFrame frame{chain.frame_links[i], {Vec3At(chain.frame_positions_m, i), QuatAt(chain.frame_rotations, i)}};
    if (i == 0) robot.palm = frame;
    if (i > 0) robot.tips.push_back(frame);
  }
  return robot;
}

ActionSetup ActionSetupOf(const Manifest& manifest) {
  return {manifest.action, manifest.synergies, manifest.fabric_body};
}

int ProprioSize(const Manifest& manifest) {
  return std::accumulate(manifest.proprio.sizes.begin(), manifest.proprio.sizes.end(), 0);
}

ProprioRule ProprioRuleOf(const Manifest& manifest, const std::string& file) {
  const Checker check(file);
  ProprioRule rule{{}, manifest.task.observation_clip};
  for (const std::string& name : manifest.proprio.names) {
    SensedPart part;
    check.That(FindPart(name, part), "proprio.names", name, "a part that this version knows");
    check.That(KnownToRobot(part), "proprio.names", name, "a policy that is not told what only a simulator knows");
    rule.parts.push_back(part);
  }
  const TaskDims dims{static_cast<int>(manifest.joints.names.size()), manifest.policy.actions,
                      static_cast<int>(manifest.chain.frame_links.size()), 0, 0};
  const std::vector<ObservationField> fields = FieldsOf(rule.parts, dims);
  for (size_t i = 0; i < fields.size(); ++i)
    check.That(manifest.proprio.sizes[i] == fields[i].size, "proprio.sizes", std::to_string(manifest.proprio.sizes[i]),
               std::to_string(fields[i].size) + " of " + fields[i].name);
  return rule;
}

void CheckManifest(const Manifest& manifest, const std::string& file) {
  const Checker check(file);
  CheckJoints(manifest.joints, check);
  CheckChain(manifest.chain, static_cast<int>(manifest.joints.names.size()), check);
  CheckRates(manifest.control, check);
  check.Size(manifest.proprio.sizes, "proprio.sizes", manifest.proprio.names.size(), "one per part");
  CheckCamera(manifest.camera, "camera", check);
  CheckCamera(manifest.second_camera, "second_camera", check);
  const size_t hand = manifest.joints.names.size() - static_cast<size_t>(manifest.joints.arm);
  if (manifest.action.map != "joint_targets" && hand > 0)
    CheckSynergyTable(manifest.synergies, file + ", synergies", hand);
}

Manifest ReadManifest(const std::string& folder) {
  const std::string file = folder + "/manifest.yaml";
  Manifest manifest;
  ConfigFile(file, std::vector<std::string>()).Read(manifest);
  CheckManifest(manifest, file);
  return manifest;
}

}  // namespace gripstream
