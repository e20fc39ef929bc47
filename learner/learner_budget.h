// From a learner's measured footprint to its budget of memory for any number of environments. No LibTorch: plans are
// made by programs that do not link it. Pure functions of plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/memory_budget.h"
#include "learner/config.h"
#include "replay/rollout_size.h"

namespace gripstream {

// Bytes. A row is a sample in one forward and backward pass, or an environment in one inference chunk.
struct LearnerFootprint {
  double program = 0;        // libraries' data, threads, what the process has before there is a network
  double network = 0;        // parameters and normalisers
  double optimiser = 0;      // gradients and moments
  double update = 0;         // beyond what grows, with
  double update_sample = 0;  // each of the rollout's samples
  double update_row = 0;     // each row of a micro-batch: images, activations, their gradients
  double act = 0;            // beyond what grows with
  double memory = 0;         // numbers that a policy carries from step to step, 0 without memory
  double act_row = 0;        // each row of a chunk

  template <class Visit>
  void ForEach(Visit&& visit) {
    visit("program", program);
    visit("network", network);
    visit("optimiser", optimiser);
    visit("update", update);
    visit("update_sample", update_sample);
    visit("update_row", update_row);
    visit("memory", memory);
    visit("act", act);
    visit("act_row", act_row);
  }
};

// What decides the size of one learner process, besides its environments.
struct LearnerSizes {
  int horizon = 1;
  int micro_batch = 1;
  int minibatch_share = 1;   // this learner's samples of a minibatch
  double share_per_env = 0;  // when the minibatch grows with the environments instead: samples for each of them
  int inference_chunk = 1;
  int stores = 1;               // rollouts held at once
  int policies = 1;             // copies of the networks
  int sequence = 1;             // steps of a sequence of a policy with memory
  bool group = false;           // of several learners
  bool delays = false;          // gradients one minibatch late: as much again as the optimiser has
  bool acts_in_update = false;  // collection goes on meanwhile
  bool spill = false;           // the buffer is not in this memory
  ImageStorage images = ImageStorage::kAsRecorded;
  double receive_bytes_per_env = 0;  // of messages that are copied on arrival
  double state_bytes_per_env = 0;    // of a saved environment
};

inline constexpr char kProgramPart[] = "program", kBufferPart[] = "experience buffer",
                      kActivationsPart[] = "images and activations";

// What malloc and libraries take besides, as seen on whole runs beside their counted tensors: holes between tensors of
// a pass, a sixth of them at most, and the buffers and threads of gloo.
inline constexpr double kHoles = 1.0 / 6, kGroup_bytes = 32e6;

// A line that is level from `most` rows on becomes one that is right where it counts: below `most` the slope, beyond it
// the level; `envs` says on which side the plan is.
inline MemoryPart RowsPart(std::string name, double fixed, double per_row, double rows_per_env, double most,
                           int64_t envs) {
  if (rows_per_env * static_cast<double>(envs) >= most) return {std::move(name), fixed + per_row * most, 0, true};
  return {std::move(name), fixed, per_row * rows_per_env, true};
}

// The budget of a learner with about `envs` environments of its own.
inline MemoryBudget LearnerBudget(const LearnerFootprint& measured, const LearnerSizes& sizes,
                                  const std::vector<TensorSpec>& specs, int action_size, int64_t envs) {
  const MemoryShape memory{static_cast<int64_t>(measured.memory), sizes.sequence};
  const double rollout = static_cast<double>(RolloutBytes(specs, sizes.horizon, action_size, sizes.images, memory));
  const double one_step = static_cast<double>(RolloutBytes(specs, 1, action_size, ImageStorage::kAsRecorded));
  MemoryBudget budget;
  budget.parts = {{kProgramPart, measured.program},
                  {"network", measured.network * sizes.policies},
                  {"optimiser", measured.optimiser * (sizes.delays ? 2 : 1)}};
  if (!sizes.spill) budget.parts.push_back({kBufferPart, 0, rollout * sizes.stores});
  if (sizes.receive_bytes_per_env > 0) budget.parts.push_back({"received records", 0, sizes.receive_bytes_per_env});
  const double fixed_rows = std::min(sizes.micro_batch, sizes.minibatch_share);
  MemoryPart update = sizes.share_per_env > 0
                          ? RowsPart(kActivationsPart, measured.update, measured.update_row, sizes.share_per_env,
                                     sizes.micro_batch, envs)
                          : MemoryPart{kActivationsPart, measured.update + measured.update_row * fixed_rows, 0, true};
  const MemoryPart counted = update;
  update.bytes_per_env += measured.update_sample * sizes.horizon + kHoles * counted.bytes_per_env;
  update.fixed_bytes += kHoles * counted.fixed_bytes;
  MemoryPart acting = RowsPart("inference", measured.act, measured.act_row, 1, sizes.inference_chunk, envs);
  if (sizes.acts_in_update) {
    acting.passing = false;
    budget.parts.push_back(acting);
    acting = {"", 0, 0, true};
  }
  budget.parts.push_back(update);
  acting.name = "evaluation";
  acting.bytes_per_env += one_step;
  budget.parts.push_back(acting);
  if (sizes.group) budget.parts.push_back({"other learners", kGroup_bytes});
  // The environments' states: gathered, put together, written.
  budget.parts.push_back({"checkpoint", 0, 3 * sizes.state_bytes_per_env, true});
  return budget;
}

}  // namespace gripstream
