#include "launch/role_watch.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

namespace gripstream {
namespace {

namespace fs = std::filesystem;

std::string Contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> Arguments(const fs::path& process) {
  std::istringstream text(Contents(process / "cmdline"));
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(text, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

bool IsRun(const fs::path& process, const std::string& argument, const fs::path& run) {
  std::error_code error;
  const fs::path folder = fs::read_symlink(process / "cwd", error);
  return !error && fs::weakly_canonical(folder / argument, error) == run && !error;
}

// What a command line makes of the run; empty: it is none of its roles.
std::string NameOf(const fs::path& process, const std::vector<std::string>& arguments, const fs::path& run) {
  if (arguments.size() < 2 || !std::ranges::any_of(arguments.begin() + 1, arguments.end(), [&](const auto& argument) {
        return argument.starts_with("run.dir=") ? IsRun(process, argument.substr(8), run)
                                                : IsRun(process, argument, run);
      }))
    return "";
  const auto after = [&](const char* option) -> std::string {
    const auto found = std::ranges::find(arguments, option);
    return found == arguments.end() || found + 1 == arguments.end() ? "" : " " + *(found + 1);
  };
  const std::string program = fs::path(arguments.front()).filename();
  if (program == "gripstream-learner") return "learner" + after("--rank");
  if (program == "gripstream-single") return "learner and simulator" + after("--rank");
  if (program == "gripstream-sim" || program == "gripstream-sim-acting") {
    const std::string index = after("--index");
    return index.empty() ? "spare" : "simulator" + index;
  }
  return "";
}

std::string StateName(char letter) {
  if (letter == 'R') return "running";
  if (letter == 'T' || letter == 't') return "stopped";
  if (letter == 'Z' || letter == 'X') return "dead";
  return "waiting";
}

// The fields of /proc/PID/stat from the third on; the second, a name in brackets, may hold anything.
std::vector<std::string> StatFields(const fs::path& process) {
  const std::string text = Contents(process / "stat");
  const size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return {};
  std::istringstream rest(text.substr(bracket + 1));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(field);
  return fields;
}

double StatusBytes(const std::string& status, const std::string& key) {
  const size_t at = status.find("\n" + key + ":");
  return at == std::string::npos ? 0 : 1024.0 * std::atof(status.c_str() + at + key.size() + 2);
}

std::optional<RoleSample> Sample(const fs::path& process, const std::string& name, const std::string& proc) {
  constexpr size_t kState = 0, kUserTicks = 11, kSystemTicks = 12, kThreads = 17, kStartTicks = 19;
  const std::vector<std::string> fields = StatFields(process);
  if (fields.size() <= kStartTicks) return std::nullopt;
  const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto seconds = [&](size_t field) { return std::atof(fields[field].c_str()) / ticks_per_s; };
  const std::string status = Contents(process / "status");
  return RoleSample{.name = name,
                    .pid = std::atoi(process.filename().c_str()),
                    .state = StateName(fields[kState].front()),
                    .cpu_s = seconds(kUserTicks) + seconds(kSystemTicks),
                    .age_s = std::atof(Contents(fs::path(proc) / "uptime").c_str()) - seconds(kStartTicks),
                    .memory_bytes = StatusBytes(status, "RssAnon") + StatusBytes(status, "RssShmem"),
                    .threads = std::atoi(fields[kThreads].c_str())};
}

}  // namespace

std::vector<RoleSample> RolesOf(const std::string& run_dir, const std::string& proc) {
  std::error_code error;
  const fs::path run = fs::weakly_canonical(run_dir, error);
  std::vector<RoleSample> roles;
  for (const auto& entry : fs::directory_iterator(proc, error)) {
    const std::string number = entry.path().filename();
    if (!std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    const std::string name = NameOf(entry.path(), Arguments(entry.path()), run);
    if (name.empty()) continue;
    if (const std::optional<RoleSample> role = Sample(entry.path(), name, proc)) roles.push_back(*role);
  }
  std::ranges::sort(roles, {}, [](const RoleSample& role) { return std::pair(role.name, role.pid); });
  return roles;
}

}  // namespace gripstream
