// A geometric fabric's numbers as one flat block: kinematics, obstacles and gains of one robot, ready for the step
// functions of fabric_step.h on host and device.
//
// Every moving joint is one link, whose frame has the joint's axis as z and its origin on it; bodies that do not move
// on their own are part of the link that carries them. Immutable after MakeFabricModel; no pointers inside;
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "control/fabric_params.h"
#include "control/kinematic_tree.h"
#include "control/synergies.h"

namespace gripstream {

inline constexpr int kMaxFabricJoints = 32;
inline constexpr int kMaxFabricSpheres = 64;
inline constexpr int kMaxFabricBoxes = 16;
inline constexpr int kMaxFabricSynergies = 16;

struct Mat3 {
  double m[9];  // row-major
};

struct FabricLink {
  int32_t parent;  // link, -1 for the base
  int32_t joint;   // place in the robot's joint order
  int32_t slide;   // 1: slides along z, 0: turns about z
  Mat3 rotation;   // of the link in its parent at joint value 0
  Vec3 origin;     // of the link in its parent (m)
};

struct FabricSphere {
  int32_t link;
  int32_t self_mover, self_obstacle;
  Vec3 offset;  // in the link (m)
  double radius;
  double lever[kMaxFabricJoints];  // how far it moves at most per radian (metre) of each joint; 0 off its chain
};

struct FabricBox {
  double low[3], high[3];  // m
};

struct FabricAttractor {
  double mass, gain, sharpness, damping, damping_sharpness, damping_radius;
};

struct FabricModel {
  int32_t joints, hand_begin, spheres, boxes, synergies;
  int32_t palm_link;
  Mat3 palm_rotation;  // of the palm in its link
  Vec3 palm_origin;
  FabricLink link[kMaxFabricJoints];  // parents first; as many as joints
  FabricSphere sphere[kMaxFabricSpheres];
  FabricBox box[kMaxFabricBoxes];
  double lower[kMaxFabricJoints], upper[kMaxFabricJoints], posture[kMaxFabricJoints];
  double acceleration[kMaxFabricJoints];                   // after the limit on jerk
  double synergy[kMaxFabricSynergies][kMaxFabricJoints];   // rows over all joints
  double base_metric[kMaxFabricJoints][kMaxFabricJoints];  // of posture and synergies: it never changes
  FabricAttractor posture_gain, synergy_gain, palm_gain;
  double palm_lever;
  double limit_metric, limit_least, limit_offset, limit_gain, limit_damping;
  double engage, min_distance, max_distance, repulsion_metric, repulsion_gain, geometric_gain, gate_sharpness,
      gate_speed;
  double guard_margin;
  double dt_s;
};

// Throws InputError naming `where` and the key when a body, a size or a limit does not fit the robot. `arm_joints` of
// the tree come first, then the hand; `posture` has one value per joint.
FabricModel MakeFabricModel(const KinematicTree& tree, const LinkFrame& palm, int arm_joints,
                            const HandSynergies& synergies, std::span<const double> posture, const FabricGains& gains,
                            const FabricBody& body, const std::string& where);

}  // namespace gripstream
