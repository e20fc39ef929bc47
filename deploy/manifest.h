// manifest.yaml of an exported policy: all that a robot computer must know to feed it and to obey it, without the
// simulator's model. Read and written by its own description of its fields, as every configuration is.
//
// Frames: base = the model's world frame. Quaternions are w, x, y, z. Units in the fields' descriptions. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/action_map.h"
#include "control/senses.h"
#include "core/config.h"

namespace gripstream {

inline constexpr int kManifestVersion = 2;

// Where the policy comes from.
struct ManifestOrigin {
  std::string made_by, revision, checkpoint, parameters_sha256, onnx_sha256, torchscript_sha256;
  int iteration = 0;
  uint64_t seed = 0;

  void Fields(FieldVisitor& v) {
    v.String("made_by", made_by, {.doc = "program and version"});
    v.String("revision", revision, {.doc = "source revision"});
    v.String("checkpoint", checkpoint, {.doc = "file name"});
    v.Int("iteration", iteration, {.doc = "training iterations behind it"}, {0});
    v.Uint64("seed", seed, {.doc = "of the training run"});
    v.String("parameters_sha256", parameters_sha256, {.doc = "of the actor's and critic's parameters"});
    v.String("onnx_sha256", onnx_sha256, {.doc = "of policy.onnx"});
    v.String("torchscript_sha256", torchscript_sha256, {.doc = "of policy.pt"});
  }
};

// The networks' inputs and outputs in order, all [N, ...] float32.
struct ManifestPolicy {
  std::string name;
  std::vector<std::string> inputs, outputs;
  int memory = 0, actions = 0, aux = 0;

  void Fields(FieldVisitor& v) {
    v.String("name", name, {.doc = "kind of network"});
    v.Strings("inputs", inputs,
              {.doc = "of depth [N, H, W] (m; 0: nothing hit), rgb [N, cameras, H, W, 3] (0 to 255), proprio, state, "
                      "memory"});
    v.Strings("outputs", outputs, {.doc = "of action (clamp it to [-1, 1]), aux (m), memory_out (the next memory)"});
    v.Int("memory", memory, {.doc = "numbers carried from step to step; zeros at the start"}, {0});
    v.Int("actions", actions, {.doc = "components of an action"}, {1});
    v.Int("aux", aux, {.doc = "length of the auxiliary output: the object's position in the base frame"}, {0});
  }
};

// A vector observation part by part, in order; `sizes` add up to its length.
struct ManifestVector {
  std::vector<std::string> names, units;
  std::vector<int> sizes;

  void Fields(FieldVisitor& v) {
    v.Strings("names", names, {.doc = "parts"});
    v.Ints("sizes", sizes, 0, {.doc = "numbers in each"}, {0});
    v.Strings("units", units, {.doc = "of each"});
  }
};

struct ManifestCamera {
  std::string name;
  int width_px = 0, height_px = 0;
  double fx_px = 0, fy_px = 0, cx_px = 0, cy_px = 0;
  double near_m = 0, far_m = 0;
  bool moves = false;
  std::vector<double> position_m{}, optical_to_base{};

  void Fields(FieldVisitor& v) {
    v.String("name", name, {.doc = "in the model; empty: the policy uses no image"});
    v.Int("width_px", width_px, {.doc = "image size"}, {0});
    v.Int("height_px", height_px, {.doc = "image size"}, {0});
    v.Float("fx_px", fx_px, {.doc = "focal length", .unit = "px"});
    v.Float("fy_px", fy_px, {.doc = "focal length", .unit = "px"});
    v.Float("cx_px", cx_px, {.doc = "principal point; pixel centres at + 0.5", .unit = "px"});
    v.Float("cy_px", cy_px, {.doc = "principal point", .unit = "px"});
    v.Float("near_m", near_m, {.doc = "depths are clamped to this range; 0 to 0: it gives colours", .unit = "m"});
    v.Float("far_m", far_m, {.doc = "and nothing hit counts as this", .unit = "m"});
    v.Bool("moves", moves, {.doc = "on a body that moves; the pose is that at the home posture"});
    v.Floats("position_m", position_m, 0, {.doc = "in the base frame", .unit = "m"});
    v.Floats("optical_to_base", optical_to_base, 0,
             {.doc = "rotation, row-major; optical frame: x right, y down, z forward"});
  }
};

struct ManifestJoints {
  std::vector<std::string> names;
  std::vector<double> lower, upper, home;
  int arm = 0;

