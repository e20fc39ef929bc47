// Return estimators: from rewards, values and episode ends to advantages and value targets. Pure functions of plain
// arrays, thread-safe, float32 in a fixed order (t descending, environment by environment), so results are
// reproducible.
//
// T = horizon, N = environments; every array is [T, N] row-major unless said otherwise. Index t belongs to the action
// taken at step t: reward[t] and done[t] are what that action brought (the record of step t + 1 carries them).
// GS_CHECK fails on a wrong size.
#pragma once

#include <cstdint>
#include <span>

#include "core/done_kind.h"

namespace gripstream {

struct ReturnInputs {
  int horizon = 0;
  int envs = 0;
  std::span<const float> reward;       // [T, N]
  std::span<const float> value;        // [T + 1, N]; row T is the bootstrap
  std::span<const uint8_t> done;       // [T, N] DoneKind
  std::span<const float> final_value;  // [T, N] V(final_state); read only where done is kTimedOut
};

struct ReturnOptions {
  float gamma = 0.99f;
  float lambda = 0.95f;
  bool bootstrap_timeouts = true;  // otherwise a time-out counts as a termination
};

struct VTraceOptions {
  float rho_clip = 1.0f;
  float c_clip = 1.0f;
};

// Generalised advantage estimation (Schulman et al. 2016). target = advantage + value. A faulted, lost or carried
// sample gets advantage 0 and its own value as target, and nothing flows through it to earlier steps but the value of
// its observation.
void Gae(const ReturnInputs& inputs, const ReturnOptions& options, std::span<float> advantage, std::span<float> target);

// V-trace (Espeholt et al. 2018). log_ratio[t] = log pi(a_t) - log mu(a_t) of the policy being trained over the one
// that acted; `lambda` of the options multiplies the trace. With log_ratio 0 and clips of at least 1, `target` is that
// of Gae and, for lambda = 1, so is `advantage`.
void VTrace(const ReturnInputs& inputs, std::span<const float> log_ratio, const ReturnOptions& options,
            const VTraceOptions& clips, std::span<float> advantage, std::span<float> target);

}  // namespace gripstream
