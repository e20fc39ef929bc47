// Tests launch/memory_plan.h and memory_check.h.
#include "launch/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/error.h"
#include "core/files.h"
#include "launch/footprint_guess.h"
#include "launch/memory_check.h"
#include "sim_server/footprint.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

// A learner of `fixed` and `buffer` bytes an environment, a simulator of `environment` bytes each.
RoleBudgets Simple(double fixed, double buffer, double environment) {
  RoleBudgets budgets;
  budgets.simulator.parts = {{kEnvironmentsPart, 0, environment}};
  const MemoryBudget learner{{{kActivationsPart, fixed, 0, true}, {kBufferPart, 0, buffer}}};
  budgets.learner = [=](int64_t, int) { return learner; };
  const MemoryBudget both{
      {{kActivationsPart, fixed, 0, true}, {kBufferPart, 0, buffer}, {kEnvironmentsPart, 0, environment}}};
  budgets.single = [=](int64_t, int) { return both; };
  return budgets;
}

std::vector<SystemPlan> PlanOfFile(const std::string& name) {
  constexpr double kGpu_bytes = 80e9;
  const std::string path = std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/measured/" + name;
  MeasuredCounts measured;
  ConfigFile(path, std::vector<std::string>()).Read(measured);
  return PlanSystems(BudgetsOf(measured, kGpu_bytes, path), 4, kGpu_bytes);
}

TEST(MemoryPlan, ThePublishedFootprintsGiveThePublishedNumbers) {
  const std::vector<SystemPlan> small = PlanOfFile("paper_160x120.yaml"), large = PlanOfFile("paper_320x240.yaml");
  EXPECT_EQ(small.front().total, 4096);
  EXPECT_EQ(BestOf(small).total, 8400);
  EXPECT_EQ(BestOf(small).Name(), "3 simulators + 1 learner");
  EXPECT_EQ(large.front().total, 1024);
  EXPECT_EQ(BestOf(large).total, 2100);
  EXPECT_EQ(BestOf(large).Name(), "3 simulators + 1 learner");
}

TEST(MemoryPlan, CountsThatLeaveNoLearnerAreRefused) {
  MeasuredCounts measured;
  measured.simulator_envs = measured.data_parallel_envs = 1000;
  measured.buffer_bytes_per_env = 1e6;
  EXPECT_THROW(BudgetsOf(measured, 80e9, "file.yaml"), InputError);
}

TEST(MemoryPlan, OnlyDivisionsWithoutARestAreThere) {
  std::vector<std::string> names;
  for (const SystemPlan& plan : PlanSystems(Simple(10, 1, 1), 4, 100)) names.push_back(plan.Name());
  EXPECT_THAT(names, testing::ElementsAre("data parallel, 4 processes", "2 simulators + 2 learners",
                                          "3 simulators + 1 learner"));
}

TEST(MemoryPlan, WhatBindsIsNamed) {
  // 40 for activations; 100 / 10 fit a simulator, 60 / 1 a learner, 60 / 11 a process of both.
  const std::vector<SystemPlan> heavy = PlanSystems(Simple(40, 1, 10), 4, 100);
  EXPECT_EQ(heavy[0].envs, 5);
  EXPECT_EQ(heavy[0].binds, "process: environments");
  EXPECT_EQ(heavy[2].total, 30);
  EXPECT_EQ(heavy[2].binds, "simulator: environments");
  // 60 / 10 fit a learner that two simulators or one share.
  const std::vector<SystemPlan> lean = PlanSystems(Simple(40, 10, 1), 4, 100);
  EXPECT_EQ(lean[1].total, 12);
  EXPECT_EQ(lean[2].total, 6);
  EXPECT_EQ(lean[2].binds, std::string("learner: ") + kBufferPart);
  EXPECT_TRUE(BestOf(lean).single);
}

TEST(MemoryPlan, ALearnerThatDoesNotFitIsNamed) {
  const std::vector<SystemPlan> plans = PlanSystems(Simple(140, 1, 1), 4, 100);
  for (const SystemPlan& plan : plans) {
    EXPECT_EQ(plan.total, 0);
    EXPECT_THAT(plan.binds, HasSubstr(std::string("does not fit: ") + kActivationsPart));
  }
}

