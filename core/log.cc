#include "core/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "core/error.h"

namespace gripstream {
namespace {

std::shared_ptr<spdlog::logger>& Instance() {
  static std::shared_ptr<spdlog::logger> logger = [] {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    sink->set_level(spdlog::level::warn);  // people see warnings; the file holds everything
    auto made = std::make_shared<spdlog::logger>("gripstream", sink);
    made->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return logger;
}

}  // namespace

void StartLog(const std::string& role) {
  Instance()->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l [" + role + "] %v");
}

void LogToFile(const std::string& path) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, false);
    sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    Instance()->sinks().push_back(sink);
  } catch (const spdlog::spdlog_ex& error) {
    throw RunError(path + ": cannot open the log: " + error.what());
  }
}

void LogLine(LogLevel level, const std::string& text) {
  switch (level) {
    case LogLevel::kInfo:
      Instance()->info("{}", text);
      return;
    case LogLevel::kWarning:
      Instance()->warn("{}", text);
      return;
    case LogLevel::kError:
      Instance()->error("{}", text);
      return;
  }
}

}  // namespace gripstream
