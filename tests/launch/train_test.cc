// Tests launch/command_train.cc and everything below it: real processes, real physics, small sizes.
#include <gmock/gmock.h>

#include <set>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Parameters(const std::string& run_dir) {
  const nlohmann::json results = ReadJson(run_dir + "/results.json");
  return results.is_object() ? results.value("parameters_sha256", "") : "";
}

// Trains and returns the digest of the parameters.
std::string Train(const ScratchFolder& folder, const std::string& name, const std::vector<std::string>& overrides) {
  const Ended ended = RunGripstream(TinyRun(folder / name, overrides));
  EXPECT_EQ(ended.code, 0) << ended.output;
  return Parameters(folder / name);
}

TEST(Train, LeavesACompleteRunFolder) {
  const ScratchFolder folder;
  const Ended ended = RunGripstream(TinyRun(folder / "run"));
  ASSERT_EQ(ended.code, 0) << ended.output;
  for (const char* file : {"config.yaml", "provenance.json", "metrics.csv", "results.json", "evaluation.png",
                           "logs/learner.log", "logs/simulator_0.log", "checkpoints/iteration_000002.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / ("run/" + std::string(file)))) << file;
  }
  const nlohmann::json results = ReadJson(folder / "run/results.json");
  EXPECT_EQ(results["status"], "completed");
  EXPECT_EQ(results["iterations"], 2);
  EXPECT_EQ(results["env_steps"], 2 * 4 * 16);
  EXPECT_EQ(results["parameters_sha256"].get<std::string>().size(), 64u);
  for (const char* key : {"success", "success_at_start", "success_blank_image", "wall_s"}) {
    EXPECT_TRUE(results[key].is_number()) << key;
  }
  EXPECT_EQ(results["success_ci95"].size(), 2u);
  EXPECT_THAT(ended.output, HasSubstr("success"));
  EXPECT_THAT(ended.output, HasSubstr(folder / "run/evaluation.png"));
}

TEST(Train, PipedOutputHasNoControlCharacters) {
  const ScratchFolder folder;
  const Ended ended = RunGripstream(TinyRun(folder / "run"));
  for (const char c : ended.output)
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 32) << static_cast<int>(c);
}

// The chain of equalities: one process over inproc is the reference, whatever carries the records must not change a
// bit.
TEST(Equality, EveryTransportAndSplitGivesTheSingleProcessParameters) {
  const ScratchFolder folder;
  const std::string reference = Train(folder, "inproc", {"wire.transport=inproc", "train.iterations=5"});
  ASSERT_EQ(reference.size(), 64u);
  EXPECT_EQ(Train(folder, "shm", {"wire.transport=shm", "train.iterations=5"}), reference);
  EXPECT_EQ(Train(folder, "zmq", {"wire.transport=zmq", "train.iterations=5"}), reference);
  EXPECT_EQ(Train(folder, "tcp", {"wire.transport=zmq", "wire.address=tcp://127.0.0.1:47113", "train.iterations=5"}),
            reference);
}

TEST(Equality, TwoSimulatorsGiveTheParametersOfOneWithAllTheirEnvironments) {
  const ScratchFolder folder;
  const std::string one = Train(folder, "one", {"train.iterations=5"});
  const std::string two = Train(folder, "two", {"train.iterations=5", "sim.processes=2", "sim.envs=8"});
  ASSERT_EQ(one.size(), 64u);
  EXPECT_EQ(one, two);
}

TEST(Seed, DecidesTheParameters) {
  const ScratchFolder folder;
  const std::string first = Train(folder, "a", {});
  EXPECT_EQ(Train(folder, "b", {}), first);
  EXPECT_NE(Train(folder, "c", {"run.seed=2"}), first);
}

TEST(Resume, NThenNMoreEqualsTwoNBitForBit) {
  const ScratchFolder folder;
  const std::string whole = Train(folder, "whole", {"train.iterations=6"});
  ASSERT_EQ(whole.size(), 64u);
  Train(folder, "parts", {"train.iterations=3"});
  const Ended resumed = RunGripstream({"train", "--resume", folder / "parts", "--set", "train.iterations=6"});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(Parameters(folder / "parts"), whole);
  EXPECT_EQ(ReadJson(folder / "parts/results.json")["iterations"], 6);
}

TEST(Resume, ARunContinuesOnAnotherNumberOfSimulators) {
  const ScratchFolder folder;
  const std::string whole = Train(folder, "whole", {"train.iterations=4"});
  Train(folder, "parts", {"train.iterations=2"});
  const Ended resumed = RunGripstream({"train", "--resume", folder / "parts", "--set", "train.iterations=4", "--set",
                                       "sim.processes=2", "--set", "sim.envs=8"});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(Parameters(folder / "parts"), whole);
}

TEST(Eval, RepeatsTheFinalEvaluation) {
  const ScratchFolder folder;
  Train(folder, "run", {});
  const Ended ended = RunGripstream({"eval", folder / "run", "--json", folder / "eval.json"});
  ASSERT_EQ(ended.code, 0) << ended.output;
  const nlohmann::json again = ReadJson(folder / "eval.json"), before = ReadJson(folder / "run/results.json");
  EXPECT_EQ(again["success"], before["success"]);
  EXPECT_EQ(again["return"], before["return"]);
}

}  // namespace
}  // namespace gripstream
