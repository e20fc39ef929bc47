// Tests policies/distribution.h.
#include "policies/distribution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "policies/initialise.h"

namespace gripstream {
namespace {

constexpr double kPi = 3.14159265358979323846;

torch::Tensor Draw(at::IntArrayRef shape, uint64_t seed, double scale) {
  return NormalTensor(RandomStream(seed, "distribution test").At(0, 0), shape, scale).to(torch::kFloat64);
}

double Density(double x, double mean, double std) {
  return std::exp(-0.5 * (x - mean) * (x - mean) / (std * std)) / (std * std::sqrt(2 * kPi));
}

TEST(Gaussian, LogProbIsTheLogOfTheProductOfDensities) {
  const torch::Tensor mean = Draw({5, 3}, 1, 1.0), log_std = Draw({3}, 2, 0.5), action = Draw({5, 3}, 3, 1.0);
  const torch::Tensor result = GaussianLogProb(mean, log_std, action);
  for (int b = 0; b < 5; ++b) {
    double product = 1;
    for (int a = 0; a < 3; ++a) {
      product *= Density(action[b][a].item<double>(), mean[b][a].item<double>(), std::exp(log_std[a].item<double>()));
    }
    EXPECT_NEAR(result[b].item<double>(), std::log(product), 1e-12);
  }
}

TEST(Gaussian, EntropyIsTheIntegralOfMinusPLogP) {
  const double std = 0.7;
  double integral = 0;
  for (int i = -80000; i < 80000; ++i) {
    const double p = Density((i + 0.5) * 1e-4, 0, std);
    integral -= p * std::log(p) * 1e-4;
  }
  const torch::Tensor log_std = at::full({2}, std::log(std), torch::kFloat64);
  EXPECT_NEAR(GaussianEntropy(log_std).item<double>(), 2 * integral, 1e-8);
}

TEST(Gaussian, KlIsTheIntegralOfPLogPOverQ) {
  const double m0 = 0.3, s0 = 0.5, m1 = -0.2, s1 = 0.9;
  double integral = 0;
  for (int i = -60000; i < 60000; ++i) {
    const double x = (i + 0.5) * 1e-4, p = Density(x, m0, s0);
    integral += p * std::log(p / Density(x, m1, s1)) * 1e-4;
  }
  const auto tensor = [](double x) { return at::full({1, 1}, x, torch::kFloat64); };
  const torch::Tensor kl = GaussianKl(tensor(m0), tensor(std::log(s0)), tensor(m1), tensor(std::log(s1)));
  EXPECT_NEAR(kl.item<double>(), integral, 1e-8);
}

TEST(Gaussian, KlToItselfIsZero) {
  const torch::Tensor mean = Draw({4, 3}, 4, 1.0), log_std = Draw({4, 3}, 5, 0.5);
  EXPECT_EQ(GaussianKl(mean, log_std, mean, log_std).abs().max().item<double>(), 0.0);
}

}  // namespace
}  // namespace gripstream
