// gripstream top: a run as it is now, from what it writes into its folder and what the kernel knows of its processes.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <thread>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/progress.h"
#include "launch/commands.h"
#include "launch/metrics_table.h"
#include "launch/role_watch.h"
#include "launch/run_folder.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

constexpr int kRecentRows = 20;

template <class... Arguments>
std::string Format(const char* format, Arguments... arguments) {
  char text[512];
  std::snprintf(text, sizeof(text), format, arguments...);
  return text;
}

double SecondsSinceWritten(const std::string& file) {
  std::error_code error;
  const auto written = fs::last_write_time(file, error);
  if (error) return NAN;
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - written).count();
}

// Mean of the newest rows.
double Recent(const MetricsTable& metrics, const std::string& name) {
  const size_t column = metrics.Column(name), rows = metrics.rows.size();
  const size_t first = rows > kRecentRows ? rows - kRecentRows : 0;
  double sum = 0;
  for (size_t i = first; i < rows; ++i) sum += metrics.rows[i][column];
  return sum / static_cast<double>(rows - first);
}

std::string Heading(const std::string& run, const RunConfig& config, const MetricsTable& metrics) {
  const double iteration = metrics.Last("iteration"), left = config.train.iterations - iteration;
  std::string text = run + "\n";
  text += Format("iteration %.0f of %d  %s steps  %s steps/s  last one %s ago  ETA %s\n", iteration,
                 config.train.iterations, FormatCount(metrics.Last("run/env_steps")).c_str(),
                 FormatCount(Recent(metrics, "run/steps_per_s")).c_str(),
                 FormatDuration(SecondsSinceWritten(metrics.file)).c_str(),
                 FormatDuration(left * Recent(metrics, "time/iteration_s")).c_str());
  text +=
      Format("return %.2f  success %.1f %%  staleness %.2f, at most %.0f versions  lost simulators %.0f\n",
             metrics.Last("episode/return"), 100 * metrics.Last("episode/success"), metrics.Last("run/staleness_mean"),
             metrics.Last("run/staleness_max"), metrics.Last("lost/simulators"));
  return text;
}

// Where an iteration's time goes, and who waits for whom.
std::string Times(const MetricsTable& metrics) {
  struct Part {
    const char* label;
    const char* metric;
  };
  constexpr Part kParts[] = {{"physics", "time/physics_s"},
                             {"observe", "time/observe_s"},
                             {"render", "time/render_s"},
                             {"wire", "time/wire_s"},
                             {"inference", "time/inference_s"},
                             {"update", "time/update_s"},
                             {"learner waits", "time/learner_wait_s"},
                             {"collection waits", "time/pace_wait_s"}};
  const double total = Recent(metrics, "time/iteration_s");
  std::string text = Format("%.2f s an iteration:", total);
  for (const Part& part : kParts) text += Format("  %s %.0f%%", part.label, 100 * Recent(metrics, part.metric) / total);
  return text + "\n";
}

// `before`: processor seconds by pid, a period of `period_s` ago; empty: since each was started.
std::string Roles(const std::vector<RoleSample>& roles, const std::map<int, double>& before, double period_s) {
  if (roles.empty()) return "no role of it runs on this machine\n";
  std::string text = Format("%-26s %8s  %-8s %7s %10s %8s\n", "role", "pid", "state", "CPU", "memory", "threads");
  for (const RoleSample& role : roles) {
    const auto then = before.find(role.pid);
    const double used =
        then == before.end() ? role.cpu_s / std::max(role.age_s, 1e-3) : (role.cpu_s - then->second) / period_s;
    text += Format("%-26s %8d  %-8s %6.0f%% %7.0f MB %8d\n", role.name.c_str(), role.pid, role.state.c_str(),
                   100 * used, role.memory_bytes / 1e6, role.threads);
  }
  return text;
}

std::string Picture(const std::string& run, const RunConfig& config, const std::vector<RoleSample>& roles,
                    const std::map<int, double>& before, double period_s) {
  std::string text;
  const std::string file = run + "/metrics.csv";
  const MetricsTable metrics = fs::exists(file) ? ReadMetrics(run) : MetricsTable{};
  if (metrics.rows.empty()) {
    text = run + "\nno iteration is done yet\n";
  } else {
    text = Heading(run, config, metrics) + Times(metrics);
  }
  return text + "\n" + Roles(roles, before, period_s);
}

}  // namespace

int TopCommand(const TopArguments& arguments) {
  const RunConfig config = OpenRunFolder(arguments.run, {});
  CatchInterrupts();
  std::map<int, double> before;
  while (!Interrupted()) {
    const std::vector<RoleSample> roles = RolesOf(arguments.run);
    const std::string picture = Picture(arguments.run, config, roles, before, arguments.period_s);
    if (arguments.once) {
      std::printf("%s", picture.c_str());
      return kExitOk;
    }
    // "\x1b[H" goes to the top left, "\x1b[J" clears what a longer picture left behind.
    std::printf("\x1b[H\x1b[J%s\nCtrl-C ends this view, not the run\n", picture.c_str());
    std::fflush(stdout);
    before.clear();
    for (const RoleSample& role : roles) before[role.pid] = role.cpu_s;
    std::this_thread::sleep_for(std::chrono::duration<double>(arguments.period_s));
  }
  return kExitOk;
}

}  // namespace gripstream
