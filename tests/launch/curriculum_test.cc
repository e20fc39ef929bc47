// Tests the curriculum over the wire: the level that the learner decides reaches every simulator, and a resumed run
// goes on at it.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

// A goal region that nothing is outside of: the level rises with every iteration that has the steps for it.
std::vector<std::string> EasyGrasp(const std::vector<std::string>& more) {
  std::vector<std::string> all = {"runtime.mode=lockstep",          "task.name=grasp",
                                  "task.objects=[cube_50]",         "task.grasp.goal_tolerance_m=10",
                                  "task.grasp.reach_size=[10, 10]", "task.episode_s=0.2",
                                  "task.randomise.enabled=true",    "task.curriculum.levels=5",
                                  "task.curriculum.advance=true",   "task.curriculum.min_steps=8",
                                  "policy.inference_chunk=4",       "eval.at_start=false",
                                  "eval.blank_image=false"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<double> Column(const std::string& csv, const std::string& name) {
  std::ifstream in(csv);
  std::string line, cell;
  std::getline(in, line);
  size_t index = 0, found = std::string::npos;
  for (std::istringstream header(line); std::getline(header, cell, ','); ++index) {
    if (cell == name) found = index;
  }
  EXPECT_NE(found, std::string::npos) << name << " in " << line;
  std::vector<double> values;
  while (std::getline(in, line)) {
    index = 0;
    for (std::istringstream row(line); std::getline(row, cell, ','); ++index) {
      if (index == found) values.push_back(std::stod(cell));
    }
  }
  return values;
}

class Curriculum : public testing::Test {
 protected:
  std::string Digest(const std::string& name) {
    return ReadJson(folder_ / (name + "/results.json"))["parameters_sha256"];
  }
  std::string Train(const std::string& name, const std::vector<std::string>& more) {
    const Ended ended = RunGripstream(TinyRun(folder_ / name, EasyGrasp(more)));
    EXPECT_EQ(ended.code, 0) << ended.output;
    return Digest(name);
  }
  std::vector<double> Levels(const std::string& name) {
    return Column(folder_ / (name + "/metrics.csv"), "curriculum/level");
  }
  ScratchFolder folder_;
};

// Starts, noise and gains follow the level, so that a simulator that missed one would change what is learned.
TEST_F(Curriculum, TheLevelReachesEverySimulatorOfAnySplitAndTransport) {
  const std::string whole = Train("one", {"train.iterations=6"});
  ASSERT_EQ(whole.size(), 64u);
  const std::vector<double> levels = Levels("one");
  ASSERT_EQ(levels.size(), 6u);
  EXPECT_GE(levels.back(), 2) << "it rose";
  for (const std::string transport : {"shm", "zmq"}) {
    EXPECT_EQ(Train(transport, {"train.iterations=6", "sim.processes=4", "sim.envs=4", "wire.transport=" + transport}),
              whole);
    EXPECT_EQ(Levels(transport), levels);
  }
  EXPECT_NE(Train("fixed", {"train.iterations=6", "task.curriculum.advance=false"}), whole) << "the level matters";
}

TEST_F(Curriculum, AResumedRunGoesOnAtItsLevelOnAnotherSplit) {
  const std::string whole = Train("whole", {"train.iterations=6"});
  Train("parts", {"train.iterations=3", "sim.processes=2", "sim.envs=8", "wire.transport=shm"});
  ASSERT_GT(Levels("parts").back(), 0) << "there is a level to lose";
  const Ended resumed = RunGripstream({"train", "--resume", folder_ / "parts", "--set", "train.iterations=6", "--set",
                                       "sim.processes=4", "--set", "sim.envs=4"});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(Digest("parts"), whole);
  EXPECT_EQ(Levels("parts"), Levels("whole"));
}

}  // namespace
}  // namespace gripstream
