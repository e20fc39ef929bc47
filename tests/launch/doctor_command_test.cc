// Tests launch/command_doctor.cc on this machine, in faked environments.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

const std::string kConfig = std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/tiny.yaml";

// An environment variable, for as long as this lives.
class Faked {
 public:
  Faked(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Faked() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(DoctorCommand, PrintsOneLinePerFindingAndTheExitCodeSaysWhetherAnyFailed) {
  const Ended ended = RunGripstream({"doctor"});
  for (const char* what : {"gripstream", "driver", "GPU", "NCCL", "LibTorch", "MuJoCo", "/dev/shm", "cores"}) {
    EXPECT_THAT(ended.output, HasSubstr(what));
  }
  EXPECT_EQ(ended.code == 1, ended.output.find("FAIL") != std::string::npos) << ended.output;
  EXPECT_EQ(ended.code == 1, ended.output.find(" -> ") != std::string::npos) << ended.output;
}

TEST(DoctorCommand, ALibraryThatIsNoneIsNamedWithItsPackage) {
  const ScratchFolder scratch;
  std::ofstream(scratch / "libnccl.so.2") << "not a library";
  const Faked path("LD_LIBRARY_PATH", scratch.Path());
  const Ended ended = RunGripstream({"doctor", kConfig, "--set", "wire.transport=nccl"});
  EXPECT_EQ(ended.code, 1) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("FAIL  NCCL"));
  EXPECT_THAT(ended.output, HasSubstr(scratch / "libnccl.so.2"));
  EXPECT_THAT(ended.output, HasSubstr("-> install libnccl2"));
}

TEST(DoctorCommand, APortThatIsTakenIsNamed) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), bytes), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const Ended ended = RunGripstream(
      {"doctor", kConfig, "--set", "wire.transport=zmq", "--set", "wire.address=tcp://127.0.0.1:" + port});
  close(fd);
  EXPECT_EQ(ended.code, 1) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("FAIL  port " + port));
}

TEST(DoctorCommand, BadInputIsBadInput) {
  EXPECT_EQ(RunGripstream({"doctor", "/nowhere.yaml"}).code, 2);
  EXPECT_EQ(RunGripstream({"doctor", kConfig, "--set", "sim.envs=-1"}).code, 2);
}

}  // namespace
}  // namespace gripstream
