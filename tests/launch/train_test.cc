// Tests launch/command_train.cc and everything below it: real processes, real physics, small sizes.
#include <gmock/gmock.h>

#include <set>

#include "core/error.h"
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
  for (const char* key : {"success", "success_at_start", "success_blank_image", "success_held_out", "wall_s"}) {
    EXPECT_TRUE(results[key].is_number()) << key;
  }
  EXPECT_EQ(results["success_ci95"].size(), 2u);
  for (const auto& [name, counts] : results["held_out"]["objects"].items())
    EXPECT_FALSE(results["objects"].contains(name)) << name;
  int failed = 0;
  for (const auto& [name, episodes] : results["failures"].items()) failed += episodes.get<int>();
  EXPECT_EQ(failed, std::lround(16 * (1 - results["success"].get<double>())));
  EXPECT_THAT(ended.output, HasSubstr("success"));
  EXPECT_THAT(ended.output, HasSubstr(folder / "run/evaluation.png"));
}

TEST(Train, PipedOutputHasNoControlCharacters) {
  const ScratchFolder folder;
  const Ended ended = RunGripstream(TinyRun(folder / "run"));
  for (const char c : ended.output)
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 32) << static_cast<int>(c);
}

// Trains five iterations of 24 environments over `simulators` processes. Returns what was learned and how it fares: the
// digest of the parameters and the evaluation's return to the last digit.
std::string FiveIterations(const ScratchFolder& folder, const std::string& mode, const std::string& transport,
                           int simulators, std::vector<std::string> more = {}) {
  const std::string name = mode + transport + std::to_string(simulators);
  more.insert(more.end(),
              {"runtime.mode=" + mode, "wire.transport=" + transport, "sim.processes=" + std::to_string(simulators),
               "sim.envs=" + std::to_string(24 / simulators), "train.iterations=5", "train.checkpoint_every=5",
               "policy.inference_chunk=2", "eval.at_start=false", "eval.blank_image=false"});
  const std::string parameters = Train(folder, name, more);
  return parameters + " " + ReadJson(folder / (name + "/results.json"))["return"].dump();
}

// The chain of equalities: one process over inproc in lock-step is the reference. Neither what carries the records, nor
// how many simulators hold the environments, nor whether they step them in halves may change a bit.
TEST(Equality, EveryModeTransportAndSplitGivesTheSingleProcessParameters) {
  const ScratchFolder folder;
  const std::string reference = FiveIterations(folder, "lockstep", "inproc", 1);
  ASSERT_GT(reference.size(), 64u);
  for (const char* mode : {"double_buffered", "async"}) {
    EXPECT_EQ(FiveIterations(folder, mode, "inproc", 1), reference) << mode;
  }
  for (const char* mode : {"lockstep", "double_buffered", "async"}) {
    for (const char* transport : {"shm", "zmq"}) {
      for (const int simulators : {1, 2, 3}) {
        EXPECT_EQ(FiveIterations(folder, mode, transport, simulators), reference)
            << mode << " over " << transport << " with " << simulators;
      }
    }
  }
}

// Sequences of half a rollout, in which episodes end.
std::vector<std::string> WithMemory(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"policy.actor_rnn.kind=lstm", "policy.actor_rnn.units=8", "policy.critic_rnn.kind=gru",
                           "policy.critic_rnn.units=6", "ppo.horizon=8", "ppo.sequence=4", "task.episode_s=0.2",
                           "policy.normalise_values=true"});
  return more;
}

