#include "replay/returns.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"

namespace gripstream {
namespace {

void CheckSizes(const ReturnInputs& in, std::span<const float> advantage, std::span<const float> target) {
  const size_t samples = static_cast<size_t>(in.horizon) * static_cast<size_t>(in.envs);
  GS_CHECK(in.reward.size() == samples && in.done.size() == samples && in.final_value.size() == samples,
           "reward, done and final_value must be [T, N]");
  GS_CHECK(in.value.size() == samples + static_cast<size_t>(in.envs), "value must be [T + 1, N]");
  GS_CHECK(advantage.size() == samples && target.size() == samples, "outputs must be [T, N]");
}

// What follows the action at sample i: the value to bootstrap from, and whether the trace goes on to step t + 1.
struct Continuation {
  float value;
  float trace;
};

Continuation After(const ReturnInputs& in, const ReturnOptions& options, size_t i) {
  switch (static_cast<DoneKind>(in.done[i])) {
    case DoneKind::kRunning:
      return {in.value[i + static_cast<size_t>(in.envs)], 1.0f};
    case DoneKind::kTimedOut:
      return {options.bootstrap_timeouts ? in.final_value[i] : 0.0f, 0.0f};
    case DoneKind::kTerminated:
    case DoneKind::kFaulted:
    case DoneKind::kLost:
    case DoneKind::kCarried:
      return {0.0f, 0.0f};
  }
  GS_CHECK(false, "done kind " + std::to_string(in.done[i]));
}

bool Unusable(const ReturnInputs& in, size_t i) {
  return in.done[i] >= static_cast<uint8_t>(DoneKind::kFaulted);
}

}  // namespace

void Gae(const ReturnInputs& in, const ReturnOptions& options, std::span<float> advantage, std::span<float> target) {
  CheckSizes(in, advantage, target);
  const size_t envs = static_cast<size_t>(in.envs);
  for (int t = in.horizon - 1; t >= 0; --t) {
    for (size_t n = 0; n < envs; ++n) {
      const size_t i = static_cast<size_t>(t) * envs + n;
      const float later = t + 1 < in.horizon ? advantage[i + envs] : 0.0f;
      const Continuation next = After(in, options, i);
      const float delta = in.reward[i] + options.gamma * next.value - in.value[i];
      advantage[i] = Unusable(in, i) ? 0.0f : delta + options.gamma * options.lambda * next.trace * later;
      target[i] = advantage[i] + in.value[i];
    }
  }
}

void VTrace(const ReturnInputs& in, std::span<const float> log_ratio, const ReturnOptions& options,
            const VTraceOptions& clips, std::span<float> advantage, std::span<float> target) {
  CheckSizes(in, advantage, target);
  GS_CHECK(log_ratio.size() == in.reward.size(), "log_ratio must be [T, N]");
  const size_t envs = static_cast<size_t>(in.envs);
  for (int t = in.horizon - 1; t >= 0; --t) {
    for (size_t n = 0; n < envs; ++n) {
      const size_t i = static_cast<size_t>(t) * envs + n;
      if (Unusable(in, i)) {
        advantage[i] = 0.0f;
        target[i] = in.value[i];
        continue;
      }
      const Continuation next = After(in, options, i);
      const float ratio = std::exp(log_ratio[i]);
      const float rho = std::min(clips.rho_clip, ratio);
      const float c = options.lambda * std::min(clips.c_clip, ratio);
      const bool last = t + 1 == in.horizon || next.trace == 0.0f;
      const float later_target = last ? next.value : target[i + envs];
      const float correction = last ? 0.0f : target[i + envs] - in.value[i + envs];
      const float delta = rho * (in.reward[i] + options.gamma * next.value - in.value[i]);
      target[i] = in.value[i] + delta + options.gamma * c * correction;
      advantage[i] = rho * (in.reward[i] + options.gamma * later_target - in.value[i]);
    }
  }
}

}  // namespace gripstream
