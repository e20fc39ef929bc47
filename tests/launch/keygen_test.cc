// Tests launch/command_keygen.cc.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

TEST(Keygen, MakesKeysThatOnlyTheOwnerReadsAndNeverOverwritesThem) {
  const ScratchFolder scratch;
  const std::string keys = scratch / "keys";
  const Ended made = RunGripstream({"keygen", keys});
  EXPECT_EQ(made.code, 0) << made.output;
  for (const char* name : {"/learner.secret", "/simulator.secret"}) {
    struct stat status {};
    ASSERT_EQ(stat((keys + name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 0777, 0600u) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(keys + "/allowed/simulators.public"));
  const Ended again = RunGripstream({"keygen", keys});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.output, HasSubstr("never overwritten"));
  EXPECT_EQ(RunGripstream({"keygen", scratch / "other", "--simulator", "gpu07"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(scratch / "other/allowed/gpu07.public"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "other/learner.secret"));
}

}  // namespace
}  // namespace gripstream
