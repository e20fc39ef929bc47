// Runs a short program and reads what it says. Thread-safe; throws RunError when the machine refuses a pipe or process.
#pragma once

#include <string>
#include <vector>

#include "core/deadline.h"

namespace gripstream {

struct ProgramOutput {
  int code = 0;      // exit code; 128 + signal number; kNeverEnded
  std::string text;  // stdout and stderr
  // The last line that is not empty.
  std::string LastLine() const;
};
inline constexpr int kNeverEnded = -1;

// argv[0] is a path, or a name to look up in PATH (code 127 where it is not). Kills it at the deadline.
ProgramOutput RunProgram(const std::vector<std::string>& argv, Deadline deadline);

}  // namespace gripstream