TEST(MemoryCheck, LimitsOfOneProcessAndOfAllAreToldApart) {
  const std::vector<RoleNeed> needs = {{"simulator", 3, 10, {{{"environments", 0, 10}}}},
                                       {"learner", 1, 30, {{{"buffer", 0, 2}}}}};
  EXPECT_EQ(WhyNot(needs, {{360, "physical memory", false}}), "");
  EXPECT_THAT(WhyNot(needs, {{359, "physical memory", false}}), HasSubstr("the run would take 360 B"));
  EXPECT_EQ(WhyNot(needs, {{100, "RLIMIT_DATA", true}}), "");
  EXPECT_THAT(WhyNot(needs, {{99, "RLIMIT_DATA", true}}), HasSubstr("a simulator would take 100 B"));
}

// Tiny and what a user may change of it, in the order of the memory that they take.
TEST(MemoryCheck, TheGuessGrowsWithWhatARunTakes) {
  const std::string tiny = std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/tiny.yaml";
  const auto guess = [&](const std::vector<std::string>& overrides) {
    const RunConfig config = ReadRunConfig(tiny, overrides);
    const TaskDescription task = DescribeTask(config);
    double all = 0;
    for (const RoleNeed& need : NeedsOf(config, BudgetsOf(config, task, GuessFootprints(config, task))))
      all += need.count * need.Bytes();
    return all;
  };
  const double least = guess({});
  EXPECT_GT(least, 0.2e9) << "two programs with their libraries";
  EXPECT_LT(least, 1e9) << "or no run would ever be small";
  EXPECT_GT(guess({"sim.reserve_bytes_per_env=1000000000"}), least + 15e9);
  EXPECT_GT(guess({"ppo.horizon=4096", "ppo.minibatch=4096"}), least + 0.1e9) << "the buffer";
  // A matrix of 8192 x 8192 weighs 0.27 GB; there are two, with gradients and moments.
  EXPECT_GT(guess({"policy.actor_hidden=[8192,8192]", "policy.critic_hidden=[8192,8192]"}), least + 2e9);
  EXPECT_GT(guess({"policy.encoder.channels=[512,512]", "policy.encoder.strides=[1,1]"}), least + 1e8);
}

TEST(MemoryCheck, TheGuessIsNotBelowWhatASimulatorIsMeasuredToTake) {
#ifndef __SANITIZE_ADDRESS__
  const RunConfig config = ReadRunConfig(std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/tiny.yaml", {});
  const TaskDescription task = DescribeTask(config);
  const SimulatorFootprint measured = MeasureSimulator(SimulatorOptionsOf(config, 0));
  const double real = BudgetsOf(config, task, {.simulator = measured}).simulator.Bytes(config.sim.envs);
  const double guess = BudgetsOf(config, task, GuessFootprints(config, task)).simulator.Bytes(config.sim.envs);
  EXPECT_GT(guess, real);
  EXPECT_LT(guess, 20 * real);
#else
  GTEST_SKIP() << "the sanitizer's allocator has no figures";
#endif
}

TEST(MemoryCheck, WhatTheStarterSaysIsTaken) {
  const RunConfig config = ReadRunConfig(std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/tiny.yaml", {});
  const auto never = []() -> Footprints { throw std::logic_error("measured"); };
  EXPECT_FALSE(FootprintsOfRole(config, {}, kSmallRun, never));
  const std::string path = ::testing::TempDir() + "/gripstream_footprints.json";
  Footprints written;
  written.learner.update_row = 12;
  written.simulator.camera = 34;
  WriteFileAtomically(path, ToJson(written));
  const std::optional<Footprints> read = FootprintsOfRole(config, {}, path, never);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->learner.update_row, 12);
  EXPECT_EQ(read->simulator.camera, 34);
}

TEST(MemoryCheck, FootprintsPassFromProgramToProgram) {
  LearnerFootprint footprint;
  double value = 1;
  footprint.ForEach([&](const char*, double& field) { field = value *= 3; });
  LearnerFootprint read = LearnerFootprintFromJson(ToJson(footprint));
  value = 1;
  read.ForEach([&](const char* name, double& field) { EXPECT_EQ(field, value *= 3) << name; });
  EXPECT_THROW(LearnerFootprintFromJson("{}"), RunError);
  EXPECT_THROW(LearnerFootprintFromJson("no"), RunError);
}

}  // namespace
}  // namespace gripstream
