#include "control/synergies.h"

#include <cmath>

#include "core/error.h"

namespace gripstream {
namespace {

double DotRow(const double* a, const double* b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

HandSynergies::HandSynergies(const std::vector<std::vector<double>>& directions, const std::string& where)
    : count_(directions.size()), joints_(directions.empty() ? 0 : directions.front().size()) {
  for (size_t r = 0; r < count_; ++r) {
    if (directions[r].size() != joints_)
      throw InputError(where, "synergy " + std::to_string(r + 1), std::to_string(directions[r].size()) + " numbers",
                       std::to_string(joints_) + ", one per hand joint");
    std::vector<double> row = directions[r];
    const double before = std::sqrt(DotRow(row.data(), row.data(), joints_));
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough for full precision
      for (size_t k = 0; k < r; ++k) {
        const double along = DotRow(&rows_[k * joints_], row.data(), joints_);
        for (size_t j = 0; j < joints_; ++j) row[j] -= along * rows_[k * joints_ + j];
      }
    }
    const double norm = std::sqrt(DotRow(row.data(), row.data(), joints_));
    if (!(norm > 1e-6 * before))
      throw InputError(where, "synergy " + std::to_string(r + 1) + " is zero or a combination of those before it");
    for (const double value : row) rows_.push_back(value / norm);
  }
}

void HandSynergies::Project(std::span<const double> q, std::span<double> coordinates) const {
  for (size_t r = 0; r < count_; ++r) coordinates[r] = DotRow(&rows_[r * joints_], q.data(), joints_);
}

void HandSynergies::Lift(std::span<const double> coordinates, std::span<const double> rest, std::span<double> q) const {
  for (size_t j = 0; j < joints_; ++j) q[j] = rest[j];
  for (size_t r = 0; r < count_; ++r) {
    const double* row = &rows_[r * joints_];
    const double missing = coordinates[r] - DotRow(row, rest.data(), joints_);
    for (size_t j = 0; j < joints_; ++j) q[j] += missing * row[j];
  }
}

}  // namespace gripstream
