#include "learner/adam.h"

#include <ATen/Parallel.h>

#include <cmath>

#include "core/error.h"
#include "core/process_memory.h"

namespace gripstream {
namespace {

constexpr int64_t kNumbersPerTask = 16384;

// Double sums over fixed blocks, added up in order: the same for any number of threads.
double SumOfSquares(const float* x, int64_t n) {
  const int64_t blocks = (n + kNumbersPerTask - 1) / kNumbersPerTask;
  std::vector<double> partial(static_cast<size_t>(blocks), 0.0);
  at::parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      double sum = 0;
      for (int64_t i = b * kNumbersPerTask; i < std::min(n, (b + 1) * kNumbersPerTask); ++i) {
        sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      }
      partial[static_cast<size_t>(b)] = sum;
    }
  });
  double total = 0;
  for (const double sum : partial) total += sum;
  return total;
}

// What the parameters were in before is given back at once: the moments, as large again, would be beside it.
ParameterSet::Flat Flattened(ParameterSet& parameters) {
  const ParameterSet::Flat flat = parameters.Flatten();
  ReleaseFreeHeap();
  return flat;
}

}  // namespace

Adam::Adam(ParameterSet& parameters, double beta1, double beta2, double epsilon)
    : beta1_(beta1),
      beta2_(beta2),
      epsilon_(epsilon),
      flat_(Flattened(parameters)),
      first_(at::zeros_like(flat_.values)),
      second_(at::zeros_like(flat_.values)) {}

void Adam::ZeroGradients() {
  flat_.gradients.zero_();
}

double Adam::Apply(const torch::Tensor& flat_gradients, double factor, double learning_rate, double max_norm,
                   bool keep) {
  const int64_t n = flat_.values.numel();
  GS_CHECK(flat_gradients.numel() == n && flat_gradients.is_contiguous(), "gradients of another network");
  const double norm = factor * std::sqrt(SumOfSquares(flat_gradients.data_ptr<float>(), n));
  if (!std::isfinite(norm)) return norm;
  const int64_t step = steps_ + 1;
  const double correction1 = 1.0 - std::pow(beta1_, static_cast<double>(step));
  const double correction2 = 1.0 - std::pow(beta2_, static_cast<double>(step));
  const float scale =
      static_cast<float>(factor) * (max_norm > 0 && norm > max_norm ? static_cast<float>(max_norm / norm) : 1.0f);
  const float b1 = static_cast<float>(beta1_), b2 = static_cast<float>(beta2_);
  const float rate = static_cast<float>(learning_rate / correction1);
  const float root = static_cast<float>(1.0 / std::sqrt(correction2)), epsilon = static_cast<float>(epsilon_);
  float* values = flat_.values.data_ptr<float>();
  float* first = first_.data_ptr<float>();
  float* second = second_.data_ptr<float>();
  const float* gradients = flat_gradients.data_ptr<float>();
  at::parallel_for(0, n, kNumbersPerTask, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float g = gradients[i] * scale;
      const float m = b1 * first[i] + (1.0f - b1) * g;
      const float v = b2 * second[i] + (1.0f - b2) * g * g;
      values[i] -= rate * m / (std::sqrt(v) * root + epsilon);
      if (!keep) continue;
      first[i] = m;
      second[i] = v;
    }
  });
  if (keep) steps_ = step;
  return norm;
}

void Adam::MoveAhead(double scale, double learning_rate, double max_norm) {
  Apply(flat_.gradients, scale, learning_rate, max_norm, false);
}

void Adam::SetState(const torch::Tensor& first, const torch::Tensor& second, int64_t steps) {
  GS_CHECK(first.numel() == first_.numel() && second.numel() == second_.numel(), "optimiser state of another network");
  first_.copy_(first);
  second_.copy_(second);
  steps_ = steps;
}

std::vector<NamedTensor> Adam::State() const {
  return {{"optimiser.first_moment", first_},
          {"optimiser.second_moment", second_},
          {"optimiser.steps", at::full({1}, steps_, torch::kInt64)}};
}

void Adam::SetState(const std::vector<NamedTensor>& state) {
  SetState(TensorNamed(state, "optimiser.first_moment"), TensorNamed(state, "optimiser.second_moment"),
           TensorNamed(state, "optimiser.steps").item<int64_t>());
}

}  // namespace gripstream
