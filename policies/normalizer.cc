#include "policies/normalizer.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace gripstream {

Normalizer::Normalizer(int features, double clip, double least)
    : features_(features),
      clip_(clip),
      least_(least),
      mean_(static_cast<size_t>(features), 0.0),
      squares_(static_cast<size_t>(features), 0.0) {
  Freeze();
}

// Mean and squares of the new rows by two passes.
torch::Tensor Normalizer::Moments(const torch::Tensor& rows) const {
  GS_CHECK(rows.scalar_type() == torch::kFloat32 && rows.is_contiguous() && rows.size(-1) == features_,
           "rows must be contiguous float32 [..., " + std::to_string(features_) + "]");
  const size_t width = static_cast<size_t>(features_);
  const size_t n = static_cast<size_t>(rows.numel()) / std::max<size_t>(width, 1);
  torch::Tensor moments = at::zeros({1 + 2 * features_}, torch::kFloat64);
  double* count = moments.data_ptr<double>();
  double *mean = count + 1, *squares = mean + width;
  const float* x = rows.data_ptr<float>();
  *count = static_cast<double>(n);
  for (size_t r = 0; r < n; ++r) {
    for (size_t f = 0; f < width; ++f) mean[f] += x[r * width + f];
  }
  for (size_t f = 0; f < width && n > 0; ++f) mean[f] /= *count;
  for (size_t r = 0; r < n; ++r) {
    for (size_t f = 0; f < width; ++f) {
      const double d = x[r * width + f] - mean[f];
      squares[f] += d * d;
    }
  }
  return moments;
}

// Chan's merge of two sets of moments.
void Normalizer::Merge(const torch::Tensor& moments) {
  GS_CHECK(moments.scalar_type() == torch::kFloat64 && moments.numel() == 1 + 2 * features_, "normaliser moments");
  const double* in = moments.const_data_ptr<double>();
  const double added = in[0], total = count_ + added;
  if (added == 0) return;
  const double *mean = in + 1, *squares = mean + features_;
  for (size_t f = 0; f < mean_.size(); ++f) {
    const double shift = mean[f] - mean_[f];
    mean_[f] += shift * added / total;
    squares_[f] += squares[f] + shift * shift * count_ * added / total;
  }
  count_ = total;
  Freeze();
}

std::vector<double> Normalizer::Deviation() const {
  std::vector<double> deviation(mean_.size(), 1.0);
  if (count_ == 0) return deviation;
  for (size_t f = 0; f < mean_.size(); ++f) {
    deviation[f] = std::max(std::sqrt(squares_[f] / count_), least_);
  }
  return deviation;
}

void Normalizer::Freeze() {
  frozen_mean_ = at::empty({features_}, torch::kFloat32);
  frozen_inverse_ = at::empty({features_}, torch::kFloat32);
  frozen_deviation_ = at::empty({features_}, torch::kFloat32);
  const std::vector<double> deviation = Deviation();
  for (size_t f = 0; f < mean_.size(); ++f) {
    frozen_mean_.data_ptr<float>()[f] = static_cast<float>(mean_[f]);
    frozen_inverse_.data_ptr<float>()[f] = static_cast<float>(1.0 / deviation[f]);
    frozen_deviation_.data_ptr<float>()[f] = static_cast<float>(deviation[f]);
  }
}

torch::Tensor Normalizer::Normalise(const torch::Tensor& rows) const {
  return ((rows - frozen_mean_) * frozen_inverse_).clamp_(-clip_, clip_);
}

torch::Tensor Normalizer::Denormalise(const torch::Tensor& rows) const {
  return rows * frozen_deviation_ + frozen_mean_;
}

std::string Normalizer::AddTo(GraphBuilder& graph, const std::string& x) const {
  const std::string centred = graph.Subtract(x, graph.Constant(frozen_mean_));
  return graph.Clamp(graph.Multiply(centred, graph.Constant(frozen_inverse_)), -clip_, clip_);
}

std::string Normalizer::AddInverseTo(GraphBuilder& graph, const std::string& x) const {
  return graph.Add(graph.Multiply(x, graph.Constant(frozen_deviation_)), graph.Constant(frozen_mean_));
}

torch::Tensor Normalizer::State() const {
  torch::Tensor state = at::empty({1 + 2 * features_}, torch::kFloat64);
  double* out = state.data_ptr<double>();
  out[0] = count_;
  std::copy(mean_.begin(), mean_.end(), out + 1);
  std::copy(squares_.begin(), squares_.end(), out + 1 + features_);
  return state;
}

void Normalizer::SetState(const torch::Tensor& state) {
  GS_CHECK(state.scalar_type() == torch::kFloat64 && state.numel() == 1 + 2 * features_, "normaliser state");
  const double* in = state.data_ptr<double>();
  count_ = in[0];
  std::copy(in + 1, in + 1 + features_, mean_.begin());
  std::copy(in + 1 + features_, in + 1 + 2 * features_, squares_.begin());
  Freeze();
}

}  // namespace gripstream
