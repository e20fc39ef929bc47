// A robot that is simulated, for the runner to be tried on: physics, cameras and a clock behind exactly the interface
// that a real robot has (deploy/robot_messages.h), playing the evaluation's episodes.
//
//   tick: frames that are due, joint states -> link -> joint targets -> physics of one control tick
//
// Every run of the interface is one episode; the world stands still until the runner has taken it up. Frames may be
// lost, late and unevenly late, by random streams of the seed: the same options give the same episodes. One thread.
// Throws InputError for a configuration that does not fit, RunError when the runner falls silent.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "deploy/robot_link.h"
#include "envs/config.h"
#include "sim_server/cameras_config.h"

namespace gripstream {

struct SimRobotOptions {
  TaskConfig task;  // of the policy's training
  CamerasConfig render;
  uint64_t seed = 1;
  uint64_t episode_seed = 1;  // of the evaluation set
  int episodes = 100;
  bool real_time = false;                        // else lock-step
  double camera_hz = 0;                          // 0: a frame every control tick
  double frame_loss = 0;                         // share in [0, 1]
  double frame_delay_s = 0, frame_jitter_s = 0;  // late by delay +- jitter
  double target_delay_s = 0;                     // of joint targets, whole ticks
  double patience_s = 60;                        // longest silence of the runner
  std::string sheet;                             // PNG file with a row per episode, up to sheet_rows; empty: none
  int sheet_rows = 6;
};

struct SimRobotResult {
  int episodes = 0, successes = 0, stopped = 0;  // stopped: with a safe stop of the runner
  std::array<int, 16> stops{};                   // by StopReason
  int64_t frames = 0, frames_lost = 0, ticks = 0;
};

SimRobotResult PlayRobot(const SimRobotOptions& options, RobotLink& link);

}  // namespace gripstream
