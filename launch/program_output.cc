#include "launch/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace gripstream {
namespace {

// Until the program closes its end; false at the deadline.
bool ReadAll(int fd, std::string& text, Deadline deadline) {
  for (char buffer[4096];;) {
    pollfd waiting{fd, POLLIN, 0};
    if (poll(&waiting, 1, deadline.RemainingMilliseconds()) == 0) return false;
    const ssize_t bytes = read(fd, buffer, sizeof(buffer));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return true;
    text.append(buffer, static_cast<size_t>(bytes));
  }
}

}  // namespace

std::string ProgramOutput::LastLine() const {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t before = text.rfind('\n', end);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end + 1 - begin);
}

ProgramOutput RunProgram(const std::vector<std::string>& arguments, Deadline deadline) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw RunError(std::string("no pipe: ") + std::strerror(errno));
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(ends[1]);
  ProgramOutput output;
  const bool ended = pid > 0 && ReadAll(ends[0], output.text, deadline);
  close(ends[0]);
  if (pid < 0) throw RunError(arguments[0] + " cannot be started: " + std::strerror(errno));
  if (!ended) kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  output.code = !ended ? kNeverEnded : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

}  // namespace gripstream
