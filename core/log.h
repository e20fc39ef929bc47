// The process's log: one line per event on stderr from warnings up, and everything in a file once the run folder is
// known. The only door to spdlog, which stays out of this header: LibTorch ships an fmt of its own beside spdlog's.
//
//   LogInfo("joined ", n, " simulators");
//
// Thread-safe. Progress meant for people watching goes to stdout and is not logging.
#pragma once

#include <sstream>
#include <string>

namespace gripstream {

// `role` is shown on every line, for example "learner" or "simulator 0". Call once, before the first line.
void StartLog(const std::string& role);
// Adds RUN/logs/ROLE.log; throws RunError when it cannot be opened.
void LogToFile(const std::string& path);

enum class LogLevel { kInfo, kWarning, kError };
void LogLine(LogLevel level, const std::string& text);

// The parts as stream output would show them, one after another.
template <class... Parts>
std::string Concatenate(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

template <class... Parts>
void LogInfo(const Parts&... parts) {
  LogLine(LogLevel::kInfo, Concatenate(parts...));
}
template <class... Parts>
void LogWarning(const Parts&... parts) {
  LogLine(LogLevel::kWarning, Concatenate(parts...));
}
template <class... Parts>
void LogError(const Parts&... parts) {
  LogLine(LogLevel::kError, Concatenate(parts...));
}

}  // namespace gripstream
