// A simulator without physics behind the real wire (inproc), for tests of the learner's side: an environment is five
// numbers that follow from its id, its episode and its actions, and its episodes last 2 + id % 3 steps.
//
// The simulator runs on a thread of its own until the learner says stop or goes away.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/tensor_spec.h"
#include "wire/episode_request.h"
#include "wire/transport.h"

namespace gripstream {

inline constexpr int kFakeState = 5, kFakeAction = 2, kFakeImage_px = 4;

inline std::vector<TensorSpec> FakeSpecs() {
  return {{"obs.proprio", DType::kFloat32, {kFakeState}, "", 1.0},
          {"obs.depth", DType::kUint16, {kFakeImage_px, kFakeImage_px}, "m", 1e-4},
          {"state", DType::kFloat32, {kFakeState}, "", 1.0},
          {"reward", DType::kFloat32, {}, "", 1.0},
          {"done", DType::kUint8, {}, "", 1.0},
          {"success", DType::kUint8, {}, "", 1.0},
          {"object_id", DType::kInt32, {}, "", 1.0},
          {"metrics", DType::kFloat32, {2}, "", 1.0}};  // step of the episode, 1 at the first step of every fourth
}

struct FakeSimulatorOptions {
  int env_begin = 0, env_count = 0, groups = 1;
  // Publishes the record of any group but the last only when the next group has been commanded too: a learner that
  // waits for one group before it acts for the next one never gets it.
  bool waits_for_next_group = false;
  int fails_at_step = 0;      // reports a failure instead of obeying this step command; 0: never
  bool swaps_groups = false;  // says 1 in the records of group 0, and the other way round
};

class FakeSimulator {
 public:
  FakeSimulator(const WireConfig& config, const FakeSimulatorOptions& options)
      : config_(config),
        options_(options),
        layout_(FakeSpecs(), options.env_count / options.groups),
        envs_(static_cast<size_t>(options.env_count)),
        thread_([this] { Run(); }) {}

 private:
  struct Env {
    std::array<float, kFakeState> state{};
    uint32_t episode = 0, step = 0;
    float reward = 0;
    uint8_t done = 0, success = 0;
    std::array<float, 2> metrics{};
  };

  uint32_t Id(size_t env) const { return static_cast<uint32_t>(options_.env_begin) + static_cast<uint32_t>(env); }
  std::span<Env> GroupOf(const Command& command) {
    const auto count = static_cast<size_t>(layout_.N());
    return std::span(envs_).subspan(command.group * count, count);
  }

  void Begin(Env& env) const {
    const uint32_t id = Id(static_cast<size_t>(&env - envs_.data()));
    for (size_t k = 0; k < env.state.size(); ++k) {
      env.state[k] = 0.1f * static_cast<float>((id * 7 + env.episode * 3 + k) % 11) - 0.5f;
    }
    env.step = 0;
  }

  void Step(Env& env, std::span<const float> action) const {
    const uint32_t id = Id(static_cast<size_t>(&env - envs_.data()));
    for (size_t k = 0; k < env.state.size(); ++k) env.state[k] = 0.7f * env.state[k] + 0.2f * action[k % kFakeAction];
    env.reward = env.state[0] + 0.3f * static_cast<float>(id);
    env.done = ++env.step == 2 + id % 3;
    env.success = env.done != 0 && id % 2 == 0;
    env.metrics = {static_cast<float>(env.step), env.step == 1 && id % 4 == 1 ? 1.0f : 0.0f};
    if (env.done == 0) return;
    ++env.episode;
    Begin(env);
  }

  void Run() {
    Join join;
    join.run_id = "run";
    join.env_begin = static_cast<uint32_t>(options_.env_begin);
    join.env_count = static_cast<uint32_t>(options_.env_count);
    join.groups = static_cast<uint32_t>(options_.groups);
    join.name = "fake " + std::to_string(options_.env_begin);
    try {
      const std::unique_ptr<SimulatorEnd> wire = ConnectToLearner(config_, join, layout_, Deadline::After(10));
      while (Obey(*wire, wire->WaitCommand(Deadline::After(20)))) {
      }
    } catch (const RunError&) {
      // The learner went first, as it does in tests of its failures.
    }
  }

  bool Obey(SimulatorEnd& wire, const Command& command) {
    const std::span<Env> group = GroupOf(command);
    switch (command.kind) {
      case CommandKind::kReset:
        for (Env& env : group) {
          env = {};
          env.episode = EpisodeRequest::Decode(command.payload).first_episode;
          Begin(env);
        }
        break;
      case CommandKind::kStep: {
        if (++steps_ == options_.fails_at_step) {
          wire.SendFailure("out of order");
          return false;
        }
        const auto* actions = reinterpret_cast<const float*>(command.payload.data());
        for (size_t i = 0; i < group.size(); ++i) Step(group[i], {actions + i * kFakeAction, kFakeAction});
        break;
      }
      case CommandKind::kSaveState:
        wire.SendState(std::as_bytes(group));
        return true;
      case CommandKind::kLoadState:
        std::memcpy(static_cast<void*>(group.data()), command.payload.data(), command.payload.size());
        break;
      case CommandKind::kSetLevel:
        return true;  // it has no curriculum
      case CommandKind::kPolicy:
      case CommandKind::kAct:
        wire.SendFailure("cannot act");
        return false;
      case CommandKind::kStop:
        return false;
    }
    owed_.push_back(command.group);
    if (options_.waits_for_next_group && command.group + 1 < static_cast<uint32_t>(options_.groups)) return true;
    for (const uint32_t owed : owed_) Publish(wire, owed);
    owed_.clear();
    return true;
  }

  void Publish(SimulatorEnd& wire, uint32_t group) {
    const std::span<std::byte> record = wire.AcquireRecord(Deadline::After(10));
    if (record.empty()) return;
    const auto count = static_cast<size_t>(layout_.N());
    for (size_t i = 0; i < count; ++i) {
      const Env& env = envs_[group * count + i];
      for (const char* name : {"obs.proprio", "state"}) {
        std::copy(env.state.begin(), env.state.end(), &layout_.View<float>(record, name)[i * kFakeState]);
      }
      for (size_t p = 0; p < kFakeImage_px * kFakeImage_px; ++p) {
        layout_.View<uint16_t>(record, "obs.depth")[i * kFakeImage_px * kFakeImage_px + p] =
            static_cast<uint16_t>(1000 * Id(group * count + i) + p);
      }
      layout_.View<float>(record, "reward")[i] = env.reward;
      layout_.View<uint8_t>(record, "done")[i] = env.done;
      layout_.View<uint8_t>(record, "success")[i] = env.success;
      std::copy(env.metrics.begin(), env.metrics.end(), &layout_.View<float>(record, "metrics")[i * 2]);
      layout_.View<int32_t>(record, "object_id")[i] = static_cast<int32_t>(Id(group * count + i) % 4);
    }
    RecordHeader& header = Layout::Header(record);
    header.group = options_.swaps_groups ? 1 - group : group;
    header.env_begin = Id(group * count);
    wire.PublishRecord();
  }

  WireConfig config_;
  FakeSimulatorOptions options_;
  Layout layout_;
  std::vector<Env> envs_;
  int steps_ = 0;
  std::vector<uint32_t> owed_;  // groups whose record has not been published
  std::jthread thread_;         // last: it uses the rest
};

}  // namespace gripstream
