// A manifest of two arm joints and one hand joint, a policy that does what a test tells it, and messages to feed it.
#pragma once

#include <cstring>
#include <functional>
#include <vector>

#include "deploy/manifest_robot.h"
#include "deploy/policy_engine.h"
#include "deploy/robot_messages.h"

namespace gripstream::testing {

// Two vertical hinges 0.5 m apart and a finger; the palm 0.3 m behind the second.
inline RobotModel SmallRobot() {
  RobotModel robot;
  robot.tree.links = {
      {.name = "base"},
      {.name = "upper", .parent = 0, .kind = JointKind::kHinge, .joint = 0},
      {.name = "lower", .parent = 1, .parent_pose = {{0.5, 0, 0}, {}}, .kind = JointKind::kHinge, .joint = 1},
      {.name = "finger",
       .parent = 2,
       .parent_pose = {{0.3, 0, 0}, {}},
       .kind = JointKind::kHinge,
       .joint = 2,
       .axis = {0, 1, 0},
       .anchor = {0, 0, 0.01}}};
  robot.tree.joint_names = {"shoulder", "elbow", "finger"};
  robot.tree.limits = {{-2, 2}, {-2, 2}, {-1, 1}};
  robot.palm = {2, {{0.3, 0, 0}, {}}};
  robot.tips = {{3, {{0.05, 0, 0}, AxisAngle({0, 0, 1}, 0.25)}}};
  robot.arm_joints = 2;
  robot.home = {0.1, 0.2, 0.3};
  return robot;
}

inline Manifest SmallManifest() {
  Manifest m;
  const RobotModel robot = SmallRobot();
  m.policy = {.name = "depth_cnn",
              .inputs = {"depth", "proprio"},
              .outputs = {"action", "aux"},
              .memory = 0,
              .actions = 3,
              .aux = 3};
  m.control = {.policy_hz = 10, .target_hz = 60, .episode_s = 1};
  m.task.name = "reach";
  m.joints = JointsOf(robot);
  m.chain = ChainOf(robot);
  m.action.map = "joint_targets";
  m.proprio = {.names = {"joint_position", "palm_position", "last_action", "time_left"},
               .units = {"", "", "", ""},
               .sizes = {3, 3, 3, 1}};
  m.camera = {.name = "depth", .width_px = 4, .height_px = 3, .fx_px = 4, .fy_px = 4, .cx_px = 2, .cy_px = 1.5};
  return m;
}

class ToldEngine final : public PolicyEngine {
 public:
  std::function<void(const PolicyInput&, PolicyOutput&)> run = [this](const PolicyInput& input, PolicyOutput& output) {
    depth.assign(input.depth.begin(), input.depth.end());
    proprio.assign(input.proprio.begin(), input.proprio.end());
    output.action = action;
    output.aux = aux;
  };
  void Run(const PolicyInput& input, PolicyOutput& output) override {
    ++runs;
    run(input, output);
  }

  std::vector<float> action = {0, 0, 0}, aux = {1, 2, 0.3f};
  std::vector<float> depth, proprio;  // of the last run
  int runs = 0;
};

inline JointStates StatesOf(const std::vector<double>& q, uint32_t sequence, uint32_t run, int64_t stamp_ns = 0) {
  JointStates states{};
  states.head = MakeHead(kJointStatesKind, sequence, run, stamp_ns);
  states.joints = static_cast<uint32_t>(q.size());
  for (size_t j = 0; j < q.size(); ++j) states.q[j] = q[j];
  return states;
}

struct Frame {
  CameraFrame head{};
  std::vector<uint16_t> pixels;
  std::span<const std::byte> Bytes() const { return std::as_bytes(std::span(pixels)); }
};

inline Frame FrameOf(int width, int height, uint16_t value, uint32_t sequence = 1, int64_t stamp_ns = 0) {
  Frame frame;
  frame.pixels.assign(static_cast<size_t>(width * height), value);
  frame.head.head = MakeHead(kCameraFrameKind, sequence, 0, stamp_ns);
  std::strcpy(frame.head.camera, "depth");
  frame.head.width = static_cast<uint32_t>(width);
  frame.head.height = static_cast<uint32_t>(height);
  frame.head.format = static_cast<uint32_t>(PixelFormat::kDepth16);
  frame.head.bytes = static_cast<uint32_t>(2 * width * height);
  frame.head.depth_unit_m = 0.001;
  return frame;
}

}  // namespace gripstream::testing
