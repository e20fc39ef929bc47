// Tests launch/acting.h, learner/acting_fleet.cc and sim_server/acting with real roles: where inference happens changes
// nothing but who does it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

constexpr int kEnvs = 24;

class Placement : public testing::Test {
 protected:
  // The digest of the parameters after a run; empty when it failed.
  std::string Train(const std::string& name, std::vector<std::string> more) {
    more.insert(more.end(), {"policy.inference_chunk=4", "eval.at_start=false", "eval.blank_image=false"});
    const Ended ended = RunGripstream(TinyRun(folder_ / name, more));
    EXPECT_EQ(ended.code, 0) << name << ": " << ended.output;
    return Digest(name);
  }
  std::string Digest(const std::string& name) const {
    const nlohmann::json results = ReadJson(folder_ / (name + "/results.json"));
    return results.is_object() ? results.value("parameters_sha256", "") : "";
  }
  static std::vector<std::string> Split(int simulators) {
    return {"sim.processes=" + std::to_string(simulators), "sim.envs=" + std::to_string(kEnvs / simulators)};
  }
  static std::vector<std::string> With(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  ScratchFolder folder_;
};

TEST_F(Placement, InSimulatorsLearnsTheSameBitsAsInTheLearner) {
  const std::vector<std::string> run = {"train.iterations=4", "train.checkpoint_every=4", "runtime.mode=lockstep"};
  const std::string reference = Train("reference", With(Split(1), run));
  ASSERT_FALSE(reference.empty());
  const std::vector<std::string> placed = With(run, {"runtime.inference=simulator"});
  EXPECT_EQ(Train("single", With(With(Split(1), placed), {"wire.transport=inproc"})), reference);
  for (const char* transport : {"shm", "zmq"}) {
    for (const int simulators : {1, 2, 3}) {
      const std::string name = transport + std::to_string(simulators);
      const std::string wire = std::string("wire.transport=") + transport;
      EXPECT_EQ(Train(name, With(With(Split(simulators), placed), {wire})), reference) << name;
    }
  }
  EXPECT_EQ(Train("async", With(Split(2), With(placed, {"runtime.mode=async"}))), reference);
}

TEST_F(Placement, InSimulatorsIsAsStaleAsInTheLearner) {
  const std::vector<std::string> run = {"train.iterations=6", "train.checkpoint_every=6", "runtime.mode=async",
                                        "runtime.max_staleness=2", "run.deterministic=true"};
  // In the learner half-batches must be whole chunks: 24 environments have two of 12.
  const std::string reference = Train("learner", With(Split(1), run));
  ASSERT_FALSE(reference.empty());
  EXPECT_EQ(Train("simulator", With(Split(2), With(run, {"runtime.inference=simulator"}))), reference);
}

TEST_F(Placement, ARunGoesOnInTheOtherPlaceAndOnAnotherSplit) {
  const std::vector<std::string> run = {"train.checkpoint_every=2", "runtime.mode=lockstep"};
  const std::string whole = Train("whole", With(Split(1), With(run, {"train.iterations=4"})));
  ASSERT_FALSE(whole.empty());
  Train("parts", With(Split(2), With(run, {"train.iterations=2", "runtime.inference=simulator"})));
  const auto go_on = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"train", "--resume", folder_ / "parts"};
    for (const std::string& assignment : more) arguments.insert(arguments.end(), {"--set", assignment});
    const Ended ended = RunGripstream(arguments);
    EXPECT_EQ(ended.code, 0) << ended.output;
  };
  go_on({"train.iterations=3"});
  go_on({"train.iterations=4", "runtime.inference=learner", "sim.processes=3", "sim.envs=8"});
  EXPECT_EQ(Digest("parts"), whole);
}

TEST_F(Placement, EvaluationAndMetricsDoNotMindWhoActs) {
  const std::vector<std::string> run = {"train.iterations=2", "runtime.mode=lockstep"};
  Train("learner", With(Split(2), run));
  Train("simulator", With(Split(2), With(run, {"runtime.inference=simulator"})));
  nlohmann::json a = ReadJson(folder_ / "learner/results.json"), b = ReadJson(folder_ / "simulator/results.json");
  EXPECT_EQ(a["success"], b["success"]);
  EXPECT_EQ(a["return"], b["return"]);
  const Ended ended = RunGripstream({"eval", folder_ / "simulator", "--json", folder_ / "again.json"});
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(ReadJson(folder_ / "again.json")["success"], b["success"]);
  std::ifstream csv(folder_ / "simulator/metrics.csv");
  const std::string metrics{std::istreambuf_iterator<char>(csv), {}};
  EXPECT_THAT(metrics, HasSubstr("time/inference_s"));
}

TEST_F(Placement, WhereItDoesNotFitIsRefusedByName) {
  const auto refused = [&](std::vector<std::string> more, const std::vector<std::string>& parts) {
    more.emplace_back("runtime.inference=simulator");
    const Ended ended = RunGripstream(TinyRun(folder_ / "refused", more), 30);
    EXPECT_EQ(ended.code, 2) << ended.output;
    for (const std::string& part : parts) EXPECT_THAT(ended.output, HasSubstr(part));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "refused"));
  };
  refused({}, {"runtime.inference", "double_buffered", "lockstep and async"});
  refused({"runtime.mode=data_parallel"}, {"runtime.inference", "data_parallel"});
  refused({"runtime.mode=lockstep", "policy.actor_rnn.kind=gru"}, {"runtime.inference", "actor_rnn"});
  refused({"runtime.mode=lockstep", "sim.processes=2", "sim.envs=12"}, {"sim.envs", "12", "inference_chunk = 8"});
}

TEST_F(Placement, TheSimulatorWithoutLibTorchSaysThatItCannotAct) {
  Train("run", {"train.iterations=1", "runtime.mode=lockstep", "runtime.inference=simulator"});
  Command command({Program("gripstream-sim"), folder_ / "run"});
  EXPECT_EQ(command.Wait(30), 2);
  EXPECT_THAT(command.Output(), HasSubstr("gripstream-sim-acting"));
}

}  // namespace
}  // namespace gripstream
