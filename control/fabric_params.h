// What a user may set of the geometric fabric: gains with the published values as defaults, and the robot's body
// spheres with the boxes of the world, which are read from a file of their own. Plain values.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"

namespace gripstream {

// An attractor's pull, gain tanh(sharpness |e|) e / |e|, and its damping near the target,
// damping (1 - tanh(damping_sharpness (|e| - damping_radius))) / 2.
struct AttractorGains {
  double mass = 1, gain = 1, sharpness = 20, damping = 0, damping_sharpness = 10, damping_radius = 0.2;

  void Fields(FieldVisitor& v) {
    v.Float("mass", mass, {.doc = "priority metric"}, {0, 1e4});
    v.Float("gain", gain, {.doc = "acceleration far from the target"}, {0, 1e4});
    v.Float("sharpness", sharpness, {.doc = "how near the target the pull begins to fall"}, {0, 1e5});
    v.Float("damping", damping, {.doc = "at the target", .unit = "1/s"}, {0, 1e4});
    v.Float("damping_sharpness", damping_sharpness, {.doc = "how fast the damping sets in"}, {0, 1e5});
    v.Float("damping_radius", damping_radius, {.doc = "error within which it does"}, {0, 1e3});
  }
};

struct LimitGains {
  double metric = 0.02, max_metric = 100, offset = 0.1, gain = 8, damping = 8;

  void Fields(FieldVisitor& v) {
    v.Float("metric", metric, {.doc = "m in m / max(x - offset, least)^2, x the distance to the limit"}, {0, 1e3});
    v.Float("max_metric", max_metric, {.doc = "greatest metric, sets `least`"}, {1e-6, 1e6});
    v.Float("offset", offset, {.doc = "distance that counts as none", .unit = "rad"}, {0, 3});
    v.Float("gain", gain, {.doc = "acceleration away from a limit"}, {0, 1e4});
    v.Float("damping", damping, {.doc = "of motion towards it", .unit = "1/s"}, {0, 1e4});
  }
};

struct RepulsionGains {
  double engage_m = 0.5, min_m = 0.01, max_m = 2, metric = 0.01, gain = 1, geometric_gain = 5;
  double gate_sharpness = 1000, gate_speed = 0.002;

  void Fields(FieldVisitor& v) {
    v.Float("engage_m", engage_m, {.doc = "surface distance at which an obstacle begins to count"}, {1e-3, 100});
    v.Float("min_m", min_m, {.doc = "least distance that is told apart"}, {1e-5, 1});
    v.Float("max_m", max_m, {.doc = "greatest distance that is told apart"}, {1e-3, 1000});
    v.Float("metric", metric, {.doc = "m in m / distance^2"}, {0, 1e4});
    v.Float("gain", gain, {.doc = "acceleration away from obstacles"}, {0, 1e4});
    v.Float("geometric_gain", geometric_gain, {.doc = "the same per squared speed"}, {0, 1e4});
    v.Float("gate_sharpness", gate_sharpness, {.doc = "of the switch between receding and approaching"}, {1, 1e6});
    v.Float("gate_speed", gate_speed, {.doc = "receding speed at which it switches", .unit = "m/s"}, {0, 10});
  }
};

struct FabricGains {
  double dt_s = 1.0 / 60, speed = 2, palm_lever_m = 0.25;
  AttractorGains posture{.mass = 1, .gain = 1, .sharpness = 20};
  AttractorGains synergies{.mass = 8, .gain = 50, .sharpness = 40, .damping = 50};
  AttractorGains palm{.mass = 1, .gain = 50, .sharpness = 40, .damping = 50};
  LimitGains limits;
  RepulsionGains repulsion;
  double guard_margin_m = 1e-3;

  void Fields(FieldVisitor& v) {
    v.Float("dt_s", dt_s, {.doc = "integration step", .unit = "s"}, {1e-4, 1});
    v.Float("speed", speed, {.doc = "fabric time per time: 2 makes the same motion twice as fast"}, {0.01, 100});
    v.Float("palm_lever_m", palm_lever_m, {.doc = "the palm's attracted points lie this far along its axes"}, {0, 10});
    v.Group("posture", posture, "geometric attractor to the rest posture");
    v.Group("synergies", synergies, "attractor of the hand synergies");
    v.Group("palm", palm, "attractor of the palm pose");
    v.Group("limits", limits, "repulsion from joint limits");
    v.Group("repulsion", repulsion, "repulsion of body spheres from boxes and from the arm");
    v.Float("guard_margin_m", guard_margin_m, {.doc = "distance to the boxes that braking keeps", .unit = "m"}, {0, 1});
  }
};

// What the fabric needs to know of a robot: limits on its motion, spheres that stand for its body, and boxes of its
// world along the base frame's axes.
struct FabricBody {
  std::vector<double> acceleration = {10}, jerk = {5000};
  std::vector<std::string> links, self_movers, self_obstacles;
  std::vector<double> offsets, radii, box_centres, box_sizes;

  void Fields(FieldVisitor& v) {
    v.Floats("acceleration", acceleration, 0, {.doc = "limits, per joint or one for all", .unit = "rad/s2"},
             {1e-3, 1e6});
    v.Floats("jerk", jerk, 0, {.doc = "limits, per joint or one for all", .unit = "rad/s3"}, {1e-3, 1e9});
    v.Strings("links", links, {.doc = "body that carries each sphere"});
    v.Floats("offsets", offsets, 0, {.doc = "centre in the body's frame, x y z per sphere", .unit = "m"});
    v.Floats("radii", radii, 0, {.doc = "per sphere", .unit = "m"}, {0, 10});
    v.Strings("self_movers", self_movers, {.doc = "bodies whose spheres keep away from those of self_obstacles"});
    v.Strings("self_obstacles", self_obstacles, {.doc = "bodies that they keep away from"});
    v.Floats("box_centres", box_centres, 0, {.doc = "x y z per box, in the robot's base frame", .unit = "m"});
    v.Floats("box_sizes", box_sizes, 0, {.doc = "full extents, x y z per box", .unit = "m"}, {0, 100});
  }
};

}  // namespace gripstream
