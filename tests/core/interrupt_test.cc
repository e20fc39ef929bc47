// Tests core/interrupt.h.
#include "core/interrupt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace gripstream {
namespace {

// Runs `body` in a process of its own, since handlers and flag are process-wide; returns its wait status.
int StatusOf(void (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(Interrupted() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Interrupt, OneSignalOfEachKindOnlySetsTheFlag) {
  const int status = StatusOf([] {
    CatchInterrupts();
    std::raise(SIGINT);
    std::raise(SIGTERM);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, TheSameSignalTwiceEndsTheProcess) {
  const int status = StatusOf([] {
    CatchInterrupts();
    std::raise(SIGINT);
    std::raise(SIGINT);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(Interrupt, WithoutASignalTheFlagIsDown) { EXPECT_FALSE(Interrupted()); }

}  // namespace
}  // namespace gripstream
