// Running mean and deviation of a feature vector, kept on the learner only.
//
// Statistics accumulate in double, row after row in the order given (the learner gives environment order), so grouping
// environments over processes changes no bit. Update changes what Normalise does, so it is called between iterations:
// the same frozen numbers serve a rollout and the update on it. Before the first Update, Normalise only clips.
// Not thread-safe while updating.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "policies/graph.h"

namespace gripstream {

class Normalizer {
 public:
  // `clip` bounds what Normalise returns, in deviations, of which none counts as less than `least`: a constant feature
  // becomes 0 and is not blown up when it first moves.
  Normalizer(int features, double clip, double least = 1e-3);

  // Count, means and summed squares of deviations of these rows alone (float32 [..., features], contiguous), as State
  // has them. Several learners make one set of statistics by merging everybody's moments in the same order.
  torch::Tensor Moments(const torch::Tensor& rows) const;
  void Merge(const torch::Tensor& moments);
  void Update(const torch::Tensor& rows) { Merge(Moments(rows)); }
  // float32 [..., features] -> the same shape: clamp((x - mean) / deviation, -clip, clip).
  torch::Tensor Normalise(const torch::Tensor& rows) const;
  // Undoes Normalise where nothing was clipped.
  torch::Tensor Denormalise(const torch::Tensor& rows) const;

  // Both for a graph.
  std::string AddTo(GraphBuilder& graph, const std::string& x) const;
  std::string AddInverseTo(GraphBuilder& graph, const std::string& x) const;

  double Count() const { return count_; }
  size_t Bytes() const { return 2 * sizeof(double) * mean_.size() + 3 * frozen_mean_.nbytes(); }
  const std::vector<double>& Mean() const { return mean_; }
  std::vector<double> Deviation() const;

  // For checkpoints: float64 [1 + 2 * features]: count, means, summed squares of deviations.
  torch::Tensor State() const;
  void SetState(const torch::Tensor& state);

 private:
  void Freeze();

  int64_t features_;
  double clip_, least_;
  double count_ = 0;
  std::vector<double> mean_, squares_;
  torch::Tensor frozen_mean_, frozen_inverse_, frozen_deviation_;  // float32 [features]
};

}  // namespace gripstream
