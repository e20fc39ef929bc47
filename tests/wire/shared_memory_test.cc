// Tests wire/shared_memory.h and wire/unix_socket.h.
#include "wire/shared_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/wire/wire_fixture.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

UniqueFd Duplicate(int fd) {
  return UniqueFd(dup(fd));
}

// A memfd as somebody else might make it.
UniqueFd ForeignSegment(off_t bytes, bool allocate, int seals) {
  UniqueFd fd(memfd_create("foreign", MFD_ALLOW_SEALING));
  EXPECT_EQ(allocate ? fallocate(fd.Get(), 0, 0, bytes) : ftruncate(fd.Get(), bytes), 0);
  EXPECT_TRUE(seals == 0 || fcntl(fd.Get(), F_ADD_SEALS, seals) == 0);
  return fd;
}

TEST(SharedMemory, BothMappingsSeeTheSameBytes) {
  const SharedMemory made = SharedMemory::Make(3 * 4096, "a test");
  const SharedMemory attached = SharedMemory::Attach(Duplicate(made.Fd()), 3 * 4096);
  EXPECT_NE(made.Bytes().data(), attached.Bytes().data());
  made.Bytes()[5000] = std::byte{42};
  EXPECT_EQ(attached.Bytes()[5000], std::byte{42});
}

TEST(SharedMemory, TheSizeCannotBeChangedUnderTheOtherSide) {
  const SharedMemory made = SharedMemory::Make(8192, "a test");
  EXPECT_NE(ftruncate(made.Fd(), 4096), 0);
  EXPECT_NE(ftruncate(made.Fd(), 16384), 0);
}

TEST(SharedMemory, RefusesSegmentsThatCouldFault) {
  const int sealed = F_SEAL_SHRINK | F_SEAL_GROW;
  EXPECT_NO_THROW(SharedMemory::Attach(ForeignSegment(8192, true, sealed), 8192));
  EXPECT_THROW(SharedMemory::Attach(ForeignSegment(8192, true, 0), 8192), RunError);        // may shrink
  EXPECT_THROW(SharedMemory::Attach(ForeignSegment(8192, false, sealed), 8192), RunError);  // holes
  EXPECT_THROW(SharedMemory::Attach(ForeignSegment(4096, true, sealed), 8192), RunError);   // short
  EXPECT_THROW(SharedMemory::Attach(UniqueFd(open("/dev/null", O_RDWR)), 8192), RunError);
  EXPECT_THROW(MapBlob(ForeignSegment(8192, true, sealed), 8192), RunError);  // may be written to
}

TEST(SharedMemory, MoreThanTheMachineHasIsRefusedInOneLine) {
  const std::string message = MessageOf<RunError>([] { SharedMemory::Make(size_t{1} << 50, "3 record slots"); });
  EXPECT_THAT(message, HasSubstr("3 record slots"));
  EXPECT_THAT(message, HasSubstr("1073741824 MiB"));
  EXPECT_THAT(message, HasSubstr("wire.slots"));
}

TEST(SharedMemory, TheFileSizeLimitIsToldNotRunInto) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = MessageOf<RunError>([] { SharedMemory::Make(2 << 20, "3 record slots"); });
    _exit(message.find("ulimit -f") != std::string::npos && message.find("2 MiB") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));  // not SIGXFSZ
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(SharedMemory, ABlobKeepsItsContent) {
  std::vector<std::byte> bytes(100001);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  const Bulk bulk = MapBlob(MakeBlob(bytes), bytes.size());
  EXPECT_TRUE(std::ranges::equal(bulk.bytes, bytes));
  EXPECT_THROW(MapBlob(MakeBlob(bytes), bytes.size() - 1), RunError);
}

TEST(UnixSocket, AStaleFileIsReplacedAndALiveListenerIsNot) {
  const SocketFolder folder;
  const std::string path = folder.Path() + "/a.sock";
  { const UniqueFd dead = ListenUnix(path, SOCK_SEQPACKET); }
  ASSERT_EQ(access(path.c_str(), F_OK), 0);  // closing leaves the file
  const UniqueFd live = ListenUnix(path, SOCK_SEQPACKET);
  const std::string message = MessageOf<InputError>([&] { ListenUnix(path, SOCK_SEQPACKET); });
  EXPECT_THAT(message, HasSubstr("wire.address"));
  EXPECT_THAT(message, HasSubstr(path));
  UnlinkUnix(path);
}

TEST(UnixSocket, BadAddressesAreTheUsersToMend) {
  EXPECT_THROW(ListenUnix("", SOCK_SEQPACKET), InputError);
  EXPECT_THROW(ListenUnix("@", SOCK_SEQPACKET), InputError);
  EXPECT_THROW(ListenUnix("/tmp/" + std::string(200, 'x'), SOCK_SEQPACKET), InputError);
  EXPECT_THROW(ListenUnix("/no/such/folder/a.sock", SOCK_SEQPACKET), InputError);
  const SocketFolder folder;
  const std::string path = folder.Path() + "/file";
  std::ofstream(path) << "somebody's data";
  EXPECT_THROW(ListenUnix(path, SOCK_SEQPACKET), InputError);
  EXPECT_EQ(access(path.c_str(), F_OK), 0);  // a file that is no socket is left alone
  unlink(path.c_str());
}

TEST(UnixSocket, WhatWasSentBeforeTheEndIsStillRead) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const std::vector<std::byte> packet(10, std::byte{3});
  ASSERT_EQ(SendPacket(reader.Get(), packet, -1), PacketResult::kDone);  // stays unread: the close becomes a reset
  ASSERT_EQ(SendPacket(writer.Get(), packet, -1), PacketResult::kDone);
  writer.Reset();
  std::vector<std::byte> buffer(64);
  size_t bytes = 0;
  UniqueFd passed;
  EXPECT_EQ(ReceivePacket(reader.Get(), buffer, bytes, passed), PacketResult::kDone);
  EXPECT_EQ(bytes, 10u);
  EXPECT_EQ(ReceivePacket(reader.Get(), buffer, bytes, passed), PacketResult::kClosed);
  EXPECT_EQ(SendPacket(reader.Get(), packet, -1), PacketResult::kClosed);
}

}  // namespace
}  // namespace gripstream
