// A child process that cannot outlive its parent: the kernel kills it when the parent ends, however that happens.
//
// Not thread-safe. The destructor kills a child that is still running and reaps it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/deadline.h"

namespace gripstream {

class Child {
 public:
  // Starts argv[0] (a path) with the caller's standard streams. `name` is used in messages, for example "simulator 0".
  // Throws RunError when the program cannot be started. Call from the main thread: the kernel ties the child's life to
  // the *thread* that forked it.
  // `environment`: "NAME=VALUE" over the caller's own.
  Child(std::string name, const std::vector<std::string>& argv, const std::vector<std::string>& environment = {});
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  const std::string& Name() const { return name_; }
  pid_t Pid() const { return pid_; }

  // The exit code once it has ended; 128 + signal number when a signal ended it; nothing while it runs.
  std::optional<int> Poll();
  // Seconds since somebody stopped it (SIGSTOP, a debugger); 0 while it runs. As of the last Poll.
  double StoppedFor() const;
  // Sends a signal if it is still running.
  void Signal(int signal_number);
  int Code() const;  // the same, once it has ended
  // Waits for the end until the deadline, then kills it.
  int EndBy(Deadline deadline);
  // "exit code 1" or "signal 9 (Killed)", once ended.
  std::string HowItEnded() const;

 private:
  std::string name_;
  pid_t pid_ = -1;
  std::optional<int> status_;  // of waitpid, once ended
  std::optional<std::chrono::steady_clock::time_point> stopped_since_;
};

}  // namespace gripstream
