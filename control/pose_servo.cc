#include "control/pose_servo.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"

namespace gripstream {
namespace {

using Vec6 = std::array<double, 6>;
using Mat6 = std::array<double, 36>;

// In-place Cholesky factor of a symmetric positive definite 6x6 matrix (lower triangle).
void Factor(Mat6& a) {
  for (size_t i = 0; i < 6; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = a[i * 6 + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * 6 + k] * a[j * 6 + k];
      a[i * 6 + j] = i == j ? std::sqrt(sum) : sum / a[j * 6 + j];
    }
  }
}

Vec6 Solve(const Mat6& factor, Vec6 b) {
  for (size_t i = 0; i < 6; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= factor[i * 6 + k] * b[k];
    b[i] /= factor[i * 6 + i];
  }
  for (size_t i = 6; i-- > 0;) {
    for (size_t k = i + 1; k < 6; ++k) b[i] -= factor[k * 6 + i] * b[k];
    b[i] /= factor[i * 6 + i];
  }
  return b;
}

struct Problem {
  size_t n = 0;                                        // joints
  std::array<double, 6 * kMaxServoJoints> jacobian{};  // 6 x n, of the servo's joints
  std::array<double, kMaxServoJoints> pull{};          // wanted free motion
  std::array<bool, kMaxServoJoints> locked{};
};

Mat6 DampedGram(const Problem& p, double damping) {
  Mat6 gram{};
  for (size_t i = 0; i < 6; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      for (size_t k = 0; k < p.n; ++k) {
        if (!p.locked[k]) gram[i * 6 + j] += p.jacobian[i * p.n + k] * p.jacobian[j * p.n + k];
      }
    }
    gram[i * 6 + i] += damping * damping;
  }
  return gram;
}

// J^+ (twist - J pull) + pull, which equals the damped solution plus the free part of the pull.
void JointVelocity(const Problem& p, const Vec6& twist, double damping, std::span<double> velocity) {
  Mat6 gram = DampedGram(p, damping);
  Factor(gram);
  Vec6 residual = twist;
  for (size_t i = 0; i < 6; ++i) {
    for (size_t k = 0; k < p.n; ++k) {
      if (!p.locked[k]) residual[i] -= p.jacobian[i * p.n + k] * p.pull[k];
    }
  }
  const Vec6 weights = Solve(gram, residual);
  for (size_t k = 0; k < p.n; ++k) {
    velocity[k] = p.locked[k] ? 0.0 : p.pull[k];
    for (size_t i = 0; i < 6 && !p.locked[k]; ++i) velocity[k] += p.jacobian[i * p.n + k] * weights[i];
  }
}

Vec6 Twist(const PoseServoParams& params, const Transform& pose, const Transform& target) {
  const Vec3 linear = ClampNorm(params.position_gain * (target.pos - pose.pos), params.max_linear_speed);
  const Vec3 turn = RotationVector(target.quat * Inverse(pose.quat));
  const Vec3 angular = ClampNorm(params.rotation_gain * turn, params.max_angular_speed);
  return {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
}

// Locks joints that stand at a limit and would leave it; true when any was added.
bool LockAtLimits(const KinematicTree& tree, const PoseServoParams& params, std::span<const double> q,
                  std::span<const double> velocity, Problem& p) {
  constexpr double kAtLimit = 1e-9;
  bool added = false;
  for (size_t k = 0; k < p.n; ++k) {
    const size_t joint = static_cast<size_t>(params.joints[k]);
    const JointLimit& limit = tree.limits[joint];
    const bool leaves = (q[joint] >= limit.upper - kAtLimit && velocity[k] > 0) ||
                        (q[joint] <= limit.lower + kAtLimit && velocity[k] < 0);
    if (leaves && !p.locked[k]) p.locked[k] = added = true;
  }
  return added;
}

}  // namespace

void CheckPoseServo(const KinematicTree& tree, const PoseServoParams& params) {
  GS_CHECK(params.joints.size() <= kMaxServoJoints, "at most 32 joints in a pose servo");
  GS_CHECK(tree.Joints() <= 2 * kMaxServoJoints, "at most 64 joints in the tree of a pose servo");
  GS_CHECK(params.joints.size() == params.rest.size(), "one rest value per joint");
  for (const int joint : params.joints) GS_CHECK(joint >= 0 && joint < tree.Joints(), "joint index out of range");
}

void StepPoseServo(const KinematicTree& tree, const PoseServoParams& params, const LinkFrame& frame,
                   const Transform& target, double dt_s, std::span<double> q) {
  std::array<double, 6 * 2 * kMaxServoJoints> full;
  const size_t all = static_cast<size_t>(tree.Joints());
  const Transform pose = FrameJacobian(tree, q, frame, std::span(full).first(6 * all));

  Problem p;
  p.n = params.joints.size();
  for (size_t k = 0; k < p.n; ++k) {
    const size_t joint = static_cast<size_t>(params.joints[k]);
    for (size_t i = 0; i < 6; ++i) p.jacobian[i * p.n + k] = full[i * all + joint];
    p.pull[k] = params.rest_gain * (params.rest[k] - q[joint]);
  }
  const Vec6 twist = Twist(params, pose, target);
  std::array<double, kMaxServoJoints> velocity{};
  do {
    JointVelocity(p, twist, params.damping, velocity);
  } while (LockAtLimits(tree, params, q, velocity, p));

  double fastest = 0;
  for (size_t k = 0; k < p.n; ++k) fastest = std::max(fastest, std::abs(velocity[k]));
  const double scale = fastest > params.max_joint_speed ? params.max_joint_speed / fastest : 1.0;
  for (size_t k = 0; k < p.n; ++k) {
    const size_t joint = static_cast<size_t>(params.joints[k]);
    const JointLimit& limit = tree.limits[joint];
    q[joint] = std::clamp(q[joint] + dt_s * scale * velocity[k], limit.lower, limit.upper);
  }
}

}  // namespace gripstream
