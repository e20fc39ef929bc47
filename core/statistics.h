// Small statistics of results. Pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace gripstream {

// Wilson's 95 % score interval for a proportion: stays inside [0, 1] and is right for few trials (Wilson 1927).
inline std::pair<double, double> WilsonInterval(int successes, int trials) {
  if (trials <= 0) return {0.0, 1.0};
  const double z = 1.959963984540054, n = trials, p = successes / n;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {centre - half, centre + half};
}

// The upper one of the two in the middle when their number is even; there must be one.
inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace gripstream
