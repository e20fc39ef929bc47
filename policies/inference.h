// A policy as the learner, the evaluator and the runner use it: networks with their normalisers.
//
//   raw observations -> normalisers -> networks, in chunks of fixed size -> actions (sampled or mean), values
//
// Inference runs over chunks of policy.inference_chunk environments that begin at multiples of it in the global
// numbering, and noise is drawn per environment and step, so an environment's action does not depend on which other
// environments were asked for in the same call, as long as calls are made of whole chunks. One thread at a time.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "policies/config.h"
#include "policies/image_normalizer.h"
#include "policies/network.h"
#include "policies/normalizer.h"
#include "policies/shapes.h"

namespace gripstream {

// n environments as a record holds them; contiguous views.
struct Observation {
  torch::Tensor proprio{};  // [n, P] float32
  torch::Tensor depth{};    // [n, H, W] uint16, or float32 of the same units; undefined for a policy that uses none
  torch::Tensor state{};    // [n, S] float32; may be undefined where neither values nor a state policy are wanted
  torch::Tensor done{};  // [n] uint8: not 0 where an episode ended before this observation, so that memory begins anew;
                         // undefined: nowhere
  torch::Tensor rgb{};   // [n, cameras, H, W, 3] uint8 (one camera: or [n, H, W, 3]); undefined for a policy without
};

struct ActRequest {
  uint32_t first_env = 0;    // global id of the first environment
  uint64_t step = 0;         // policy steps since the start of the run: keys the noise
  bool sample = true;        // otherwise the mean is the action
  bool blank_image = false;  // see nothing: the probe for policies that do not look
  torch::Tensor memory{};    // [n, MemorySize()] before this observation; needed by a policy with memory
  torch::Tensor taken{};     // [n, A]: say of these actions, taken before, how likely they are, instead of choosing any
};

// Where Act writes; [n, ...] float32 views. Undefined ones are skipped.
struct ActResult {
  torch::Tensor action{};    // [n, A] not clamped
  torch::Tensor mean{};      // [n, A]
  torch::Tensor log_std{};   // [n, A]
  torch::Tensor log_prob{};  // [n]
  torch::Tensor value{};     // [n]
  torch::Tensor aux{};       // [n, aux] in the target's own units
  torch::Tensor memory{};    // [n, MemorySize()] after it; may be the request's
};

// What the running statistics are taken of, [..., features] each; value and aux may be undefined.
struct NormalizerRows {
  torch::Tensor proprio{}, depth{}, state{};
  torch::Tensor aux{};    // needed where there is a head
  torch::Tensor value{};  // value targets, [...]
};

class Policy {
 public:
  // Throws InputError when configuration and shapes do not fit. The seed decides the initial weights and the noise.
  Policy(const PolicyConfig& config, const PolicyShapes& shapes, uint64_t seed);

  void Act(const Observation& observation, const ActRequest& request, const ActResult& result) const;
  // V without gradients, in whole chunks: observation.state [n, S] -> [n]. `memory` as in ActRequest; where
  // `memory_after` is given, the critic's part of what comes of it is written there.
  torch::Tensor Values(const Observation& observation, const torch::Tensor& memory = {},
                       const torch::Tensor& memory_after = {}) const;
  // Numbers that the policy carries from one step of an environment to the next: 0 without memory.
  int64_t MemorySize() const { return network_.MemorySize(); }

  // Network inputs for samples rows[i] of observations that lie one after another; memory is the caller's to add.
  NetworkInput Gather(const Observation& samples, std::span<const int64_t> rows) const;
  torch::Tensor NormaliseAux(const torch::Tensor& target) const { return aux_.Normalise(target); }
  torch::Tensor DenormaliseAux(const torch::Tensor& aux) const { return aux_.Denormalise(aux); }
  // Values as the critic puts them out.
  torch::Tensor NormaliseValue(const torch::Tensor& value) const;
  // What these rows add to the running statistics, as one float64 vector. Merging everybody's vectors in the same order
  // gives several learners the same statistics. Merging leaves what the critic says of a state as it is, in its own
  // units: its last layer is rescaled (van Hasselt et al. 2016, PopArt).
  torch::Tensor NormalizerMoments(const NormalizerRows& rows) const;
  void MergeNormalizers(const torch::Tensor& moments);
  void UpdateNormalizers(const NormalizerRows& rows) { MergeNormalizers(NormalizerMoments(rows)); }
  double NormalizerCount() const { return state_.Count(); }

  ActorCritic& Network() { return network_; }
  const ActorCritic& Network() const { return network_; }
  const PolicyConfig& Config() const { return config_; }
  const PolicyShapes& Shapes() const { return shapes_; }
  // What acting by the mean computes, normalisers included, for other engines. Inputs, where the policy has them:
  // depth [H, W] in metres (not above 0: nothing was hit), proprio [P], state [S] in the units of the observations, and
  // memory (zeros at the start of an episode). Outputs: action [A] not clamped, aux in the target's own units, memory.
  Graph InferenceGraph() const;
  // Parameters and normalisers.
  size_t Bytes() const;
  // A policy that shares nothing with this one and does what it does.
  Policy Clone() const;
  // Everything that makes the policy, by name, for checkpoints: parameters and normaliser states.
  std::vector<NamedTensor> State() const;
  // Takes tensors of the same names and shapes (GS_CHECK; the checkpoint reader has compared them before).
  void SetState(const std::vector<NamedTensor>& state);

 private:
  void ActChunk(const Observation& observation, const ActRequest& request, const ActResult& result, int64_t begin,
                int64_t count) const;
  torch::Tensor ValueIn(const torch::Tensor& critic) const;
  torch::Tensor Noise(uint32_t first_env, uint64_t step, int64_t count) const;  // [count, A]

  PolicyConfig config_;
  PolicyShapes shapes_;
  uint64_t seed_;
  ActorCritic network_;
  Normalizer proprio_, state_, aux_, value_;
  ImageNormalizer image_;
};

}  // namespace gripstream
