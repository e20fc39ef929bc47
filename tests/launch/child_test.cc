// Tests launch/child.h.
#include "launch/child.h"

#include <gmock/gmock.h>

#include "core/error.h"
#include "tests/launch/command.h"

namespace gripstream {
namespace {

TEST(Child, ReportsExitCodesAndSignals) {
  Child good("good", {"/bin/true"});
  EXPECT_EQ(good.EndBy(Deadline::After(5)), 0);
  Child bad("bad", {"/bin/false"});
  EXPECT_EQ(bad.EndBy(Deadline::After(5)), 1);
  EXPECT_EQ(bad.HowItEnded(), "exit code 1");
  Child sleeper("sleeper", {"/bin/sleep", "60"});
  sleeper.Signal(SIGTERM);
  EXPECT_EQ(sleeper.EndBy(Deadline::After(5)), 128 + SIGTERM);
  EXPECT_THAT(sleeper.HowItEnded(), testing::HasSubstr("signal 15"));
}

TEST(Child, FindsItsOwnEnvironmentOverItsParents) {
  setenv("GRIPSTREAM_TEST_KEPT", "yes", 1);
  setenv("GRIPSTREAM_TEST_CHANGED", "parent's", 1);
  const std::string test =
      "[ $GRIPSTREAM_TEST_KEPT = yes -a $GRIPSTREAM_TEST_CHANGED = child -a $GRIPSTREAM_TEST_NEW = 1 ]";
  Child child("child", {"/bin/sh", "-c", test}, {"GRIPSTREAM_TEST_CHANGED=child", "GRIPSTREAM_TEST_NEW=1"});
  EXPECT_EQ(child.EndBy(Deadline::After(5)), 0);
  EXPECT_STREQ(getenv("GRIPSTREAM_TEST_CHANGED"), "parent's");
}

TEST(Child, IsKilledAtTheDeadlineAndByTheDestructor) {
  pid_t pid = -1;
  {
    Child sleeper("sleeper", {"/bin/sleep", "60"});
    pid = sleeper.Pid();
    EXPECT_FALSE(sleeper.Poll().has_value());
  }
  EXPECT_EQ(kill(pid, 0), -1);
  Child other("other", {"/bin/sleep", "60"});
  EXPECT_EQ(other.EndBy(Deadline::After(0.05)), 128 + SIGKILL);
}

TEST(Child, KnowsThatItWasStoppedAndContinued) {
  Child sleeper("sleeper", {"/bin/sleep", "60"});
  const auto wait_until = [&](bool stopped) {
    const Deadline deadline = Deadline::After(5);
    do {
      sleeper.Poll();
      usleep(1000);
    } while ((sleeper.StoppedFor() > 0) != stopped && !deadline.Passed());
    return (sleeper.StoppedFor() > 0) == stopped;
  };
  EXPECT_TRUE(wait_until(false));
  sleeper.Signal(SIGSTOP);
  EXPECT_TRUE(wait_until(true));
  sleeper.Signal(SIGCONT);
  EXPECT_TRUE(wait_until(false));
}

TEST(Child, AProgramThatIsNotThereIsNamed) {
  try {
    Child child("simulator 3", {"/no/such/program"});
    FAIL() << "started";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("simulator 3"), testing::HasSubstr("/no/such/program")));
  }
}

// The kernel's promise that launch/child.h relies on: the parent is killed without a chance to clean up.
TEST(Child, DiesWithAParentThatIsKilled) {
  const std::string mark = "7654.321";
  const pid_t parent = fork();
  if (parent == 0) {
    Child sleeper("sleeper", {"/bin/sleep", mark});
    pause();
  }
  const Deadline deadline = Deadline::After(5);
  while (ProcessesNaming(mark).empty() && !deadline.Passed()) usleep(2000);
  ASSERT_FALSE(ProcessesNaming(mark).empty());
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(AllGone(mark, 5));
}

}  // namespace
}  // namespace gripstream
