#include "deploy/tick_log.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr const char* kPhases[] = {"waiting", "home", "policy", "grasped", "place", "done", "stopped"};
// Upper ends of the histogram's buckets (ms); the last one is open.
constexpr double kBuckets_ms[] = {0.25, 0.5, 1, 2, 4, 5, 8, 12, 16, 24, 50, 100};

void AppendNumber(std::string& line, double value) {
  char text[32];
  std::snprintf(text, sizeof(text), ",%.7g", value);
  line += std::isfinite(value) ? text : ",";
}

}  // namespace

const char* NameOf(RunnerPhase phase) {
  return kPhases[static_cast<size_t>(phase)];
}

double LatencyStatistics::Percentile(double share) const {
  if (seconds_.empty()) return 0;
  std::vector<double> sorted = seconds_;
  const double last = static_cast<double>(sorted.size() - 1);
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(std::ceil(share * last));
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

std::string LatencyStatistics::ToText(const std::string& what) const {
  char line[160];
  std::snprintf(line, sizeof(line), "%s: %zu, p50 %.2f ms, p90 %.2f ms, p99 %.2f ms, greatest %.2f ms\n", what.c_str(),
                seconds_.size(), 1e3 * Percentile(0.5), 1e3 * Percentile(0.9), 1e3 * Percentile(0.99),
                1e3 * Percentile(1));
  std::string text = line;
  double from = 0;
  for (size_t b = 0; b <= std::size(kBuckets_ms); ++b) {
    const bool open = b == std::size(kBuckets_ms);
    const double to = open ? INFINITY : kBuckets_ms[b];
    const auto count = std::ranges::count_if(seconds_, [&](double s) { return 1e3 * s >= from && 1e3 * s < to; });
    if (count > 0) {
      const size_t bar = 1 + 50 * static_cast<size_t>(count) / seconds_.size();
      std::snprintf(line, sizeof(line), "  %6.2f to %-6.2f ms %8lld  ", from, to, static_cast<long long>(count));
      text += line + std::string(bar, '#') + "\n";
    }
    from = to;
  }
  return text;
}

TickLog::TickLog(const std::string& path, const std::vector<std::string>& joints, int actions) : path_(path) {
  if (path.empty()) return;
  out_.open(path);
  if (!out_) throw InputError("runner", "log", path, "a file that can be written");
  lines_ =
      "tick,time_s,phase,stop,run,joints_sequence,joints_age_s,frame_sequence,frame_age_s,decided,policy_ms,tick_ms,"
      "object_x_m,object_y_m,object_z_m";
  for (int i = 0; i < actions; ++i) lines_ += ",action_" + std::to_string(i);
  for (const std::string& joint : joints) lines_ += "," + joint;
  for (const std::string& joint : joints) lines_ += ",target_" + joint;
  lines_ += "\n";
}

void TickLog::Add(const TickRecord& r) {
  ticks_.Add(r.tick_s);
  if (r.decided) decisions_.Add(r.tick_s);
  if (r.decided) decisions_cpu_.Add(r.cpu_s);
  if (path_.empty()) return;
  lines_ += std::to_string(r.tick);
  AppendNumber(lines_, r.time_s);
  lines_ += std::string(",") + NameOf(r.phase) + "," + NameOf(r.stop) + "," + std::to_string(r.run) + "," +
            std::to_string(r.joints_sequence);
  AppendNumber(lines_, r.joints_age_s);
  lines_ += "," + std::to_string(r.frame_sequence);
  AppendNumber(lines_, r.frame_age_s);
  lines_ += r.decided ? ",1" : ",0";
  AppendNumber(lines_, 1e3 * r.policy_s);
  AppendNumber(lines_, 1e3 * r.tick_s);
  for (const double value : r.object) AppendNumber(lines_, value);
  for (const float value : r.action) AppendNumber(lines_, static_cast<double>(value));
  for (const double value : r.q) AppendNumber(lines_, value);
  for (const double value : r.target) AppendNumber(lines_, value);
  lines_ += "\n";
}

void TickLog::Flush() {
  if (path_.empty() || lines_.empty()) return;
  out_ << lines_ << std::flush;
  if (!out_) throw RunError(path_ + ": the log could not be written");
  lines_.clear();
}

}  // namespace gripstream
