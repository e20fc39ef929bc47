// Tests launch/supervisor.cc, launch/learner_role.cc and what they start: modes beside each other, several learners.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

constexpr int kEnvs = 24;

// Everything that the modes must agree on; `processes` simulators hold the same environments.
std::vector<std::string> SameRun(int processes, int iterations, std::vector<std::string> more) {
  more.insert(more.end(),
              {"sim.processes=" + std::to_string(processes), "sim.envs=" + std::to_string(kEnvs / processes),
               "policy.inference_chunk=2", "train.iterations=" + std::to_string(iterations),
               "train.checkpoint_every=100", "eval.at_start=false", "eval.blank_image=false"});
  return more;
}

// The float32 tensors of a safetensors file whose names begin with "policy.", one after another.
std::vector<float> PolicyParameters(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  uint64_t header_bytes = 0;
  in.read(reinterpret_cast<char*>(&header_bytes), sizeof(header_bytes));
  std::string header(header_bytes, ' ');
  in.read(header.data(), static_cast<std::streamsize>(header_bytes));
  std::vector<float> parameters;
  const nlohmann::json tensors = nlohmann::json::parse(header);
  for (const auto& [name, tensor] : tensors.items()) {
    if (!name.starts_with("policy.")) continue;
    const uint64_t begin = tensor["data_offsets"][0], end = tensor["data_offsets"][1];
    const size_t before = parameters.size();
    parameters.resize(before + (end - begin) / sizeof(float));
    in.seekg(static_cast<std::streamoff>(8 + header_bytes + begin));
    in.read(reinterpret_cast<char*>(&parameters[before]), static_cast<std::streamsize>(end - begin));
  }
  return parameters;
}

double RelativeDifference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference += std::pow(double(a[i]) - b[i], 2);
    norm += std::pow(double(a[i]), 2);
  }
  return a.size() == b.size() && norm > 0 ? std::sqrt(difference / norm) : 1.0;
}

// The last row of metrics.csv by column.
std::map<std::string, double> LastMetrics(const std::string& run_dir) {
  std::ifstream in(run_dir + "/metrics.csv");
  std::string names, line, last;
  std::getline(in, names);
  while (std::getline(in, line)) last = line;
  std::istringstream columns(names), values(last);
  std::map<std::string, double> metrics;
  for (std::string name, value; std::getline(columns, name, ',') && std::getline(values, value, ',');) {
    metrics[name] = std::atof(value.c_str());
  }
  return metrics;
}

class Modes : public testing::Test {
 protected:
  nlohmann::json Run(const std::string& name, const std::vector<std::string>& overrides) {
    const Ended ended = RunGripstream(TinyRun(folder_ / name, overrides));
    EXPECT_EQ(ended.code, 0) << ended.output;
    return ReadJson(folder_ / (name + "/results.json"));
  }
  std::string Digest(const std::string& name, const std::vector<std::string>& overrides) {
    return Run(name, overrides).value("parameters_sha256", "none: " + name);
  }
  ScratchFolder folder_;
};

TEST_F(Modes, AgreeAfterOneIterationWhateverTheThreadsAndLearners) {
  const auto parameters = [&](const std::string& name, int processes, const std::vector<std::string>& more) {
    Run(name, SameRun(processes, 1, more));
    return PolicyParameters(folder_ / (name + "/checkpoints/iteration_000001.safetensors"));
  };
  const std::vector<float> reference = parameters("one", 1, {"wire.transport=inproc"});
  ASSERT_GT(reference.size(), 1000u);
  const std::vector<std::string> free = {"run.deterministic=false", "ppo.threads=2"};
  for (const char* mode : {"lockstep", "double_buffered", "async", "data_parallel"}) {
    std::vector<std::string> more = free;
    more.push_back(std::string("runtime.mode=") + mode);
    EXPECT_LT(RelativeDifference(reference, parameters(mode, 2, more)), 1e-5) << mode;
    if (mode == std::string("data_parallel")) continue;
    more.push_back("learner.processes=3");
    EXPECT_LT(RelativeDifference(reference, parameters(std::string(mode) + "3", 3, more)), 1e-5) << mode;
  }
}

