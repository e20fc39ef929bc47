// Tests sim_server/role.h and local_envs.h: a real simulator behind the wire, with a learner's end in the test's own
// hands.
#include "sim_server/role.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "envs/env_batch.h"
#include "sim_server/local_envs.h"
#include "wire/episode_request.h"

namespace gripstream {
namespace {

constexpr double kPatience_s = 30;
constexpr int kEnvs = 6;

SimulatorOptions Options(int groups) {
  SimulatorOptions options;
  options.sim.envs = kEnvs;
  options.sim.render_threads = options.physics.threads = 1;
  options.render.width = 16;
  options.render.height = 12;
  options.task.objects = {"cube_50", "mug"};
  options.task.held_out_objects = {};
  options.task.episode_s = 0.3;
  options.groups = groups;
  return options;
}

// A served simulator and the learner's end of its wire.
class Served {
 public:
  explicit Served(int groups) : groups_(groups), simulator_(Options(groups)) {
    static int count = 0;
    WireConfig config;
    config.transport = "inproc";
    config.address = "role test " + std::to_string(++count);
    const std::vector<TensorSpec> specs = simulator_.RecordSpecs();
    wire_ = ListenForSimulators(config, {.run_id = "", .specs = specs, .config_hash = 0, .total_envs = kEnvs});
    thread_ = std::jthread([this, config] { Serve(config); });
    wire_->WaitForSimulators(1, Deadline::After(kPatience_s));
  }
  ~Served() { wire_->Stop("the test is over", Deadline::After(kPatience_s)); }

  // One command to every group, its share of `payload` each; gathers the answers' tensors in environment order.
  std::map<std::string, std::vector<std::byte>> Command(CommandKind kind, std::span<const std::byte> payload,
                                                        bool shared) {
    const size_t part = shared ? payload.size() : payload.size() / static_cast<size_t>(groups_);
    for (int group = 0; group < groups_; ++group) {
      const size_t begin = shared ? 0 : static_cast<size_t>(group) * part;
      wire_->Send(0, kind, 0, payload.subspan(begin, part), static_cast<uint32_t>(group));
    }
    std::map<std::string, std::vector<std::byte>> tensors;
    for (int group = 0; group < groups_; ++group) {
      const Received received = wire_->ReceiveRecord(0, Deadline::After(kPatience_s));
      EXPECT_EQ(received.header.group, static_cast<uint32_t>(group));
      EXPECT_EQ(received.header.env_begin, static_cast<uint32_t>(group * kEnvs / groups_));
      const Layout& layout = wire_->RecordLayout(0);
      for (size_t i = 0; i < layout.Specs().size(); ++i) {
        const auto index = static_cast<int>(i);
        const auto block = received.record.subspan(layout.Offset(index), layout.TensorBytes(index));
        std::vector<std::byte>& tensor = tensors[layout.Specs()[i].name];
        tensor.insert(tensor.end(), block.begin(), block.end());
      }
      wire_->ReleaseRecord(0, received);
    }
    return tensors;
  }
  std::map<std::string, std::vector<std::byte>> Reset() {
    return Command(CommandKind::kReset, EpisodeRequest{}.Encode(), true);
  }
  // Every action component the same small number, another one at each step.
  std::map<std::string, std::vector<std::byte>> Step(int t) {
    const std::vector<float> actions(kEnvs * simulator_.ActionSpec().Elements(), 0.3f * static_cast<float>(t % 3 - 1));
    return Command(CommandKind::kStep, std::as_bytes(std::span(actions)), false);
  }
  std::vector<std::byte> States() {
    std::vector<std::byte> states;
    for (int group = 0; group < groups_; ++group) {
      wire_->Send(0, CommandKind::kSaveState, 0, {}, static_cast<uint32_t>(group));
      const std::vector<std::byte> part = wire_->ReceiveState(0, Deadline::After(kPatience_s));
      states.insert(states.end(), part.begin(), part.end());
    }
    return states;
  }
  LearnerEnd& Wire() { return *wire_; }

 private:
  void Serve(const WireConfig& config) {
    try {
      Join join;
      join.env_count = kEnvs;
      join.groups = static_cast<uint32_t>(groups_);
      const Layout layout(simulator_.RecordSpecs(), simulator_.GroupEnvs());
      simulator_.Serve(*ConnectToLearner(config, join, layout, Deadline::After(kPatience_s)), kPatience_s);
    } catch (const RunError&) {
      // The learner has been told over the wire.
    }
  }

