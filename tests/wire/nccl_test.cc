// Tests wire/nccl_line.h and wire/nccl_pair.h over the test double of NCCL, and NCCL itself where there is a GPU. That
// both ends keep what all transports promise is tested with the others (conformance_test.cc, process_test.cc).
#include <gmock/gmock.h>

#include <thread>

#include "tests/wire/wire_fixture.h"
#include "wire/nccl_pair.h"

namespace gripstream {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

Deadline Soon() {
  return Deadline::After(20);
}

class Nccl : public testing::Test {
 protected:
  SocketFolder folder_;
  WireConfig config_ = ConfigFor("zmq_ipc", folder_.Path());
  const Layout layout_{TestSpecs(), 4};
  std::shared_ptr<NcclDouble> learners_ = std::make_shared<NcclDouble>();
  std::shared_ptr<NcclDouble> simulators_ = std::make_shared<NcclDouble>();

  void SetUp() override { config_.deadline_s = 0.5; }

  std::unique_ptr<LearnerEnd> Learner() {
    return std::make_unique<LearnerEnd>(config_, OptionsFor(4), MakeNcclHub(config_, learners_));
  }
  std::unique_ptr<SimulatorEnd> Simulator(const Join& join = JoinFor(0, 4, "sim 0")) {
    return std::make_unique<SimulatorEnd>(config_, join, layout_,
                                          MakeNcclLine(config_, ShapeOf(config_, join, layout_), simulators_), Soon());
  }
  // What both sides say when a simulator publishes records until something goes wrong.
  std::pair<std::string, std::string> BothWords() {
    auto learner = Learner();
    std::string simulators_word;
    std::thread simulator([&] {
      simulators_word = MessageOf<RunError>([&] {
        const auto end = Simulator();
        for (uint64_t sequence = 1;; ++sequence) {
          FillRecord(layout_, end->AcquireRecord(Soon()), sequence);
          end->PublishRecord();
        }
      });
    });
    const std::string learners_word = MessageOf<RunError>([&] {
      learner->WaitForSimulators(1, Soon());
      for (uint64_t sequence = 1;; ++sequence) {
        const Received received = learner->ReceiveRecord(0, Soon());
        EXPECT_TRUE(HoldsRecord(layout_, received, sequence));
        learner->ReleaseRecord(0, received);
      }
    });
    learner.reset();
    simulator.join();
    return {learners_word, simulators_word};
  }
};

TEST_F(Nccl, ACommunicatorThatIsNeverMadeIsToldWithinTheDeadline) {
  learners_->faults.never_makes_communicators = true;
  simulators_->faults.never_makes_communicators = true;
  const auto [learner, simulator] = BothWords();
  EXPECT_THAT(simulator, HasSubstr("communicator with the learner was not made in time"));
  EXPECT_THAT(learner, HasSubstr("simulator 'sim 0'"));
}

TEST_F(Nccl, NcclsOwnErrorsAreToldAsTheyAre) {
  learners_->faults.refuses_communicators = true;
  EXPECT_THAT(BothWords().first, HasSubstr("NCCL could not make the communicator: unhandled system error"));
  learners_->faults.refuses_communicators = false;
  simulators_->faults.refuses_communicators = true;
  EXPECT_THAT(BothWords().second, HasSubstr("NCCL could not make the communicator: unhandled system error"));
}

TEST_F(Nccl, ATransferThatStallsIsToldWithinTheDeadline) {
  learners_->faults.transfers_left = 3;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(BothWords().first, AllOf(HasSubstr("on its way for too long"), HasSubstr("record 4")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(Nccl, ATransferThatFailsIsTold) {
  learners_->faults.breaks = true;
  EXPECT_THAT(BothWords().first, HasSubstr("CUDA, during a transfer: the double was told to break"));
}

TEST_F(Nccl, AnUnwelcomeSimulatorCostsNoCommunicator) {
  const auto learner = Learner();
  std::thread stranger([&] {
    Join join = JoinFor(0, 4, "stranger");
    join.run_id = "other";
    EXPECT_THAT(MessageOf<RunError>([&] { Simulator(join); }), HasSubstr("belongs to run 'other'"));
  });
  EXPECT_THROW(learner->WaitForSimulators(1, Deadline::After(0.5)), RunError);
  stranger.join();
  EXPECT_EQ(learners_->open_handles, 0);
}

TEST_F(Nccl, ARecordBeforeTheWelcomeOrOutsideItsSlotsIsRefused) {
  const auto hub = MakeNcclHub(config_, learners_);
  const auto line = MakeZmqLine(config_, {1, 64, 64});
  Join join = JoinFor(0, 4, "hand");
  join.slots = 3, join.record_bytes = layout_.Bytes();
  line->Open(Encode(join), Soon());
  const auto next = [&] { return hub->Receive(Soon()); };
  const int id = next()->connection;
  const auto announce = [&](uint32_t slot, uint64_t payload_bytes = 0) {
    line->Send(Encode(RecordMessage{}, {slot, 1, payload_bytes}), std::vector<std::byte>(payload_bytes), Soon());
    const std::optional<Event> event = next();
    EXPECT_EQ(event->kind, Event::Kind::kBroken);
    return event->problem;
  };
  EXPECT_THAT(announce(0), HasSubstr("before the welcome"));
  hub->Send(id, Encode(Welcome{"by hand", 0}), {}, Soon());
  EXPECT_THAT(announce(3), HasSubstr("slot 3"));
  EXPECT_THAT(announce(kNoSlot), HasSubstr("slot"));
  EXPECT_THAT(announce(0, 8), HasSubstr("beside NCCL"));
}

TEST_F(Nccl, EverythingIsGivenBack) {
  {
    auto learner = Learner();
    std::thread simulator([&] {
      const auto end = Simulator();
      for (uint64_t sequence = 1; sequence <= 20; ++sequence) {
        FillRecord(layout_, end->AcquireRecord(Soon()), sequence);
        end->PublishRecord();
      }
      end->WaitCommand(Soon());
    });
    learner->WaitForSimulators(1, Soon());
    for (uint64_t sequence = 1; sequence <= 20; ++sequence) {
      const Received received = learner->ReceiveRecord(0, Soon());
      EXPECT_TRUE(HoldsRecord(layout_, received, sequence));
      learner->ReleaseRecord(0, received);
    }
    EXPECT_THAT(learner->Stop("done", Soon()), IsEmpty());
    simulator.join();
  }
  EXPECT_EQ(learners_->open_handles, 0);
  EXPECT_EQ(simulators_->open_handles, 0);
}

TEST_F(Nccl, TransfersQueuedTogetherArriveInOrder) {
  const NcclId id = learners_->NewId();
  NcclPair receiver(learners_, id, NcclPair::kLearner), sender(simulators_, id, NcclPair::kSimulator);
  std::vector<std::byte> sent[3], received[3];
  for (size_t i = 0; i < 3; ++i) {
    sent[i].assign(100000 * (i + 1), static_cast<std::byte>(i + 1));
    received[i].resize(sent[i].size());
    sender.QueueSend(sent[i]);
    receiver.QueueReceive(received[i]);
  }
  const Deadline deadline = Soon();
  while ((receiver.Ended() < 3 || sender.Ended() < 3) && !deadline.Passed()) receiver.Progress(), sender.Progress();
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(received[i], sent[i]);
}

// NCCL refuses two ranks on one GPU, but a rank may send to itself.
TEST(NcclDevice, SendsToItself) {
  if (!WhyNot("nccl").empty()) GTEST_SKIP() << WhyNot("nccl");
  const std::shared_ptr<NcclApi> api = LoadNccl();
  void* comm = api->StartComm(api->NewId(), 1, 0);
  void* stream = api->NewStream();
  std::string problem;
  const Deadline deadline = Deadline::After(60);
  const auto wait = [&](const auto& state) {
    while (state() == NcclState::kInProgress && !deadline.Passed()) std::this_thread::yield();
    ASSERT_EQ(state(), NcclState::kDone) << problem;
  };
  wait([&] { return api->State(comm, problem); });
  constexpr size_t kBytes = 1 << 20;
  std::byte* from = api->Allocate(kBytes);
  std::byte* to = api->Allocate(kBytes);
  for (size_t i = 0; i < kBytes; ++i) from[i] = static_cast<std::byte>(i * 7);
  api->GroupStart();
  api->Send({from, kBytes}, 0, comm, stream);
  api->Receive({to, kBytes}, 0, comm, stream);
  api->GroupEnd();
  wait([&] { return api->State(comm, problem); });
  void* event = api->NewEvent(stream);
  wait([&] { return api->Query(event, problem); });
  EXPECT_EQ(std::memcmp(from, to, kBytes), 0);
  api->FreeEvent(event);
  api->Abort(comm);
  api->FreeStream(stream);
  api->Free(from), api->Free(to);
}

}  // namespace
}  // namespace gripstream
