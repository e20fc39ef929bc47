// Tests launch/tune.h and launch/trial.h.
#include "launch/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

RunConfig Config(const std::vector<std::string>& overrides = {}) {
  return ReadRunConfigText("sim: {envs: 128}\nppo: {horizon: 8, minibatch: 256}\npolicy: {inference_chunk: 32}\n",
                           "test", overrides);
}

// A machine of `cpus` whose stages take as many CPU-seconds as given, share them perfectly, and cost what threads
// beyond the CPUs cost: 5 % each.
class Machine {
 public:
  Machine(const StageTimes& work, int cpus) : work_(work), cpus_(cpus) {}

  TrialResult Run(const RunConfig& config) const {
    TrialResult result;
    const int physics = config.physics.threads > 0 ? config.physics.threads : cpus_;
    const bool parallel = config.runtime.mode == "data_parallel";
    const int simulators = config.sim.processes * physics,
              learner = config.ppo.threads * (parallel ? config.sim.processes : 1);
    const auto over = [&](int threads) { return std::min(threads, cpus_) / (1 + 0.05 * std::max(0, threads - cpus_)); };
    StageTimes& stages = result.stages;
    stages.simulation_s = work_.simulation_s / over(simulators);
    stages.rendering_s = work_.rendering_s / over(simulators);
    stages.wire_s = parallel ? 0 : work_.wire_s;
    stages.inference_s =
        work_.inference_s / over(config.ppo.threads * (config.SimulatorsAct() ? config.sim.processes : 1));
    if (parallel) stages.inference_s = work_.inference_s / over(learner);
    stages.update_s = work_.update_s / over(learner);
    result.steps_per_s = 1 / IterationSeconds(config, stages, simulators + learner);
    return result;
  }

 private:
  double IterationSeconds(const RunConfig& config, const StageTimes& s, int threads) const {
    const double simulate = s.simulation_s + s.rendering_s, infer = s.inference_s + s.wire_s;
    const double crowded = std::max(1.0, 1.0 * threads / cpus_);
    if (config.SimulatorsAct() && config.runtime.mode == "async") {
      return std::max(simulate + infer, s.update_s) * std::min(crowded, 1.6);
    }
    if (config.Groups() == 1) return simulate + infer + s.update_s;
    if (config.runtime.mode == "double_buffered")
      return std::max(simulate, infer) * std::min(crowded, 1.4) + s.update_s;
    return std::max({simulate, infer, s.update_s}) * std::min(crowded, 1.6);
  }

  StageTimes work_;
  int cpus_;
};

TEST(BoundBy, NamesTheLongestOfTheStagesThatNothingHides) {
  StageTimes stages{.simulation_s = 3, .rendering_s = 1, .wire_s = 0.1, .inference_s = 3.5, .update_s = 2};
  EXPECT_EQ(BoundBy(stages, "lockstep"), "inference");
  EXPECT_EQ(BoundBy(stages, "double_buffered"), "simulation") << "inference hides behind simulation and rendering";
  EXPECT_EQ(BoundBy(stages, "async"), "simulation");
  stages.update_s = 5;
  EXPECT_EQ(BoundBy(stages, "async"), "update");
  EXPECT_EQ(BoundBy(stages, "data_parallel"), "update");
  EXPECT_EQ(BoundBy(stages, "async", true), "inference") << "what acts in the simulators hides behind nothing there";
  stages.rendering_s = 9;
  EXPECT_EQ(BoundBy(stages, "double_buffered"), "rendering");
  stages.wire_s = 20;
  EXPECT_EQ(BoundBy(stages, "lockstep"), "wire");
  EXPECT_EQ(BoundBy(stages, "async"), "wire");
}

TEST(Candidates, KeepWhatLearningDependsOnAndAreAllDifferent) {
  const RunConfig config = Config();
  const std::vector<RunConfig> candidates = Candidates(config, 4, 2);
  ASSERT_GT(candidates.size(), 20u);
  EXPECT_EQ(ToYaml(candidates.front()), ToYaml(config));
  std::vector<std::string> texts;
  int stale = 0, parallel = 0, acting = 0;
  for (const RunConfig& candidate : candidates) {
    texts.push_back(ToYaml(candidate));
    EXPECT_NO_THROW(ReadRunConfigText(texts.back(), "candidate", {}));
    EXPECT_EQ(candidate.TotalEnvs(), config.TotalEnvs());
    EXPECT_EQ(candidate.ppo.minibatch, config.ppo.minibatch);
    EXPECT_LE(candidate.runtime.max_staleness, 2);
    stale += candidate.runtime.max_staleness > 0;
    acting += candidate.SimulatorsAct();
    parallel += candidate.runtime.mode == "data_parallel";
  }
  EXPECT_GT(stale, 0);
  EXPECT_GT(acting, 0);
  EXPECT_GT(parallel, 0);
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::unique(texts.begin(), texts.end()), texts.end());
}

TEST(Candidates, LeaveOutWhatTheRunRefuses) {
  for (const RunConfig& candidate : Candidates(Config(), 4, 0)) EXPECT_EQ(candidate.runtime.max_staleness, 0);
  const RunConfig gated = Config({"task.name=grasp", "task.curriculum.advance=true"});
  for (const RunConfig& candidate : Candidates(gated, 4, 1)) EXPECT_NE(candidate.runtime.mode, "async");
  for (const RunConfig& candidate :
       Candidates(Config({"sim.envs=3", "ppo.minibatch=24", "runtime.mode=lockstep"}), 4, 1)) {
    EXPECT_EQ(candidate.sim.processes, 1) << "three environments have no halves";
  }
}