TEST(Equality, APolicyWithMemoryIsTheSameInEveryModeAndOnEverySplit) {
  const ScratchFolder folder;
  const std::string reference = FiveIterations(folder, "lockstep", "inproc", 1, WithMemory());
  ASSERT_GT(reference.size(), 64u);
  EXPECT_EQ(FiveIterations(folder, "lockstep", "shm", 2, WithMemory()), reference);
  EXPECT_EQ(FiveIterations(folder, "double_buffered", "zmq", 3, WithMemory()), reference);
  EXPECT_EQ(FiveIterations(folder, "async", "shm", 1, WithMemory({"runtime.max_staleness=0"})), reference);
  EXPECT_NE(FiveIterations(folder, "lockstep", "shm", 1, {"ppo.horizon=8", "task.episode_s=0.2"}), reference);
}

TEST(Equality, ATcpConnectionGivesThemToo) {
  const ScratchFolder folder;
  const std::string reference = FiveIterations(folder, "lockstep", "inproc", 1);
  ASSERT_GT(reference.size(), 64u);
  EXPECT_EQ(FiveIterations(folder, "double_buffered", "zmq", 2, {"wire.address=tcp://127.0.0.1:47113"}), reference);
}

TEST(Equality, AStaleDeterministicRunIsTheSameAgainAndOnAnySplit) {
  const ScratchFolder folder;
  const std::vector<std::string> stale = {"run.deterministic=true", "runtime.max_staleness=2"};
  const std::string once = FiveIterations(folder, "async", "shm", 1, stale);
  ASSERT_GT(once.size(), 64u);
  EXPECT_EQ(FiveIterations(folder, "async", "zmq", 2, stale), once);
  EXPECT_EQ(FiveIterations(folder, "async", "inproc", 1, stale), once);
  EXPECT_NE(FiveIterations(folder, "lockstep", "inproc", 1), once);
}

