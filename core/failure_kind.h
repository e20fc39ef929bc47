// A way in which an episode can fail, told from the metrics that its task measures. A plain value.
#pragma once

#include <string>

namespace gripstream {

// The episode failed in this way unless metric `unless` was above 0: at its end, or, with `ever`, at any of its steps.
// Without a metric the kind always fits. Of a task's kinds the first that fits names the failure.
struct FailureKind {
  std::string name, unless;
  bool ever = false;
};

}  // namespace gripstream
