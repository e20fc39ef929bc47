// Tests launch/command_plan.cc and memory_check.cc as a user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

const std::string kTiny = std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/tiny.yaml";
const std::string kPaper = std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/measured/paper_160x120.yaml";

std::string ReadAll(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Plan, SaysWhatFitsAndWhatBinds) {
  const Ended plan = RunGripstream({"plan", kTiny, "--processes", "4", "--memory", "2GB"});
  EXPECT_EQ(plan.code, 0) << plan.output;
  for (const char* text : {"experience buffer", "images and activations", "optimiser", "environments", "record slots",
                           "data parallel, 4 processes", "3 simulators + 1 learner", "<< most", "fits"}) {
    EXPECT_THAT(plan.output, HasSubstr(text));
  }
}

TEST(Plan, TakesCountsOfSomebodyElses) {
  const Ended plan = RunGripstream({"plan", "--measured", kPaper, "--gpus", "4", "--gpu-memory", "80GB"});
  EXPECT_EQ(plan.code, 0) << plan.output;
  EXPECT_THAT(plan.output, HasSubstr("4096"));
  EXPECT_THAT(plan.output, HasSubstr("8400"));
  EXPECT_THAT(plan.output, HasSubstr("2.05 times data parallelism"));
}

TEST(Plan, BadInputIsOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"plan"}, "--measured"},
      {{"plan", kTiny, "--memory", "much"}, "--memory"},
      {{"plan", kTiny, "--gpus", "4"}, "--gpu-memory"},
      {{"plan", kTiny, "--gpus", "4", "--gpu-memory", "80GB", "--memory", "1GB"}, "--gpus"},
      {{"plan", "--measured", kPaper}, "--gpu-memory"},
      {{"plan", kTiny, "--set", "policy.name=rgb"}, "policy.name"},  // only the learner's program can judge that
      {{"plan", "--measured", kTiny, "--memory", "1GB"}, "simulator_envs"},
  };
  for (const auto& [arguments, named] : cases) {
    const Ended plan = RunGripstream(arguments);
    EXPECT_EQ(plan.code, 2) << plan.output;
    EXPECT_THAT(plan.output, HasSubstr(named));
    EXPECT_EQ(std::count(plan.output.begin(), plan.output.end(), '\n'), 1) << plan.output;
  }
}

TEST(Memory, ARunThatWillNotFitIsRefusedWithTheTableBeforeAnythingIsThere) {
  const ScratchFolder folder;
  const Ended run = RunGripstream(
      TinyRun(folder / "run", {"sim.envs=4096", "sim.reserve_bytes_per_env=1000000000", "ppo.minibatch=128"}));
  EXPECT_EQ(run.code, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("reserve"));
  EXPECT_THAT(run.output, HasSubstr("experience buffer"));
  EXPECT_THAT(run.output, HasSubstr("sim.envs"));
  EXPECT_THAT(run.output, HasSubstr("physical memory"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

TEST(Memory, ARoleRefusesWhatItsOwnLimitDoesNotHold) {
  const ScratchFolder folder;
  Command learner({"/bin/sh", "-c", "ulimit -d 60000000 && exec \"$0\" \"$@\"", Program("gripstream"), "learner", kTiny,
                   "--set", "run.dir=" + (folder / "run"), "--set", "sim.envs=65536", "--set", "sim.processes=256",
                   "--set", "ppo.horizon=128", "--set", "ppo.minibatch=1024"});
  EXPECT_EQ(learner.Wait(120), 2) << learner.Output();
  EXPECT_THAT(learner.Output(), HasSubstr("a learner would take"));
}

void ExpectLogged(const std::string& run, const std::string& what) {
  for (const char* role : {"learner", "simulator_0"}) {
    const std::string log = ReadAll(run + "/logs/" + role + ".log");
    EXPECT_THAT(log, HasSubstr("memory at the start, " + what));
    EXPECT_THAT(log, HasSubstr("memory at the end, " + what));
    EXPECT_THAT(log, HasSubstr("this process holds"));
  }
}

TEST(Memory, BothRolesLogWhatIsBesideWhatWasPlannedWhereThatWasAskedFor) {
  const ScratchFolder folder;
  const Ended planned = RunGripstream(TinyRun(folder / "planned", {"run.measure_memory=true"}));
  ASSERT_EQ(planned.code, 0) << planned.output;
  EXPECT_TRUE(std::filesystem::exists(folder / "planned/footprints.json"));
  ExpectLogged(folder / "planned", "planned and real, of");
  const Ended small = RunGripstream(TinyRun(folder / "small"));
  ASSERT_EQ(small.code, 0) << small.output;
  EXPECT_FALSE(std::filesystem::exists(folder / "small/footprints.json"));
  ExpectLogged(folder / "small", "real, of");
}

TEST(Memory, SpillIsRefusedWhereLearnersRunOnCpus) {
  const ScratchFolder folder;
  const Ended run = RunGripstream(TinyRun(folder / "run", {"learner.spill=true"}));
  EXPECT_EQ(run.code, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("learner.spill"));
}

}  // namespace
}  // namespace gripstream