TEST_F(Modes, DataParallelIsSeveralLearnersWithASimulatorInside) {
  const std::string learners = Digest("learners", SameRun(2, 4, {"learner.processes=2", "runtime.mode=lockstep"}));
  EXPECT_EQ(Digest("parallel", SameRun(2, 4, {"runtime.mode=data_parallel"})), learners);
  EXPECT_EQ(Digest("four", SameRun(4, 4, {"learner.processes=2", "runtime.mode=lockstep"})), learners);
  EXPECT_EQ(Digest("ahead", SameRun(2, 4, {"learner.processes=2", "runtime.mode=async"})), learners);
}

TEST_F(Modes, SeveralLearnersReportTheWholeRunOnce) {
  const nlohmann::json one = Run("one", SameRun(2, 2, {}));
  const nlohmann::json two = Run("two", SameRun(2, 2, {"learner.processes=2"}));
  EXPECT_EQ(two["env_steps"], one["env_steps"]);
  EXPECT_EQ(two["episodes"], one["episodes"]);
  EXPECT_NEAR(two["return"].get<double>(), one["return"].get<double>(), 1e-3);
  const auto a = LastMetrics(folder_ / "one"), b = LastMetrics(folder_ / "two");
  for (const char* name : {"run/env_steps", "episode/ended", "episode/return", "loss/value", "ppo/kl", "ppo/grad_norm",
                           "ppo/return_target", "ppo/used_samples", "ppo/learning_rate"}) {
    ASSERT_TRUE(a.contains(name)) << name;
    EXPECT_NEAR(b.at(name), a.at(name), 1e-3 * std::abs(a.at(name)) + 1e-6) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "two/evaluation.png"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "two/learners.rendezvous"));
}

TEST_F(Modes, SeveralLearnersResumeExactly) {
  for (const std::string delay : {"none", "predicted"}) {
    const std::vector<std::string> learners = {"learner.processes=2", "learner.gradient_delay=" + delay};
    const std::string digest = Digest("whole_" + delay, SameRun(2, 4, learners));
    Run("parts_" + delay, SameRun(2, 2, learners));
    const std::string parts = folder_ / ("parts_" + delay);
    const Ended ended = RunGripstream({"train", "--resume", parts, "--set", "train.iterations=4"});
    EXPECT_EQ(ended.code, 0) << ended.output;
    EXPECT_EQ(ReadJson(parts + "/results.json")["parameters_sha256"], digest) << delay;
  }
}

TEST_F(Modes, AnAsynchronousRunReportsItsStaleness) {
  Run("async", SameRun(1, 6, {"runtime.mode=async", "runtime.max_staleness=2", "run.deterministic=true"}));
  const auto metrics = LastMetrics(folder_ / "async");
  EXPECT_EQ(metrics.at("run/staleness_mean"), 2);
  EXPECT_EQ(metrics.at("run/staleness_max"), 2);
  EXPECT_GT(metrics.at("time/publish_lag_s"), 0);
}

// Spans of one thread either follow one another or lie one inside the other.
void ExpectNested(std::vector<std::pair<double, double>> spans) {
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
    return a.first < b.first || (a.first == b.first && a.second > b.second);
  });
  std::vector<double> open;  // ends of the spans around
  constexpr double kPrinted_us = 0.002;
  for (const auto& [begin, end] : spans) {
    while (!open.empty() && open.back() <= begin + kPrinted_us) open.pop_back();
    if (!open.empty()) {
      EXPECT_LE(end, open.back() + kPrinted_us);
    }
    open.push_back(end);
  }
}

