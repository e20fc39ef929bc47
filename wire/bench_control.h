// The control plane under load: many real simulator processes on loopback that join, beat, stall, are stopped and
// leave, while one learner steps them all ten times a second.
//
// Forks the simulators before it makes a thread, so call it from a program that has none that hold locks. Measures the
// learner's side: how long the joins took, the longest silence of peers that were not stopped, beats that came late,
// and memory. Ends every process it started. Throws RunError when the learner loses anybody it should not.
#pragma once

#include <string>
#include <vector>

#include "core/bench.h"

namespace gripstream {

struct ControlLoad {
  std::string transport = "shm";  // or "zmq" (ipc)
  int simulators = 256;
  double seconds = 60;
};

struct ControlMeasured {
  double join_s = 0;             // from the first process's start until all have joined
  double longest_silence_s = 0;  // of peers that were not stopped
  int late_beats = 0;            // silences of more than two beats of those
  int left = 0;                  // peers that left in order, as they were told to
  int stopped = 0;               // peers that were stopped for a while and went on
  int rounds = 0;                // steps that everybody took
  double learner_bytes = 0;      // resident, per simulator: what the learner's process grew by
  double simulator_bytes = 0;    // resident and its own, of one simulator
};

ControlMeasured MeasureControl(const ControlLoad& load);
// Rows for `gripstream bench control`: both transports, 256 simulators.
std::vector<BenchRow> BenchControl(double seconds);

}  // namespace gripstream
