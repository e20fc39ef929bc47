// Tests wire/zmq_line.cc with peers that speak ZeroMQ by hand and go when they please.
#include <map>
#include <thread>
#include <vector>

#include <zmq.hpp>

#include "tests/wire/wire_fixture.h"
#include "wire/line.h"

namespace gripstream {
namespace {

// Connects, says one thing and is gone once that has left this process.
void SpeakAndVanish(const std::string& address) {
  zmq::context_t context(1);
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  socket.connect(address);
  const std::vector<std::byte> frame = Encode(Leave{"going"});
  socket.send(zmq::const_buffer(frame.data(), frame.size()));
  socket.set(zmq::sockopt::linger, 10'000);
}

class ZmqHubs : public testing::TestWithParam<std::string> {
 protected:
  // How many messages and ends each connection told, once `ends` have been told or ten seconds are over.
  static std::map<int, std::pair<int, int>> Tally(LearnerHub& hub, int ends) {
    std::map<int, std::pair<int, int>> tally;
    const Deadline deadline = Deadline::After(10);
    while (ends > 0) {
      const std::optional<Event> event = hub.Receive(deadline);
      if (!event) break;
      const bool closed = event->kind == Event::Kind::kClosed;
      EXPECT_EQ(tally[event->connection].second, 0) << "something came after the end";
      ++(closed ? tally[event->connection].second : tally[event->connection].first);
      ends -= closed;
    }
    return tally;
  }

  SocketFolder folder_;
  const std::unique_ptr<LearnerHub> hub_ = MakeZmqHub(ConfigFor(GetParam(), folder_.Path()));
};

TEST_P(ZmqHubs, TellTheEndOfEveryConnectionOnceAlsoWhenItCameBeforeTheFirstMessageWasRead) {
  constexpr int kPeers = 200;  // one after the other: they use each other's descriptors again
  for (int i = 0; i < kPeers; ++i) SpeakAndVanish(hub_->Address());
  const auto tally = Tally(*hub_, kPeers);
  EXPECT_EQ(tally.size(), size_t{kPeers});
  for (const auto& [connection, told] : tally) EXPECT_EQ(told, std::pair(1, 1)) << "connection " << connection;
}

TEST_P(ZmqHubs, TellTheEndOfEveryConnectionOnceWhenTheyAreReadMeanwhile) {
  constexpr int kPeers = 200;
  std::thread peers([&] {
    for (int i = 0; i < kPeers; ++i) SpeakAndVanish(hub_->Address());
  });
  const auto tally = Tally(*hub_, kPeers);
  peers.join();
  EXPECT_EQ(tally.size(), size_t{kPeers});
  for (const auto& [connection, told] : tally) EXPECT_EQ(told, std::pair(1, 1)) << "connection " << connection;
}

INSTANTIATE_TEST_SUITE_P(Each, ZmqHubs, testing::Values("zmq_ipc", "zmq_tcp"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace gripstream
