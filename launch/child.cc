#include "launch/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr auto kPollPeriod = std::chrono::milliseconds(5);

// Runs in the child between fork and exec: only async-signal-safe calls. Reports a failed exec through `error_pipe`.
[[noreturn]] void BecomeProgram(char* const* argv, char* const* environment, pid_t parent, int error_pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent ended before the line above took effect
  execve(argv[0], argv, environment);
  const int error = errno;
  (void)!write(error_pipe, &error, sizeof(error));
  _exit(127);
}

// This process's variables with `changes` over them, as execve takes them. Points into both.
std::vector<char*> Environment(const std::vector<std::string>& changes) {
  std::vector<char*> variables;
  for (char** own = environ; *own; ++own) {
    const std::string_view variable = *own;
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    const bool changed = std::any_of(changes.begin(), changes.end(),
                                     [&](const std::string& change) { return change.starts_with(name); });
    if (!changed) variables.push_back(*own);
  }
  for (const std::string& change : changes) variables.push_back(const_cast<char*>(change.c_str()));
  variables.push_back(nullptr);
  return variables;
}

int ExitCode(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Child::Child(std::string name, const std::vector<std::string>& arguments, const std::vector<std::string>& environment)
    : name_(std::move(name)) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> variables = Environment(environment);
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) throw RunError(name_ + ": no pipe: " + std::strerror(errno));
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) BecomeProgram(argv.data(), variables.data(), parent, error_pipe[1]);
  close(error_pipe[1]);
  int error = pid_ < 0 ? errno : 0;
  if (pid_ > 0 && read(error_pipe[0], &error, sizeof(error)) > 0) waitpid(pid_, nullptr, 0);
  close(error_pipe[0]);
  if (error != 0) {
    pid_ = -1;
    throw RunError(name_ + ": cannot start " + arguments[0] + ": " + std::strerror(error));
  }
}

Child::~Child() {
  if (pid_ > 0 && !Poll()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

Child::Child(Child&& other) noexcept
    : name_(std::move(other.name_)), pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}

std::optional<int> Child::Poll() {
  int status = 0;
  while (!status_ && waitpid(pid_, &status, WNOHANG | WUNTRACED | WCONTINUED) == pid_) {
    if (WIFSTOPPED(status)) {
      stopped_since_ = std::chrono::steady_clock::now();
    } else if (WIFCONTINUED(status)) {
      stopped_since_.reset();
    } else {
      status_ = status;
    }
  }
  return status_ ? std::optional<int>(ExitCode(*status_)) : std::nullopt;
}

int Child::Code() const {
  GS_CHECK(status_.has_value(), name_ + " still runs");
  return ExitCode(*status_);
}

double Child::StoppedFor() const {
  if (!stopped_since_ || status_) return 0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - *stopped_since_).count();
}

void Child::Signal(int signal_number) {
  if (!Poll()) kill(pid_, signal_number);
}

int Child::EndBy(Deadline deadline) {
  while (!Poll() && !deadline.Passed()) std::this_thread::sleep_for(kPollPeriod);
  if (!Poll()) {
    kill(pid_, SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
    status_ = status;
  }
  return *Poll();
}

std::string Child::HowItEnded() const {
  GS_CHECK(status_.has_value(), name_ + " still runs");
  if (WIFSIGNALED(*status_)) {
    return "signal " + std::to_string(WTERMSIG(*status_)) + " (" + strsignal(WTERMSIG(*status_)) + ")";
  }
  return "exit code " + std::to_string(WEXITSTATUS(*status_));
}

}  // namespace gripstream