TEST(Equality, BothModesShowTheSameEpisodesInPictures) {
  const ScratchFolder folder;
  const auto picture = [&](const std::string& mode) {
    Train(folder, mode, {"runtime.mode=" + mode});
    std::ifstream in(folder / (mode + "/evaluation.png"), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string lockstep = picture("lockstep");
  ASSERT_FALSE(lockstep.empty());
  EXPECT_TRUE(picture("double_buffered") == lockstep);
}

TEST(Seed, DecidesTheParameters) {
  const ScratchFolder folder;
  const std::string first = Train(folder, "a", {});
  EXPECT_EQ(Train(folder, "b", {}), first);
  EXPECT_NE(Train(folder, "c", {"run.seed=2"}), first);
}

class ResumedRun : public testing::Test {
 protected:
  // Goes on with the run `name` up to `iterations`; returns the digest of the parameters.
  std::string Continue(const std::string& name, int iterations, const std::vector<std::string>& overrides) {
    std::vector<std::string> arguments = {"train", "--resume", folder_ / name, "--set",
                                          "train.iterations=" + std::to_string(iterations)};
    for (const std::string& assignment : overrides) arguments.insert(arguments.end(), {"--set", assignment});
    const Ended resumed = RunGripstream(arguments);
    EXPECT_EQ(resumed.code, 0) << resumed.output;
    EXPECT_EQ(ReadJson(folder_ / (name + "/results.json"))["iterations"], iterations);
    return Parameters(folder_ / name);
  }
  ScratchFolder folder_;
};

class Resume : public ResumedRun, public testing::WithParamInterface<const char*> {
 protected:
  std::string Mode() const { return std::string("runtime.mode=") + GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(InEachMode, Resume, testing::Values("lockstep", "double_buffered", "async"));

TEST_P(Resume, NThenNMoreEqualsTwoNBitForBit) {
  const std::string whole = Train(folder_, "whole", {Mode(), "train.iterations=6"});
  ASSERT_EQ(whole.size(), 64u);
  Train(folder_, "parts", {Mode(), "train.iterations=3"});
  EXPECT_EQ(Continue("parts", 6, {}), whole);
}

TEST_P(Resume, ARunContinuesOnAnotherNumberOfSimulatorsAndInTheOtherMode) {
  const std::vector<std::string> small = {Mode(), "policy.inference_chunk=4"};
  const auto with = [&](const char* iterations) {
    std::vector<std::string> overrides = small;
    overrides.push_back(iterations);
    return overrides;
  };
  const std::string whole = Train(folder_, "whole", with("train.iterations=4"));
  ASSERT_EQ(whole.size(), 64u);
  Train(folder_, "parts", with("train.iterations=2"));
  const std::string other = GetParam() == std::string("lockstep") ? "double_buffered" : "lockstep";
  EXPECT_EQ(Continue("parts", 4, {"runtime.mode=" + other, "sim.processes=2", "sim.envs=8"}), whole);
}

TEST_F(ResumedRun, AStaleDeterministicRunGoesOnExactlyWhereItSavedACheckpoint) {
  const std::vector<std::string> stale = {"runtime.mode=async", "runtime.max_staleness=2", "train.checkpoint_every=3"};
  const auto with = [&](const char* iterations) {
    std::vector<std::string> overrides = stale;
    overrides.push_back(iterations);
    return overrides;
  };
  const std::string whole = Train(folder_, "whole", with("train.iterations=6"));
  ASSERT_EQ(whole.size(), 64u);
  Train(folder_, "parts", with("train.iterations=3"));
  EXPECT_EQ(Continue("parts", 6, {}), whole);
}

TEST_P(Resume, APolicyWithMemoryGoesOnExactlyAlsoOnAnotherSplit) {
  const std::string whole =
      Train(folder_, "whole", WithMemory({Mode(), "policy.inference_chunk=4", "train.iterations=4"}));
  ASSERT_EQ(whole.size(), 64u);
  Train(folder_, "parts", WithMemory({Mode(), "policy.inference_chunk=4", "train.iterations=2"}));
  EXPECT_EQ(Continue("parts", 4, {"sim.processes=2", "sim.envs=8"}), whole);
}

TEST_F(ResumedRun, AStaleRunOfAPolicyWithMemoryGoesOnExactlyWithVTrace) {
  const auto with = [](const char* iterations) {
    return WithMemory({"runtime.mode=async", "runtime.max_staleness=2", "train.checkpoint_every=3",
                       "ppo.off_policy=vtrace", iterations});
  };
  const std::string whole = Train(folder_, "whole", with("train.iterations=6"));
  ASSERT_EQ(whole.size(), 64u);
  Train(folder_, "parts", with("train.iterations=3"));
  EXPECT_EQ(Continue("parts", 6, {}), whole);
}

TEST(Eval, JudgesARunThatIsStillUnderWay) {
  const ScratchFolder folder;
  std::vector<std::string> arguments =
      TinyRun(folder / "run", {"train.iterations=100000", "train.checkpoint_every=100", "wire.transport=shm"});
  arguments.insert(arguments.begin(), Program("gripstream"));
  Command training(arguments);
  const std::string checkpoint = folder / "run/checkpoints/iteration_000100.safetensors";
  for (const Deadline patience = Deadline::After(60); !std::filesystem::exists(checkpoint);) {
    ASSERT_FALSE(patience.Passed()) << training.Output();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const Ended ended = RunGripstream({"eval", folder / "run"});
  EXPECT_EQ(ended.code, 0) << ended.output;
  kill(training.Pid(), SIGINT);
  EXPECT_EQ(training.Wait(60), kExitFailed) << training.Output();
}

TEST(Eval, RepeatsTheFinalEvaluation) {
  const ScratchFolder folder;
  Train(folder, "run", WithMemory());
  const Ended ended = RunGripstream({"eval", folder / "run", "--json", folder / "eval.json"});
  ASSERT_EQ(ended.code, 0) << ended.output;
  const nlohmann::json again = ReadJson(folder / "eval.json"), before = ReadJson(folder / "run/results.json");
  EXPECT_EQ(again["success"], before["success"]);
  EXPECT_EQ(again["return"], before["return"]);
}

}  // namespace
}  // namespace gripstream
