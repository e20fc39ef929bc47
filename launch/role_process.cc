#include "launch/role_process.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include "core/trace.h"

namespace gripstream {

TraceParts::TraceParts(const std::string& run_dir, std::string trace)
    : folder_(run_dir + "/trace"), trace_(std::move(trace)) {
  if (!trace_.empty()) std::filesystem::create_directories(folder_);
}

void TraceParts::AddTo(std::vector<std::string>& arguments) {
  if (trace_.empty()) return;
  parts_.push_back(folder_ + "/" + std::to_string(parts_.size()));
  arguments.insert(arguments.end(), {"--trace", parts_.back()});
}

void TraceParts::Merge() const {
  if (trace_.empty()) return;
  std::vector<std::string> written;
  for (const std::string& part : parts_) {
    if (std::filesystem::exists(part)) written.push_back(part);
  }
  MergeTraces(written, trace_);
  std::filesystem::remove_all(folder_);
  std::printf("trace: %s\n", trace_.c_str());
}

RoleProcess::RoleProcess(RoleCommand command, TraceParts& traces) : command_(std::move(command)), traces_(traces) {
  Start(command_.argv);
}

void RoleProcess::Start(std::vector<std::string> argv) {
  traces_.AddTo(argv);
  child_ = std::make_unique<Child>(command_.name, argv, command_.environment);
}

bool RoleProcess::MayStartAgain(int limit) {
  const auto now = std::chrono::steady_clock::now();
  while (!again_.empty() && now - again_.front() > std::chrono::hours(1)) again_.pop_front();
  if (static_cast<int>(again_.size()) >= limit) return false;
  again_.push_back(now);
  return true;
}

void RoleProcess::StartAgain(const std::vector<std::string>& more) {
  std::vector<std::string> argv = command_.argv;
  argv.insert(argv.end(), more.begin(), more.end());
  Start(std::move(argv));
}

}  // namespace gripstream
