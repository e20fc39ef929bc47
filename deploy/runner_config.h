// What an operator may set of the runner: `gripstream run DIR --config FILE --set key=value`. Plain values.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"

namespace gripstream {

struct WatchdogConfig {
  double joints_s = 0.1, camera_s = 0.25, beyond_limits_rad = 0.1, following_rad = 0.5;
  int misses = 3;

  void Fields(FieldVisitor& v) {
    v.Float("joints_s", joints_s, {.doc = "greatest age of joint states", .unit = "s"}, {1e-3, 60});
    v.Float("camera_s", camera_s, {.doc = "greatest age of a camera frame that the policy acts on", .unit = "s"},
            {1e-3, 60});
    v.Int("misses", misses, {.doc = "ticks in a row that end after their deadline"}, {1, 1000});
    v.Float("beyond_limits_rad", beyond_limits_rad, {.doc = "how far a joint may be beyond its limits", .unit = "rad"},
            {0, 10});
    v.Float("following_rad", following_rad,
            {.doc = "how far an arm joint may be from its target; 0: as far as it likes", .unit = "rad"}, {0, 10});
  }
};

struct LimitsConfig {
  std::vector<double> velocity = {6}, acceleration = {300};
  double stop_acceleration = 10;

  void Fields(FieldVisitor& v) {
    v.Floats("velocity", velocity, 0, {.doc = "of joint targets, per joint or one for all", .unit = "rad/s"},
             {1e-3, 1000});
    v.Floats("acceleration", acceleration, 0, {.doc = "of joint targets, per joint or one for all", .unit = "rad/s2"},
             {1e-3, 1e5});
    v.Float("stop_acceleration", stop_acceleration, {.doc = "with which a safe stop slows down", .unit = "rad/s2"},
            {1e-3, 1e5});
  }
};

struct HomeConfig {
  double tolerance_rad = 0.1, speed = 0.5, acceleration = 2;

  void Fields(FieldVisitor& v) {
    v.Float("tolerance_rad", tolerance_rad, {.doc = "joints this near home are there", .unit = "rad"}, {1e-3, 10});
    v.Float("speed", speed, {.doc = "of the way home and of carrying", .unit = "rad/s"}, {1e-3, 10});
    v.Float("acceleration", acceleration, {.doc = "on these ways", .unit = "rad/s2"}, {1e-3, 1000});
  }
};

struct PlaceConfig {
  double above_z_m = 0, for_s = 0.1, slow_s = 0.5, open_s = 1, timeout_s = 15;
  std::vector<double> palm = {0.02, 0.45, 0.385, 2.35619449, 0, 3.14159265};
  std::vector<double> open_hand{};
  bool again = false;

  void Fields(FieldVisitor& v) {
    v.Float("above_z_m", above_z_m,
            {.doc = "the object is grasped once its estimate is this high; 0: never, the policy acts to the end",
             .unit = "m"},
            {0, 10});
    v.Float("for_s", for_s, {.doc = "and stays there", .unit = "s"}, {0, 60});
    v.Float("slow_s", slow_s, {.doc = "from then to the way to the place", .unit = "s"}, {0, 60});
    v.Floats("palm", palm, 6, {.doc = "palm at the place: x, y, z (m), ZYX Euler angles ez, ey, ex (rad)"});
    v.Floats("open_hand", open_hand, 0, {.doc = "hand joints that let go; empty: those of home", .unit = "rad"});
    v.Float("open_s", open_s, {.doc = "time that the open hand stays there", .unit = "s"}, {0, 60});
    v.Float("timeout_s", timeout_s, {.doc = "longest way to the place", .unit = "s"}, {0.1, 600});
    v.Bool("again", again, {.doc = "home and on with the next object afterwards; otherwise hold"});
  }
};

struct RunnerConfig {
  std::string states = "tcp://127.0.0.1:7411", targets = "tcp://127.0.0.1:7412", trusted_network;
  std::string clock = "real_time";
  std::string calibration, second_calibration;
  std::string log;
  double policy_s = 0, patience_s = 60;
  int threads = 1, realtime_priority = 0;
  WatchdogConfig watchdog;
  LimitsConfig limits;
  HomeConfig home;
  PlaceConfig place;

  void Fields(FieldVisitor& v) {
    v.String("states", states,
             {.doc = "where the robot publishes joint states and camera frames: tcp://, ipc:// or shm:FILE"});
    v.String("targets", targets, {.doc = "where the robot takes joint targets; with shm: the same file"});
    v.String("trusted_network", trusted_network,
             {.doc = "the closed network of a robot on other machines, for example 10.0.0.0/24: nothing is encrypted; "
                     "empty: only this machine"});
    v.Choice("clock", clock, {"real_time", "lockstep"},
             {.doc = "real_time: a tick at the control rate. lockstep: a tick per joint states, time by their stamps"});
    v.String("calibration", calibration, {.doc = "file with the camera's calibration; empty: frames fit as they are"});
    v.String("second_calibration", second_calibration, {.doc = "the same of the second camera"});
    v.String("log", log, {.doc = "CSV file with a line per tick; empty: none"});
    v.Float("policy_s", policy_s, {.doc = "how long the policy acts; 0: a training episode", .unit = "s"}, {0, 86400});
    v.Float("patience_s", patience_s, {.doc = "longest wait for the robot's first joint states", .unit = "s"},
            {0.1, 86400});
    v.Int("threads", threads, {.doc = "of the policy"}, {1, 256});
    v.Int("realtime_priority", realtime_priority, {.doc = "SCHED_FIFO priority; 0: the ordinary scheduler"}, {0, 98});
    v.Group("watchdog", watchdog, "what brings a safe stop");
    v.Group("limits", limits, "on joint targets, besides the manifest's limits on position");
    v.Group("home", home, "the way to the home posture");
    v.Group("place", place, "what happens with a grasped object");
  }
};

}  // namespace gripstream
