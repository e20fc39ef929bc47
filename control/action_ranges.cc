#include "control/action_ranges.h"

#include <algorithm>

#include "core/error.h"

namespace gripstream {

ActionRanges::ActionRanges(std::vector<double> low, std::vector<double> high, const std::string& key)
    : low_(std::move(low)), high_(std::move(high)) {
  if (low_.size() != high_.size())
    throw InputError("task", key, std::to_string(low_.size()) + " low and " + std::to_string(high_.size()) + " high",
                     "as many low as high values");
  for (size_t i = 0; i < low_.size(); ++i) {
    if (!(low_[i] <= high_[i]))
      throw InputError("task", key, std::to_string(low_[i]) + " to " + std::to_string(high_[i]), "low <= high");
    if (low_[i] < high_[i]) free_.push_back(i);
  }
  if (free_.empty()) throw InputError("task", key, "only constants", "at least one component with low < high");
}

void ActionRanges::Expand(std::span<const float> action, std::span<double> out) const {
  std::copy(low_.begin(), low_.end(), out.begin());
  for (size_t k = 0; k < free_.size(); ++k) {
    const size_t i = free_[k];
    out[i] = low_[i] + 0.5 * (static_cast<double>(action[k]) + 1.0) * (high_[i] - low_[i]);
  }
}

}  // namespace gripstream