TEST(Predict, OverlapsWhatTheModeOverlaps) {
  const StageTimes stages{.simulation_s = 3, .rendering_s = 1, .wire_s = 0.5, .inference_s = 1.5, .update_s = 2};
  const std::vector<std::string> one = {"physics.threads=1", "ppo.threads=1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), one.begin(), one.end());
    return Config(more);
  };
  const RunConfig alone = with({"runtime.mode=lockstep"});
  EXPECT_DOUBLE_EQ(Predict(stages, alone, alone, 2), 8);
  EXPECT_DOUBLE_EQ(Predict(stages, alone, with({"runtime.mode=double_buffered"}), 2), 6);
  EXPECT_DOUBLE_EQ(Predict(stages, alone, with({"runtime.mode=async", "runtime.max_staleness=1"}), 2), 4);
  EXPECT_DOUBLE_EQ(Predict(stages, alone, with({"runtime.mode=double_buffered"}), 1), 8) << "one CPU overlaps nothing";
  const RunConfig wider = Config({"runtime.mode=lockstep", "physics.threads=2", "ppo.threads=2"});
  EXPECT_DOUBLE_EQ(Predict(stages, alone, wider, 2), 2 + 0.5 + 0.75 + 1);
}

TEST(Search, FindsTheBottleneckAndNearlyTheBestOfAllWays) {
  const std::vector<std::pair<std::string, StageTimes>> bottlenecks = {
      {"simulation", {.simulation_s = 9, .rendering_s = 0.5, .wire_s = 0.1, .inference_s = 0.5, .update_s = 2}},
      {"rendering", {.simulation_s = 1, .rendering_s = 8, .wire_s = 0.1, .inference_s = 0.5, .update_s = 2}},
      {"wire", {.simulation_s = 0.5, .rendering_s = 0.5, .wire_s = 6, .inference_s = 0.5, .update_s = 0.7}},
      {"inference", {.simulation_s = 1, .rendering_s = 0.5, .wire_s = 0.1, .inference_s = 9, .update_s = 1}},
      {"update", {.simulation_s = 1, .rendering_s = 0.5, .wire_s = 0.1, .inference_s = 0.5, .update_s = 9}},
  };
  for (const auto& [name, work] : bottlenecks) {
    for (const int cpus : {2, 8}) {
      const Machine machine(work, cpus);
      double now_s = 0;  // a trial takes a second
      const auto trial = [&](const RunConfig& candidate, double) {
        ++now_s;
        return machine.Run(candidate);
      };
      const RunConfig config = Config({"runtime.mode=lockstep", "ppo.threads=1", "physics.threads=1"});
      const SearchResult result =
          Search(config, {.cpus = cpus, .max_staleness = 1, .seconds = 40, .clock = [&] { return now_s; }}, trial);
      double best = 0;
      for (const RunConfig& candidate : Candidates(config, cpus, 1)) {
        best = std::max(best, machine.Run(candidate).steps_per_s);
      }
      const Trial& chosen = result.tried[result.best];
      EXPECT_GE(chosen.StepsPerSecond(), 0.95 * best)
          << name << ", " << cpus << " CPUs: " << DescribeSplit(chosen.config);
      EXPECT_EQ(BoundBy(result.alone, "lockstep"), name);
    }
  }
}

TEST(Search, PrefersWhatIsNotStaleWhereStalenessGainsLittle) {
  double now_s = 0;
  const auto trial = [&](const RunConfig& config, double) {
    ++now_s;
    TrialResult result;
    result.steps_per_s = config.runtime.mode == "async" ? 102 : config.runtime.mode == "lockstep" ? 100 : 90;
    return result;
  };
  const SearchResult result =
      Search(Config(), {.cpus = 2, .max_staleness = 1, .seconds = 100, .clock = [&] { return now_s; }}, trial);
  EXPECT_EQ(result.tried[result.best].config.runtime.mode, "lockstep");
  EXPECT_EQ(result.tried[result.fastest].config.runtime.mode, "async");
  EXPECT_EQ(now_s, 100);
}

TEST(Search, RefusesSeveralLearnersByName) {
  const RunConfig config = Config({"learner.processes=2", "sim.processes=2"});
  try {
    Search(config, {}, [](const RunConfig&, double) { return TrialResult{}; });
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("learner.processes"));
  }
}

TEST(ReadTrial, TakesTheRateAfterTheFirstIterationAndMediansOfStages) {
  const TrialResult result = ReadTrial(
      "iteration,run/env_steps,run/wall_s,run/steps_per_s,time/physics_s,time/observe_s,time/render_s,time/wire_s,"
      "time/inference_s,time/update_s\n"
      "1,100,5,20,9,0.5,1,2,3,4\n"
      "2,200,6,100,1,0.5,1,2,3,4\n"
      "3,300,7,100,1,0.5,1,2,3,4\n");
  EXPECT_EQ(result.iterations, 3);
  EXPECT_DOUBLE_EQ(result.steps_per_s, 100);
  EXPECT_DOUBLE_EQ(result.stages.simulation_s, 1.5);
  EXPECT_DOUBLE_EQ(result.stages.Total(), 1.5 + 1 + 2 + 3 + 4);
  EXPECT_THROW(ReadTrial("iteration,run/env_steps,run/wall_s\n"), RunError);
  EXPECT_THROW(ReadTrial(""), RunError);
}

}  // namespace
}  // namespace gripstream
