// Random starts and targets of the shipped robot's fabric, and how near it came to limits and boxes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "control/fabric_sweep.h"
#include "tests/control/fabric_arm.h"

namespace gripstream::testing {

using Joints = std::array<double, 23>;

// Distance of the nearest sphere to the nearest box by corner arithmetic of its own; negative inside.
inline double Clearance(const FabricModel& model, const double* q) {
  FabricPose<double> pose[kMaxFabricJoints];
  FabricPoses(model, q, pose);
  double least = 1e9;
  for (int i = 0; i < model.spheres; ++i) {
    const FabricSphere& sphere = model.sphere[i];
    const V3<double> c = pose[sphere.link].origin + pose[sphere.link].rotation * sphere.offset;
    for (int b = 0; b < model.boxes; ++b) {
      const FabricBox& box = model.box[b];
      const double dx = std::max({box.low[0] - c.x, c.x - box.high[0]});
      const double dy = std::max({box.low[1] - c.y, c.y - box.high[1]});
      const double dz = std::max({box.low[2] - c.z, c.z - box.high[2]});
      const double outside = std::hypot(std::max(dx, 0.0), std::max(dy, 0.0), std::max(dz, 0.0));
      const double inside = std::min(std::max({dx, dy, dz}), 0.0);
      least = std::min(least, outside + inside - sphere.radius);
    }
  }
  return least;
}

inline Joints RandomPosture(const FabricModel& model, Rng& rng) {
  Joints q;
  for (size_t j = 0; j < 23; ++j)
    q[j] = model.lower[j] + (model.upper[j] - model.lower[j]) * static_cast<double>(rng.Uniform());
  return q;
}

inline Joints ClearPosture(const FabricModel& model, Rng& rng) {
  for (;;) {
    const Joints q = RandomPosture(model, rng);
    if (Clearance(model, q.data()) > 0) return q;
  }
}

struct Extremes {
  double clearance = 1e9, to_limit = 1e9;
  double moved = 0;
};

// Runs `trials` random starts, each towards a random target anywhere, boxes and beyond the limits included.
inline Extremes RunTrials(uint32_t first, uint32_t trials, int steps) {
  const FabricModel model = ArmFabric();
  Extremes found;
  for (uint32_t trial = first; trial < first + trials; ++trial) {
    Rng rng = RandomStream(21, "guard").At(trial, 0);
    const Joints start = ClearPosture(model, rng);
    Joints q = start, qd{}, qdd{};
    const auto uniform = [&](double low, double high) {
      return low + (high - low) * static_cast<double>(rng.Uniform());
    };
    double synergies[5];
    for (double& s : synergies) s = uniform(-4, 4);
    FabricTarget target{.synergies = synergies, .damping = uniform(0, 20)};
    target.palm.pos = {uniform(-1.4, 0.4), uniform(-0.9, 0.9), uniform(-0.2, 1.4)};
    target.palm.quat = EulerZyx(uniform(-3.1, 3.1), uniform(-3.1, 3.1), uniform(-3.1, 3.1));
    for (int step = 0; step < steps; ++step) {
      if (step == steps / 2) target.palm.pos = {uniform(-1.2, 0), uniform(-0.7, 0.7), uniform(0, 1)};
      const FabricEnv env{target, q.data(), qd.data(), qdd.data()};
      StepFabrics(model, std::span(&env, 1), 1);
      for (size_t j = 0; j < 23; ++j) {
        found.to_limit = std::min({found.to_limit, model.upper[j] - q[j], q[j] - model.lower[j]});
      }
      found.clearance = std::min(found.clearance, Clearance(model, q.data()));
    }
    for (size_t j = 0; j < 23; ++j) found.moved += std::abs(q[j] - start[j]) / 23 / trials;
  }
  return found;
}

inline void ExpectSafe(const Extremes& found) {
  EXPECT_GT(found.clearance, 0);
  EXPECT_GE(found.to_limit, 0);
  EXPECT_GT(found.moved, 0.2) << "a robot that stands still proves nothing";
}

}  // namespace gripstream::testing