  void Fields(FieldVisitor& v) {
    v.Strings("names", names, {.doc = "the one joint order"});
    v.Floats("lower", lower, 0, {.doc = "limits", .unit = "rad"});
    v.Floats("upper", upper, 0, {.doc = "limits", .unit = "rad"});
    v.Floats("home", home, 0, {.doc = "where episodes start", .unit = "rad"});
    v.Int("arm", arm, {.doc = "how many of them, from the first, are the arm"}, {0});
  }
};

// The robot's kinematics: links, parents first, each moved by at most one joint.
struct ManifestChain {
  std::vector<std::string> links, kinds;
  std::vector<int> parents, joints;
  std::vector<double> positions_m, rotations, axes, anchors_m;
  std::vector<int> frame_links;
  std::vector<double> frame_positions_m, frame_rotations;

  void Fields(FieldVisitor& v) {
    v.Strings("links", links, {.doc = "names"});
    v.Ints("parents", parents, 0, {.doc = "of each, the number of an earlier link; -1: the base"}, {-1});
    v.Strings("kinds", kinds, {.doc = "fixed, hinge or slide"});
    v.Ints("joints", joints, 0, {.doc = "the joint that moves it; -1: none"}, {-1});
    v.Floats("positions_m", positions_m, 0, {.doc = "of each in its parent at joint value 0, x y z", .unit = "m"});
    v.Floats("rotations", rotations, 0, {.doc = "the same, quaternions"});
    v.Floats("axes", axes, 0, {.doc = "of the joint in the link's frame, unit"});
    v.Floats("anchors_m", anchors_m, 0, {.doc = "a point on a hinge's axis, in the link's frame", .unit = "m"});
    v.Ints("frame_links", frame_links, 0, {.doc = "links of the palm frame, then of the fingertips"}, {0});
    v.Floats("frame_positions_m", frame_positions_m, 0, {.doc = "of these frames in their links", .unit = "m"});
    v.Floats("frame_rotations", frame_rotations, 0, {.doc = "the same, quaternions"});
  }
};

struct ManifestTask {
  std::string name;
  std::vector<double> goal_m = {0, 0, 0};
  double velocity_factor = 1, observation_clip = 0, fabric_damping = 10;

  void Fields(FieldVisitor& v) {
    v.String("name", name, {.doc = "what the policy was trained for"});
    v.Floats("goal_m", goal_m, 3, {.doc = "where an object is to be held; part of proprio where that has it"});
    v.Float("velocity_factor", velocity_factor, {.doc = "on speeds and accelerations in proprio"});
    v.Float("observation_clip", observation_clip, {.doc = "numbers in proprio are held within +- this; 0: free"});
    v.Float("fabric_damping", fabric_damping, {.doc = "of the fabric", .unit = "1/s"});
  }
};

struct ManifestControl {
  double policy_hz = 0, target_hz = 0, episode_s = 0;

  void Fields(FieldVisitor& v) {
    v.Float("policy_hz", policy_hz, {.doc = "how often the policy acts", .unit = "Hz", .required = true}, {0.01, 1e5});
    v.Float("target_hz", target_hz, {.doc = "how often joint targets change", .unit = "Hz", .required = true},
            {0.01, 1e5});
    v.Float("episode_s", episode_s, {.doc = "length of a training episode", .unit = "s", .required = true},
            {1e-3, 86400});
  }
};

struct Manifest {
  int version = kManifestVersion;
  ManifestOrigin origin;
  ManifestPolicy policy;
  ManifestControl control;
  ManifestTask task;
  ManifestJoints joints;
  ManifestChain chain;
  ActionConfig action;
  SynergyTable synergies;
  FabricBody fabric_body;
  ManifestVector proprio, state;
  ManifestCamera camera, second_camera;

  void Fields(FieldVisitor& v) {
    v.Int("version", version, {.doc = "of this file's layout", .required = true}, {kManifestVersion, kManifestVersion});
    v.Group("origin", origin, "where the policy comes from");
    v.Group("policy", policy, "inputs and outputs");
    v.Group("control", control, "rates");
    v.Group("task", task, "what it was trained for");
    v.Group("joints", joints, "the robot's joints");
    v.Group("chain", chain, "the robot's kinematics");
    v.Group("action", action, "from an action to joint targets; its files are the two groups that follow");
    v.Group("synergies", synergies, "of the hand; no joints: the action map needs none");
    v.Group("fabric_body", fabric_body, "the robot and its world as the fabric sees them");
    v.Group("proprio", proprio, "the policy's proprioception");
    v.Group("state", state, "the true state, for policies that read it");
    v.Group("camera", camera, "what the policy sees through");
    v.Group("second_camera", second_camera, "the other one of a policy that sees through two");
  }
};

}  // namespace gripstream
