// Tests core/network.h.
#include "core/network.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/error.h"

namespace gripstream {
namespace {

TEST(Network, IsReadWithItsPrefix) {
  const std::optional<Network> network = ParseNetwork("10.1.2.0/23");
  ASSERT_TRUE(network);
  EXPECT_EQ(network->address, 0x0a010200u);
  EXPECT_TRUE(network->Contains(0x0a010300u + 77));
  EXPECT_FALSE(network->Contains(0x0a010400u));
  EXPECT_FALSE(network->IsLoopback());
  EXPECT_TRUE(ParseNetwork("127.0.0.0/8")->IsLoopback());
  EXPECT_FALSE(ParseNetwork("126.0.0.0/7")->IsLoopback());
}

TEST(Network, IsNothingElse) {
  for (const char* text : {"", "10.0.0.0", "10.0.0.0/", "10.0.0.0/0", "10.0.0.0/33", "10.0.0.0/8x", "10.0.0/8", "/8",
                           "10.0.0.256/8", "host/8", "10.0.0.0/-8", "10.0.0.0/8/8"}) {
    EXPECT_FALSE(ParseNetwork(text)) << text;
  }
}

TEST(Network, HoldsOurOwnAddress) {
  EXPECT_EQ(OwnAddressIn("127.0.0.0/8"), "127.0.0.1");
  EXPECT_EQ(NetworkOf("127.0.0.1"), "127.0.0.0/8");
  EXPECT_EQ(NetworkOf("no such host.invalid"), std::nullopt);
  try {
    OwnAddressIn("203.0.113.0/24");  // set aside for documentation
    FAIL() << "there is such an address";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("203.0.113.0/24"), testing::HasSubstr("127.0.0.1")));
  }
}

TEST(Network, ALoopbackPortIsReachedWhereSomebodyListens) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(fd, generic, size), 0);
  ASSERT_EQ(getsockname(fd, generic, &size), 0);
  const int port = ntohs(address.sin_port);
  EXPECT_THAT(WhyNotReach("127.0.0.1", port, Deadline::After(5)), testing::HasSubstr("refused"));
  ASSERT_EQ(listen(fd, 1), 0);
  EXPECT_EQ(WhyNotReach("localhost", port, Deadline::After(5)), "");
  EXPECT_THAT(WhyNotReach("no such host.invalid", port, Deadline::After(5)), testing::HasSubstr("unknown"));
  close(fd);
}

}  // namespace
}  // namespace gripstream
