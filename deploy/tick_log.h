// What the runner did: a CSV line per tick, and how long ticks took.
//
// Lines are kept in memory and written where the caller has time, so that a slow disk delays no tick. Not thread-safe.
// Throws RunError when the file cannot be written, InputError when it cannot be opened.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "deploy/robot_messages.h"
#include "deploy/stop_reason.h"

namespace gripstream {

struct TickRecord {
  uint64_t tick = 0;
  double time_s = 0;  // since the start
  RunnerPhase phase = RunnerPhase::kWaiting;
  StopReason stop = StopReason::kNone;
  uint32_t run = 0, joints_sequence = 0, frame_sequence = 0;
  double joints_age_s = 0, frame_age_s = 0;  // NaN: there are none
  bool decided = false;                      // the policy ran
  double policy_s = 0, tick_s = 0;           // how long the policy and all of the tick took
  double cpu_s = 0;                          // processor time of the runner's thread in the tick
  std::span<const float> action{};
  double object[3] = {0, 0, 0};  // the policy's estimate; NaN: none
  std::span<const double> q{}, target{};
};

const char* NameOf(RunnerPhase phase);

// Of durations: percentiles exactly, a histogram for reading.
class LatencyStatistics {
 public:
  void Add(double seconds) { seconds_.push_back(seconds); }
  size_t Count() const { return seconds_.size(); }
  double Percentile(double share) const;  // share in [0, 1]; 0 without any
  // Lines of text: count, percentiles, a bar per bucket.
  std::string ToText(const std::string& what) const;

 private:
  std::vector<double> seconds_;
};

class TickLog {
 public:
  // `path` empty: nothing is written. Names for the columns.
  TickLog(const std::string& path, const std::vector<std::string>& joints, int actions);

  void Add(const TickRecord& record);
  void Flush();  // writes what has been added

  const LatencyStatistics& Ticks() const { return ticks_; }
  const LatencyStatistics& Decisions() const { return decisions_; }  // ticks in which the policy ran
  // The same by processor time: what an idle core would have taken for one thread.
  const LatencyStatistics& DecisionsCpu() const { return decisions_cpu_; }

 private:
  std::string path_, lines_;
  std::ofstream out_;
  LatencyStatistics ticks_, decisions_, decisions_cpu_;
};

}  // namespace gripstream