  int groups_;
  Simulator simulator_;
  std::unique_ptr<LearnerEnd> wire_;
  std::jthread thread_;
};

TEST(Simulator, GroupsChangeNoBitOfTheRecords) {
  Served whole(1), halves(2), thirds(3);
  const auto reference = whole.Reset();
  EXPECT_EQ(halves.Reset(), reference);
  EXPECT_EQ(thirds.Reset(), reference);
  for (int t = 0; t < 5; ++t) {  // past the end of an episode
    const auto step = whole.Step(t);
    EXPECT_NE(step, reference);
    EXPECT_EQ(halves.Step(t), step) << t;
    EXPECT_EQ(thirds.Step(t), step) << t;
  }
}

std::map<std::string, std::vector<std::byte>> TensorsOf(const LocalEnvs& envs, OwnRecord& record) {
  const Layout& layout = envs.RecordLayout();
  std::map<std::string, std::vector<std::byte>> tensors;
  for (int i = 0; i < static_cast<int>(layout.Specs().size()); ++i) {
    const auto block = record.Bytes().subspan(layout.Offset(i), layout.TensorBytes(i));
    tensors[layout.Specs()[static_cast<size_t>(i)].name].assign(block.begin(), block.end());
  }
  return tensors;
}

TEST(LocalEnvs, GiveTheRecordsThatASimulatorSends) {
  Served served(1);
  LocalEnvs envs(Options(1));
  std::vector<std::shared_ptr<OwnRecord>> kept = {envs.TakeRecord()};
  envs.Reset(std::nullopt, *kept.back());
  std::vector<std::map<std::string, std::vector<std::byte>>> sent = {served.Reset()};
  for (int t = 0; t < 5; ++t) {
    sent.push_back(served.Step(t));
    const std::vector<float> actions(kEnvs * envs.Envs().ActionSpec().Elements(), 0.3f * static_cast<float>(t % 3 - 1));
    envs.Step(actions, *kept.emplace_back(envs.TakeRecord()));
  }
  for (size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(TensorsOf(envs, *kept[i]), sent[i]) << i;
}

TEST(LocalEnvs, RecordsAreUsedAgainOnceNobodyHoldsThem) {
  LocalEnvs envs(Options(1));
  std::shared_ptr<OwnRecord> first = envs.TakeRecord();
  const std::byte* const memory = first->Bytes().data();
  const std::shared_ptr<OwnRecord> second = envs.TakeRecord();
  EXPECT_NE(second->Bytes().data(), memory);
  first.reset();
  EXPECT_EQ(envs.TakeRecord()->Bytes().data(), memory);
}

TEST(LocalEnvs, ASeedBeginsThatRunAndNoneGoesOnWithTheNextEpisodes) {
  LocalEnvs envs(Options(1)), other([] {
    SimulatorOptions options = Options(1);
    options.seed = 7;
    return options;
  }());
  const auto reset = [](LocalEnvs& of, std::optional<uint64_t> seed) {
    const std::shared_ptr<OwnRecord> record = of.TakeRecord();
    of.Reset(seed, *record);
    return TensorsOf(of, *record);
  };
  const auto first = reset(envs, std::nullopt), second = reset(envs, std::nullopt);
  EXPECT_NE(first.at("obs.depth"), second.at("obs.depth"));
  EXPECT_EQ(reset(envs, 1), first) << "the seed it was built with";
  EXPECT_EQ(reset(envs, std::nullopt), second);
  EXPECT_EQ(reset(envs, 7), reset(other, 7));
}

TEST(Simulator, StatesSavedInGroupsFitAnyGrouping) {
  Served halves(2), whole(1);
  halves.Reset();
  halves.Step(0);
  const auto saved_at = halves.Step(2);
  const std::vector<std::byte> states = halves.States();
  EXPECT_EQ(whole.Command(CommandKind::kLoadState, states, false).at("obs.depth"), saved_at.at("obs.depth"));
  EXPECT_EQ(whole.States(), states);
  EXPECT_EQ(whole.Step(0), halves.Step(0));
}

TEST(Simulator, ActionsOfTheWrongSizeEndItAndTheLearnerIsTold) {
  Served halves(2);
  halves.Reset();
  const std::vector<std::byte> short_actions(8);
  try {
    halves.Command(CommandKind::kStep, short_actions, true);
    FAIL() << "8 bytes of actions were taken";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("step command of 8 bytes of actions"));
  }
}

}  // namespace
}  // namespace gripstream
