// The ranges of an action's components and their map from [-1, 1]. A component whose low equals its high is a constant:
// the action does not carry it. Immutable; thread-safe; throws InputError from the constructor only.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace gripstream {

class ActionRanges {
 public:
  // `key` names the configuration's low values in messages.
  ActionRanges(std::vector<double> low, std::vector<double> high, const std::string& key);

  int Free() const { return static_cast<int>(free_.size()); }  // components of an action
  size_t Size() const { return low_.size(); }                  // components in all
  // All components from an action of Free() numbers.
  void Expand(std::span<const float> action, std::span<double> out) const;

 private:
  std::vector<double> low_, high_;
  std::vector<size_t> free_;
};

}  // namespace gripstream
