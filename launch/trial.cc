#include "launch/trial.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "core/interrupt.h"
#include "core/statistics.h"
#include "launch/run_folder.h"
#include "launch/supervisor.h"
#include "launch/temporary_folder.h"

namespace gripstream {
namespace {

constexpr int kNoEnd = 1 << 30;

// From its construction to its destruction, output of this process and its children goes to a file.
class OutputTo {
 public:
  explicit OutputTo(const std::string& path) {
    std::fflush(nullptr);
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) throw RunError(path + ": cannot be written");
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      saved_.push_back(fcntl(stream, F_DUPFD_CLOEXEC, 3));
      dup2(file, stream);
    }
    close(file);
  }
  ~OutputTo() {
    std::fflush(nullptr);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      const int saved = saved_[static_cast<size_t>(stream - STDOUT_FILENO)];
      if (saved < 0) continue;
      dup2(saved, stream);
      close(saved);
    }
  }
  OutputTo(const OutputTo&) = delete;
  OutputTo& operator=(const OutputTo&) = delete;

 private:
  std::vector<int> saved_;  // standard output, standard error
};

std::string LastLine(const std::string& text) {
  std::string last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

using Columns = std::map<std::string, std::vector<double>>;

Columns ReadColumns(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line, cell;
  std::vector<std::string> names;
  Columns columns;
  if (std::getline(lines, line)) {
    for (std::istringstream cells(line); std::getline(cells, cell, ',');) names.push_back(cell);
  }
  while (std::getline(lines, line)) {
    size_t i = 0;
    for (std::istringstream cells(line); std::getline(cells, cell, ',') && i < names.size(); ++i) {
      columns[names[i]].push_back(std::strtod(cell.c_str(), nullptr));
    }
  }
  return columns;
}

}  // namespace

TrialResult ReadTrial(const std::string& csv) {
  Columns columns = ReadColumns(csv);
  const std::vector<double>& steps = columns["run/env_steps"];
  const std::vector<double>& wall_s = columns["run/wall_s"];
  if (steps.empty() || steps.size() != wall_s.size()) throw RunError("the trial did not complete an iteration");
  const auto median = [&](const char* name) { return Median(columns[name]); };
  TrialResult result;
  result.iterations = static_cast<int>(steps.size());
  result.steps_per_s = steps.size() == 1 ? columns["run/steps_per_s"].front()
                                         : (steps.back() - steps.front()) / (wall_s.back() - wall_s.front());
  result.stages = {.simulation_s = median("time/physics_s") + median("time/observe_s"),
                   .rendering_s = median("time/render_s"),
                   .wire_s = median("time/wire_s"),
                   .inference_s = median("time/inference_s"),
                   .update_s = median("time/update_s")};
  return result;
}

TrialResult RunTrial(RunConfig config, double seconds) {
  const TemporaryFolder folder;
  config.run.dir = folder.Path() + "/run";
  config.wire.address.clear();
  config.train.iterations = config.train.checkpoint_every = kNoEnd;
  config.train.max_wall_s = seconds;
  config.train.stop_success = 0;
  config.eval.episodes = 0;
  CreateRunFolder(config, "trial", {});
  const std::string log = folder.Path() + "/output";
  int code = 0;
  {
    const OutputTo quiet(log);
    code = RunRoles(config, {}, {});
  }
  if (Interrupted()) throw RunError("interrupted");
  if (code != kExitOk) throw RunError("a trial run failed: " + LastLine(ReadText(log)));
  return ReadTrial(ReadText(config.run.dir + "/metrics.csv"));
}

}  // namespace gripstream
