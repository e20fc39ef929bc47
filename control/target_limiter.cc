#include "control/target_limiter.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace gripstream {
namespace {

std::vector<double> PerJoint(const std::vector<double>& given, size_t joints, const std::string& where,
                             const char* key) {
  if (given.size() == 1) return std::vector<double>(joints, given.front());
  if (given.size() != joints)
    throw InputError(where, key, std::to_string(given.size()) + " numbers",
                     "one, or " + std::to_string(joints) + ", one per joint");
  return given;
}

// The greatest speed for the next tick after which braking ends within `way`.
double StoppableSpeed(double way, double dt, double acceleration) {
  if (way <= 0) return 0;
  return acceleration * (std::sqrt(dt * dt + 2 * way / acceleration) - dt);
}

}  // namespace

TargetLimiter::TargetLimiter(std::span<const JointLimit> limits, const MotionBounds& bounds, const std::string& where)
    : limits_(limits.begin(), limits.end()),
      bounds_{PerJoint(bounds.velocity, limits.size(), where, "limits.velocity"),
              PerJoint(bounds.acceleration, limits.size(), where, "limits.acceleration")},
      q_(limits.size()),
      qd_(limits.size()),
      last_wanted_(limits.size()) {}

void TargetLimiter::Start(std::span<const double> q, std::span<const double> qd) {
  std::ranges::copy(q, q_.begin());
  std::ranges::copy(qd, qd_.begin());
  Retarget(q);
}

void TargetLimiter::Retarget(std::span<const double> wanted) {
  for (size_t j = 0; j < last_wanted_.size(); ++j)
    last_wanted_[j] = std::clamp(wanted[j], limits_[j].lower, limits_[j].upper);
}

// The speed nearest to `v` from which the joint can still brake before its limits; braking itself is always open.
double TargetLimiter::Stoppable(size_t j, double v, double dt_s) const {
  const double a = bounds_.acceleration[j], step = a * dt_s;
  const double up = StoppableSpeed(limits_[j].upper - q_[j], dt_s, a);
  const double down = StoppableSpeed(q_[j] - limits_[j].lower, dt_s, a);
  v = std::min(v, std::max(up, qd_[j] - step));
  return std::max(v, std::min(-down, qd_[j] + step));
}

void TargetLimiter::Move(size_t j, double wanted, double wanted_speed, double dt_s, double speed, double acceleration) {
  const double behind = wanted - q_[j] - wanted_speed * dt_s;
  const double catch_up = std::min(std::abs(behind) / dt_s, StoppableSpeed(std::abs(behind), dt_s, acceleration));
  double v = wanted_speed + std::copysign(catch_up, behind);
  v = std::clamp(v, -speed, speed);
  const double step = acceleration * dt_s;
  v = Stoppable(j, std::clamp(v, qd_[j] - step, qd_[j] + step), dt_s);
  const double next = q_[j] + v * dt_s;
  // Passed through as it is, not by way of its speed, which would round it.
  const bool arrives = std::abs(next - wanted) <= 1e-12;
  q_[j] = arrives ? wanted : next;
  qd_[j] = v;
  last_wanted_[j] = wanted;
}

void TargetLimiter::Follow(std::span<const double> wanted, double dt_s) {
  for (size_t j = 0; j < q_.size(); ++j) {
    const double target = std::clamp(wanted[j], limits_[j].lower, limits_[j].upper);
    Move(j, target, (target - last_wanted_[j]) / dt_s, dt_s, bounds_.velocity[j], bounds_.acceleration[j]);
  }
}

void TargetLimiter::FollowSlowly(std::span<const double> wanted, double dt_s, double speed, double acceleration) {
  for (size_t j = 0; j < q_.size(); ++j) {
    const double target = std::clamp(wanted[j], limits_[j].lower, limits_[j].upper);
    Move(j, target, 0, dt_s, std::min(speed, bounds_.velocity[j]), std::min(acceleration, bounds_.acceleration[j]));
  }
}

bool TargetLimiter::Brake(double dt_s, double acceleration) {
  bool still = true;
  for (size_t j = 0; j < q_.size(); ++j) {
    const double step = acceleration * dt_s;
    qd_[j] = Stoppable(j, qd_[j] - std::clamp(qd_[j], -step, step), dt_s);
    q_[j] += qd_[j] * dt_s;
    last_wanted_[j] = q_[j];
    still &= qd_[j] == 0;
  }
  return still;
}

}  // namespace gripstream
