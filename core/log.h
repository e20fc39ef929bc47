// The process's log: one line per event on stderr, and in a file once the run folder is known. The only door to spdlog.
//
//   Log().info("joined {} simulators", n);
//
// Thread-safe. Progress meant for people watching goes to stdout and is not logging.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

namespace gripstream {

// `role` is shown on every line, for example "learner" or "sim 0". Call once, before the first Log().
void StartLog(const std::string& role);
// Adds RUN/logs/ROLE.log; throws RunError when it cannot be opened.
void LogToFile(const std::string& path);
spdlog::logger& Log();

}  // namespace gripstream
