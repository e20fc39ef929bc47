// A simulator without physics whose records say whose they are, for tests that lose simulators: every observation names
// the environment, its episode, its step, the process that made it and the action that led to it. ExpectWhole then
// finds any sample that is not whole or not where it belongs.
//
// ServeTraced runs on the calling thread, of a process of its own as a rule, until the learner says stop.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "core/done_kind.h"
#include "replay/rollout.h"
#include "tests/learner/fake_simulator.h"

namespace gripstream {

struct TracedOptions {
  int index = 0;  // of equally large simulators; -1: a spare
  int envs = 8, groups = 1;
  double step_s = 0;  // what a step takes
};

// Where an observation of kFakeState numbers says what.
enum Traced { kTracedEnv, kTracedEpisode, kTracedStep, kTracedProcess, kTracedAction };

class TracedSimulator {
 public:
  TracedSimulator(const WireConfig& config, const TracedOptions& options)
      : options_(options), layout_(FakeSpecs(), options.envs / options.groups) {
    Join join;
    join.run_id = "run";
    join.env_begin = options.index < 0 ? kAnyEnvs : static_cast<uint32_t>(options.index * options.envs);
    join.spare = options.index < 0 ? 1 : 0;
    join.env_count = static_cast<uint32_t>(options.envs);
    join.groups = static_cast<uint32_t>(options.groups);
    join.name = options.index < 0 ? "spare" : "sim " + std::to_string(options.index);
    wire_ = ConnectToLearner(config, join, layout_, Deadline::After(30));
    envs_.resize(static_cast<size_t>(options.envs));
  }

  void Serve() {
    for (;;) {
      const Command command = wire_->WaitCommand(Deadline::After(60));
      if (command.kind == CommandKind::kStop) return;
      Obey(command);
    }
  }

 private:
  struct Env {
    uint32_t episode = 0, step = 0;
    float action = 0, reward = 0;
    uint8_t done = 0, success = 0;
  };

  uint32_t Id(size_t env) const { return wire_->EnvBegin() + static_cast<uint32_t>(env); }

  void Obey(const Command& command) {
    const auto count = static_cast<size_t>(layout_.N());
    const std::span<Env> group = std::span(envs_).subspan(command.group * count, count);
    switch (command.kind) {
      case CommandKind::kReset: {
        const EpisodeRequest request = EpisodeRequest::Decode(command.payload);
        for (Env& env : group) env = {.episode = request.first_episode};
        break;
      }
      case CommandKind::kStep:
        std::this_thread::sleep_for(std::chrono::duration<double>(options_.step_s));
        for (size_t i = 0; i < count; ++i) {
          std::memcpy(&group[i].action, command.payload.data() + i * kFakeAction * sizeof(float), sizeof(float));
          Step(group[i]);
        }
        break;
      case CommandKind::kSaveState:
        wire_->SendState(std::as_bytes(group));
        return;
      case CommandKind::kLoadState:
        std::memcpy(static_cast<void*>(group.data()), command.payload.data(), command.payload.size());
        break;
      default:
        return;
    }
    Publish(command.group);
  }

  void Step(Env& env) {
    const uint32_t id = Id(static_cast<size_t>(&env - envs_.data()));
    env.reward = 0.5f + static_cast<float>(id);
    env.done = ++env.step == 2 + id % 3 ? 1 : 0;
    env.success = env.done != 0 && id % 2 == 0;
    if (env.done == 0) return;
    ++env.episode;
    env.step = 0;
  }

  void Publish(uint32_t group) {
    const std::span<std::byte> record = wire_->AcquireRecord(Deadline::After(30));
    if (record.empty()) return;
    const auto count = static_cast<size_t>(layout_.N());
    for (size_t i = 0; i < count; ++i) {
      const Env& env = envs_[group * count + i];
      const std::array<float, kFakeState> says = {static_cast<float>(Id(group * count + i)),
                                                  static_cast<float>(env.episode), static_cast<float>(env.step),
                                                  static_cast<float>(getpid()), env.action};
      for (const char* name : {"obs.proprio", "state"}) {
        std::copy(says.begin(), says.end(), &layout_.View<float>(record, name)[i * kFakeState]);
      }
      layout_.View<float>(record, "reward")[i] = env.reward;
      layout_.View<uint8_t>(record, "done")[i] = env.done;
      layout_.View<uint8_t>(record, "success")[i] = env.success;
      layout_.View<int32_t>(record, "object_id")[i] = 0;
    }
    RecordHeader& header = Layout::Header(record);
    header.group = group;
    header.env_begin = Id(group * count);
    wire_->PublishRecord();
  }

  TracedOptions options_;
  Layout layout_;
  std::unique_ptr<SimulatorEnd> wire_;
  std::vector<Env> envs_;
};

inline void ServeTraced(const WireConfig& config, const TracedOptions& options) {
  TracedSimulator(config, options).Serve();
}

// Whether there is a sample here: neither lost nor carried into another rollout.
inline bool Counts(const RolloutStore& store, int t, int env) {
  return store.AfterAction("done")[t][env].item<int>() < static_cast<int>(DoneKind::kLost);
}

// Every sample that counts is an action, what it was taken on and what it led to, of one environment in
// one process, in its own column.
inline void ExpectWhole(const RolloutStore& store) {
  const torch::Tensor state = store.Record("state"), done = store.AfterAction("done");
  for (int t = 0; t < store.Horizon(); ++t) {
    for (int env = 0; env < store.Envs(); ++env) {
      if (!Counts(store, t, env)) continue;
      const auto* before = state[t][env].const_data_ptr<float>();
      const auto* after = state[t + 1][env].const_data_ptr<float>();
      const std::string where = "step " + std::to_string(t) + ", environment " + std::to_string(env);
      ASSERT_EQ(before[kTracedEnv], static_cast<float>(env)) << where;
      ASSERT_EQ(after[kTracedEnv], static_cast<float>(env)) << where;
      ASSERT_NE(before[kTracedProcess], 0) << where;
      ASSERT_EQ(before[kTracedProcess], after[kTracedProcess]) << where;
      ASSERT_EQ(after[kTracedAction], store.Action()[t][env][0].item<float>()) << where;
      const bool ended = done[t][env].item<int>() != 0;
      ASSERT_EQ(ended, before[kTracedStep] + 1 == static_cast<float>(2 + env % 3)) << where;
      ASSERT_EQ(after[kTracedEpisode], before[kTracedEpisode] + (ended ? 1 : 0)) << where;
      ASSERT_EQ(after[kTracedStep], ended ? 0 : before[kTracedStep] + 1) << where;
    }
  }
}

inline int64_t LostSamples(const RolloutStore& store) {
  return store.AfterAction("done").eq(static_cast<int>(DoneKind::kLost)).sum().item<int64_t>();
}

}  // namespace gripstream