TEST_F(Modes, ATraceShowsEveryRoleAndStageWithSpansThatNest) {
  std::vector<std::string> arguments =
      TinyRun(folder_ / "run", SameRun(2, 3, {"runtime.mode=async", "runtime.max_staleness=1", "learner.processes=2"}));
  arguments.insert(arguments.end(), {"--trace", folder_ / "trace.json"});
  const Ended ended = RunGripstream(arguments);
  ASSERT_EQ(ended.code, 0) << ended.output;
  const nlohmann::json trace = ReadJson(folder_ / "trace.json");
  ASSERT_TRUE(trace.is_object());
  std::set<std::string> names, roles;
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> threads;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "M") {
      if (event["name"] == "process_name") roles.insert(event["args"]["name"]);
      continue;
    }
    names.insert(event["name"]);
    const double begin = event["ts"];
    threads[{event["pid"], event["tid"]}].emplace_back(begin, begin + event["dur"].get<double>());
  }
  EXPECT_THAT(roles, testing::UnorderedElementsAre("learner 0", "learner 1", "simulator 0", "simulator 1"));
  for (const char* name : {"physics", "observe", "render", "wait for a command", "collect", "act", "wait for records",
                           "update", "minibatch", "wait for the sum of gradients", "checkpoint", "evaluate"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_GE(threads.size(), 6u);  // each learner collects on a thread of its own
  for (const auto& [thread, spans] : threads) ExpectNested(spans);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/trace"));
}

class LearnerFaults : public testing::TestWithParam<const char*> {
 protected:
  // A run of two learners that goes on until somebody ends it.
  std::unique_ptr<Command> StartEndlessRun() {
    std::vector<std::string> arguments =
        TinyRun(folder_ / "run", SameRun(2, 1000000,
                                         {std::string("runtime.mode=") + GetParam(), "learner.processes=2",
                                          "wire.deadline_s=2", "wire.heartbeat_s=0.5", "train.checkpoint_every=5"}));
    arguments.insert(arguments.begin(), Program("gripstream"));
    auto run = std::make_unique<Command>(arguments);
    const Deadline deadline = Deadline::After(60);
    while (!std::filesystem::exists(folder_ / "run/checkpoints/best.safetensors") && !deadline.Passed()) usleep(5000);
    return run;
  }
  // The process of learner 1.
  pid_t Other() {
    for (const pid_t pid : ProcessesNaming(folder_ / "run")) {
      std::ifstream in("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
      const std::string line{std::istreambuf_iterator<char>(in), {}};
      if (line.find(std::string("--rank\0001", 8)) != std::string::npos) return pid;
    }
    return -1;
  }
  static int LinesThatName(const std::string& output, pid_t pid) {
    std::istringstream lines(output);
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
      count += line.find("pid " + std::to_string(pid)) != std::string::npos;
    }
    return count;
  }
  ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutSimulatorsOfTheirOwn, LearnerFaults,
                         testing::Values("lockstep", "data_parallel"),
                         [](const auto& named) { return std::string(named.param); });

TEST_P(LearnerFaults, ALearnerThatDiesOrStopsEndsTheRunWithOneLineThatNamesIt) {
  for (const int signal_number : {SIGKILL, SIGSTOP}) {
    std::filesystem::remove_all(folder_ / "run");
    const auto run = StartEndlessRun();
    const pid_t other = Other();
    ASSERT_GT(other, 0);
    kill(other, signal_number);
    EXPECT_EQ(run->Wait(15), 1);
    EXPECT_THAT(run->Output(), HasSubstr("learner 1 (pid " + std::to_string(other)));
    EXPECT_EQ(LinesThatName(run->Output(), other), 1) << run->Output();
    EXPECT_TRUE(AllGone(folder_ / "run", 5));
  }
}

TEST_P(LearnerFaults, CtrlCEndsAllAtTheSameIterationWithACheckpointToResume) {
  const auto run = StartEndlessRun();
  kill(-run->Pid(), SIGINT);
  EXPECT_EQ(run->Wait(5), 1);
  const nlohmann::json results = ReadJson(folder_ / "run/results.json");
  EXPECT_EQ(results["status"], "interrupted");
  EXPECT_TRUE(AllGone(folder_ / "run", 5));
  const int64_t done = results["iterations"];
  const Ended resumed =
      RunGripstream({"train", "--resume", folder_ / "run", "--set", "train.iterations=" + std::to_string(done + 1)});
  EXPECT_EQ(resumed.code, 0) << resumed.output;
}

}  // namespace
}  // namespace gripstream
