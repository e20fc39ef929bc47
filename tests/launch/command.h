// Runs programs as a user would: in a process group of their own, output captured, never longer than a deadline.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/deadline.h"

namespace gripstream {

// A running program; its stdout and stderr come through one pipe.
class Command {
 public:
  explicit Command(std::vector<std::string> arguments) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      setpgid(0, 0);
      dup2(ends[1], STDOUT_FILENO);
      dup2(ends[1], STDERR_FILENO);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(ends[1]);
    output_fd_ = ends[0];
  }

  ~Command() {
    if (!ended_) {
      kill(-pid_, SIGKILL);
      waitpid(pid_, &status_, 0);
    }
    close(output_fd_);
  }

  pid_t Pid() const { return pid_; }
  const std::string& Output() const { return output_; }

  // Reads until the text appears; false when the program closes its output or the time is over.
  bool WaitForOutput(const std::string& text, double seconds) {
    const Deadline deadline = Deadline::After(seconds);
    while (output_.find(text) == std::string::npos) {
      if (!ReadSome(deadline)) return false;
    }
    return true;
  }

  // The exit code, 128 + signal when killed; fails the test when it takes longer.
  int Wait(double seconds) {
    const Deadline deadline = Deadline::After(seconds);
    while (ReadSome(deadline)) {
    }
    while (waitpid(pid_, &status_, WNOHANG) == 0) {
      if (deadline.Passed()) {
        ADD_FAILURE() << "still running after " << seconds << " s; output so far:\n" << output_;
        return -1;
      }
      usleep(2000);
    }
    ended_ = true;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }

 private:
  bool ReadSome(const Deadline& deadline) {
    pollfd watched{output_fd_, POLLIN, 0};
    if (poll(&watched, 1, deadline.RemainingMilliseconds()) <= 0) return false;
    char buffer[4096];
    const ssize_t count = read(output_fd_, buffer, sizeof(buffer));
    if (count <= 0) return false;
    output_.append(buffer, static_cast<size_t>(count));
    return true;
  }

  pid_t pid_ = -1;
  int output_fd_ = -1;
  int status_ = 0;
  bool ended_ = false;
  std::string output_;
};

inline std::string Program(const std::string& name) {
  return std::string(GRIPSTREAM_BINARY_DIR) + "/" + name;
}

struct Ended {
  int code;
  std::string output;
};

inline Ended RunGripstream(std::vector<std::string> arguments, double seconds = 120) {
  arguments.insert(arguments.begin(), Program("gripstream"));
  Command command(arguments);
  const int code = command.Wait(seconds);
  return {code, command.Output()};
}

// A folder of its own for every test, gone afterwards.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gripstream_test_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& Path() const { return path_; }

 private:
  std::string path_;
};

// A run that takes a second or two: everything real, only small.
inline std::vector<std::string> TinyRun(const std::string& run_dir, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"train", std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/tiny.yaml", "--set",
                                        "run.dir=" + run_dir};
  for (std::string& assignment : more) {
    arguments.push_back("--set");
    arguments.push_back(std::move(assignment));
  }
  return arguments;
}

inline nlohmann::json ReadJson(const std::string& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in, nullptr, false);
}

// Processes whose command line holds `text`, this one aside.
inline std::vector<pid_t> ProcessesNaming(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || pid == getpid()) continue;
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    const std::string line{std::istreambuf_iterator<char>(in), {}};
    if (line.find(text) != std::string::npos) found.push_back(pid);
  }
  return found;
}

// Waits until none of them is left (they end asynchronously after their parent).
inline bool AllGone(const std::string& text, double seconds) {
  const Deadline deadline = Deadline::After(seconds);
  while (!ProcessesNaming(text).empty()) {
    if (deadline.Passed()) return false;
    usleep(5000);
  }
  return true;
}

}  // namespace gripstream
