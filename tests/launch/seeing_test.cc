// Tests launch/command_reference.cc, command_compare.cc and command_top.cc on run folders made by hand.
#include <gmock/gmock.h>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string Text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A run of `rows` iterations with 2 s each, at 100 steps per second.
std::string MakeRun(const std::string& folder, const std::string& seed, int rows) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/config.yaml") << "run: {seed: " << seed << "}\ntrain: {iterations: 12}\n";
  std::ofstream csv(folder + "/metrics.csv");
  csv << "iteration,run/env_steps,run/wall_s,run/steps_per_s,run/staleness_mean,run/staleness_max,episode/success,"
         "episode/return,time/physics_s,time/observe_s,time/render_s,time/wire_s,time/inference_s,time/update_s,"
         "time/learner_wait_s,time/pace_wait_s,time/iteration_s,lost/simulators\n";
  for (int i = 1; i <= rows; ++i) {
    csv << i << ',' << 200 * i << ',' << 2 * i << ",100,0.5,1,0.25,3.5,1,0.1,0.4,0,0.2,0.5,0,0,2,0\n";
  }
  csv << rows + 1 << ",9";  // being written
  return folder;
}

TEST(Reference, IsTheDocumentedOne) {
  const Ended ended = RunGripstream({"reference"});
  ASSERT_EQ(ended.code, 0);
  EXPECT_EQ(ended.output, Text(std::string(GRIPSTREAM_SOURCE_DIR) + "/docs/configuration.md"))
      << "write it anew: gripstream reference > docs/configuration.md";
}

TEST(Compare, PutsFiguresAndDifferentKeysSideBySide) {
  const ScratchFolder folder;
  MakeRun(folder / "a", "1", 3);
  MakeRun(folder / "b", "77", 5);
  std::ofstream(folder / "b/results.json") << R"({"status": "completed", "success": 0.5, "success_ci95": [0.4, 0.6]})";
  const Ended ended = RunGripstream({"compare", folder / "a", folder / "b", "-o", folder / "curves.svg"});
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_THAT(ended.output, ContainsRegex("iterations +3 +5\n"));
  EXPECT_THAT(ended.output, ContainsRegex("status +not ended +completed\n"));
  EXPECT_THAT(ended.output, ContainsRegex("success, evaluated +- +50.0 % .40.0 to 60.0.\n"));
  EXPECT_THAT(ended.output, ContainsRegex("run.seed +1 +77\n"));
  EXPECT_THAT(ended.output, Not(HasSubstr("train.iterations")));
  EXPECT_THAT(Text(folder / "curves.svg"), HasSubstr("<svg"));
}

TEST(Compare, NamesWhatIsNoRun) {
  const ScratchFolder folder;
  const Ended ended = RunGripstream({"compare", folder / "nothing"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.output, HasSubstr("is not a run folder"));
}

TEST(Top, ShowsTheNewestRowAndSaysWhenNothingRuns) {
  const ScratchFolder folder;
  MakeRun(folder / "run", "1", 4);
  const Ended ended = RunGripstream({"top", folder / "run", "--once"});
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("iteration 4 of 12"), HasSubstr("100 steps/s"), HasSubstr("ETA 0:16"),
                                  HasSubstr("staleness 0.50, at most 1"), HasSubstr("physics 50%  observe 5%"),
                                  HasSubstr("no role of it runs on this machine")));
}

TEST(Top, SeesARunsProcesses) {
  const ScratchFolder folder;
  MakeRun(folder / "run", "1", 0);
  // By its name and the folder it is told, a role of this run; in truth it sleeps, and may be stopped.
  std::filesystem::create_symlink("/bin/sh", folder / "gripstream-sim");
  Command role({folder / "gripstream-sim", "-c", "echo up; while :; do sleep 0.1; done", folder / "run", "--index", "3"});
  ASSERT_TRUE(role.WaitForOutput("up", 10));
  kill(role.Pid(), SIGSTOP);
  const Ended ended = RunGripstream({"top", folder / "run", "--once"});
  kill(role.Pid(), SIGKILL);
  EXPECT_THAT(ended.output, HasSubstr("no iteration is done yet"));
  EXPECT_THAT(ended.output, ContainsRegex("simulator 3 +[0-9]+  stopped"));
}

}  // namespace
}  // namespace gripstream
