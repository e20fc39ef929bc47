// A child process of a test that ends with it.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>

#include "core/deadline.h"

namespace gripstream {

// Runs `body`; then waits to be killed, or ends with 0 when it is not `stays`. An exception ends it with 1.
class Child {
 public:
  explicit Child(const std::function<void()>& body, bool stays = true) : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      body();
      while (stays) pause();
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    _exit(1);
  }
  ~Child() { Kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t Pid() const { return pid_; }
  void Stop() const { kill(pid_, SIGSTOP); }
  void Continue() const { kill(pid_, SIGCONT); }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  // The exit code of a child that ends by itself; -1 when it does not in time.
  int ExitCode(double seconds) {
    const Deadline deadline = Deadline::After(seconds);
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (deadline.Passed()) return -1;
      usleep(2000);
    }
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

}  // namespace gripstream
