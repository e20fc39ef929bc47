// Small statistics of results. Pure functions.
#pragma once

#include <cmath>
#include <utility>

namespace gripstream {

// Wilson's 95 % score interval for a proportion: stays inside [0, 1] and is right for few trials (Wilson 1927).
inline std::pair<double, double> WilsonInterval(int successes, int trials) {
  if (trials <= 0) return {0.0, 1.0};
  const double z = 1.959963984540054, n = trials, p = successes / n;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {centre - half, centre + half};
}

}  // namespace gripstream
