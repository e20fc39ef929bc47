// When a curriculum's level goes up or down: judged once per iteration by the mean of a metric over all environments,
// so that how simulators share them changes nothing.
//
//   up    at least min_steps policy steps after the last change, while the mean is above `gate`
//   down  likewise, while it is below `collapse`, where step_down is set
//
// Plain state of two numbers, which a checkpoint holds. One thread.
#pragma once

#include <cstdint>

namespace gripstream {

struct CurriculumRule {
  bool advance = false;  // false: the level never changes
  int levels = 50, start = 0;
  double gate = 0.4;
  int64_t min_steps = 3000;
  bool step_down = false;
  double collapse = 0.05;
};

class CurriculumGate {
 public:
  explicit CurriculumGate(const CurriculumRule& rule) : rule_(rule), level_(rule.start) {}

  // After an iteration of `steps` policy steps per environment; true when the level has changed.
  bool Take(double mean, int64_t steps) {
    steps_since_change_ += steps;
    if (!rule_.advance || steps_since_change_ < rule_.min_steps) return false;
    const bool up = mean > rule_.gate && level_ < rule_.levels;
    const bool down = rule_.step_down && mean < rule_.collapse && level_ > 0;
    if (!up && !down) return false;
    level_ += up ? 1 : -1;
    steps_since_change_ = 0;
    return true;
  }
  void Restore(int level, int64_t steps_since_change) {
    level_ = level;
    steps_since_change_ = steps_since_change;
  }
  int Level() const { return level_; }
  int64_t StepsSinceChange() const { return steps_since_change_; }

 private:
  CurriculumRule rule_;
  int level_;
  int64_t steps_since_change_ = 0;
};

}  // namespace gripstream
