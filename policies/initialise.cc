#include "policies/initialise.h"

#include <cmath>
#include <utility>
#include <vector>

namespace gripstream {
namespace {

// In kLanes sums of their own, so that one addition need not wait for the last.
double Dot(const double* a, const double* b, int64_t n) {
  constexpr int64_t kLanes = 8;
  double sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  double sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (const double lane : sums) sum += lane;
  return sum;
}

// Modified Gram-Schmidt over the rows of a normal matrix, in double; few <= many, so rows are independent.
std::vector<double> OrthonormalRows(Rng& rng, int64_t few, int64_t many) {
  std::vector<double> matrix(static_cast<size_t>(few * many));
  for (double& x : matrix) x = rng.Normal();
  for (int64_t i = 0; i < few; ++i) {
    double* row = &matrix[static_cast<size_t>(i * many)];
    for (int64_t j = 0; j < i; ++j) {
      const double* done = &matrix[static_cast<size_t>(j * many)];
      const double along = Dot(row, done, many);
      for (int64_t k = 0; k < many; ++k) row[k] -= along * done[k];
    }
    const double scale = 1.0 / std::sqrt(Dot(row, row, many));
    for (int64_t k = 0; k < many; ++k) row[k] *= scale;
  }
  return matrix;
}

}  // namespace

torch::Tensor OrthogonalMatrix(Rng rng, int64_t rows, int64_t columns, double gain) {
  const bool wide = columns >= rows;
  const int64_t few = wide ? rows : columns, many = wide ? columns : rows;
  const std::vector<double> matrix = OrthonormalRows(rng, few, many);
  torch::Tensor result = at::empty({rows, columns}, torch::kFloat32);
  float* out = result.data_ptr<float>();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      out[r * columns + c] = static_cast<float>(gain * matrix[static_cast<size_t>(wide ? r * many + c : c * many + r)]);
    }
  }
  return result;
}

torch::Tensor NormalTensor(Rng rng, at::IntArrayRef shape, double std) {
  torch::Tensor result = at::empty(shape, torch::kFloat32);
  float* out = result.data_ptr<float>();
  for (int64_t i = 0; i < result.numel(); ++i) out[i] = static_cast<float>(std * rng.Normal());
  return result;
}

}  // namespace gripstream
