// Tests wire/curve_keys.h, wire/curve_gate.h and what they keep out.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <latch>
#include <thread>

#include "core/files.h"
#include "tests/wire/relay.h"
#include "tests/wire/wire_fixture.h"

namespace gripstream {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

Deadline Soon() {
  return Deadline::After(20);
}

class Security : public testing::Test {
 protected:
  SocketFolder folder_;
  const std::string keys_ = folder_.Path() + "/keys";
  WireConfig config_ = ConfigFor("zmq_curve", folder_.Path());
  const Layout layout_{TestSpecs(), 4};

  // What a simulator with this configuration is told when it tries to join.
  std::string JoinRefused(const WireConfig& config) {
    return MessageOf<RunError>(
        [&] { ConnectToLearner(config, JoinFor(0, 4, "stranger"), layout_, Deadline::After(5)); });
  }
  // One record from a simulator with `config` to `learner`.
  void ExchangeRecord(LearnerEnd& learner, const WireConfig& config) {
    std::thread simulator([&] {
      const auto end = ConnectToLearner(config, JoinFor(0, 4, "sim 0"), layout_, Soon());
      FillRecord(layout_, end->AcquireRecord(Soon()), 1);
      end->PublishRecord();
      EXPECT_EQ(end->WaitCommand(Soon()).kind, CommandKind::kStop);
    });
    learner.WaitForSimulators(1, Soon());
    const Received received = learner.ReceiveRecord(0, Soon());
    EXPECT_TRUE(HoldsRecord(layout_, received, 1));
    learner.ReleaseRecord(0, received);
    EXPECT_THAT(learner.Stop("done", Deadline::After(5)), IsEmpty());
    simulator.join();
  }
};

TEST_F(Security, AnUnknownKeyIsRefusedAndTheRightOneStillGetsIn) {
  const auto learner = ListenForSimulators(config_, OptionsFor(4));
  WireConfig stranger = config_;
  stranger.curve.keys = folder_.Path() + "/stranger";
  MakeSimulatorKeys(stranger.curve.keys, "stranger");
  fs::copy_file(keys_ + "/learner.public", stranger.curve.keys + "/learner.public");
  EXPECT_THAT(JoinRefused(stranger), HasSubstr("does it not allow this simulator's key"));
  ExchangeRecord(*learner, config_);
}

TEST_F(Security, AFurtherMachinesKeyIsLetInOnceItsPublicHalfIsAllowed) {
  WireConfig other = config_;
  other.curve.keys = folder_.Path() + "/other";
  MakeSimulatorKeys(other.curve.keys, "other");
  fs::copy_file(keys_ + "/learner.public", other.curve.keys + "/learner.public");
  fs::copy_file(other.curve.keys + "/allowed/other.public", keys_ + "/allowed/other.public");
  const auto learner = ListenForSimulators(config_, OptionsFor(4));
  ExchangeRecord(*learner, other);
}

TEST_F(Security, ASimulatorWithoutKeysIsRefused) {
  const auto learner = ListenForSimulators(config_, OptionsFor(4));
  WireConfig plain = config_;
  plain.curve.keys.clear();
  const std::string message = JoinRefused(plain);
  EXPECT_THAT(message, HasSubstr("does it encrypt (wire.curve.keys)?"));
  ExchangeRecord(*learner, config_);
}

TEST_F(Security, AnImpostorOfTheLearnerIsNotBelieved) {
  WireConfig impostor = config_;
  impostor.curve.keys = folder_.Path() + "/impostor";
  MakeKeyFolder(impostor.curve.keys);
  fs::copy_file(keys_ + "/allowed/simulators.public", impostor.curve.keys + "/allowed/victim.public");
  const auto learner = ListenForSimulators(impostor, OptionsFor(4));
  EXPECT_THAT(JoinRefused(config_), Not(IsEmpty()));
  EXPECT_THAT(MessageOf<RunError>([&] { learner->WaitForSimulators(1, Deadline::After(0.2)); }),
              HasSubstr("only 0 of 1"));
}

TEST_F(Security, ALearnerThatDoesNotEncryptIsNotBelievedEither) {
  WireConfig plain = config_;
  plain.curve.keys.clear();
  const auto learner = ListenForSimulators(plain, OptionsFor(4));
  EXPECT_THAT(JoinRefused(config_), Not(IsEmpty()));
}

TEST_F(Security, WithKeysTheLearnerMayListenToOtherMachines) {
  WireConfig open = config_;
  open.address = "tcp://0.0.0.0:*";
  const auto learner = ListenForSimulators(open, OptionsFor(4));
  const std::string address = learner->Address();
  WireConfig near = config_;
  near.address = "tcp://127.0.0.1" + address.substr(address.rfind(':'));
  ExchangeRecord(*learner, near);
}

// Listens to the link: with keys nothing of ours can be read there, without them it can (so the test does listen).
TEST_F(Security, WhatCrossesTheLinkCannotBeRead) {
  for (const bool encrypted : {true, false}) {
    WireConfig config = ConfigFor("zmq_curve", folder_.Path());
    if (!encrypted) config.curve.keys.clear();
    const auto learner = ListenForSimulators(config, OptionsFor(4));
    Relay relay(std::stoi(config.address.substr(config.address.rfind(':') + 1)));
    config.address = relay.Address();
    ExchangeRecord(*learner, config);
    const std::string heard = relay.Heard();
    EXPECT_GT(heard.size(), layout_.Bytes());
    EXPECT_EQ(heard.find("sim 0") == std::string::npos, encrypted);
  }
}

TEST_F(Security, SecretsAreTheOwnersAlone) {
  for (const char* name : {"/learner.secret", "/simulator.secret"}) {
    struct stat status {};
    ASSERT_EQ(stat((keys_ + name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << name;
    chmod((keys_ + name).c_str(), 0640);
  }
  EXPECT_THAT(MessageOf<InputError>([&] { LearnerIdentity(keys_); }), HasSubstr("learner.secret: can be read"));
  EXPECT_THAT(MessageOf<InputError>([&] { SimulatorIdentity(keys_); }), HasSubstr("simulator.secret: can be read"));
  EXPECT_THROW(ListenForSimulators(config_, OptionsFor(4)), InputError);
}

TEST_F(Security, KeysAreNeverOverwritten) {
  const std::string before = ReadText(keys_ + "/learner.secret");
  EXPECT_THAT(MessageOf<InputError>([&] { MakeKeyFolder(keys_); }), HasSubstr("never overwritten"));
  EXPECT_EQ(ReadText(keys_ + "/learner.secret"), before);
  for (const char* name : {"", "../up", ".hidden"}) {
    EXPECT_THROW(MakeSimulatorKeys(folder_.Path() + "/new", name), InputError) << name;
  }
}

TEST_F(Security, KeyFilesThatAreNoneAreNamed) {
  const std::string path = keys_ + "/learner.public";
  for (const std::string& text :
       {std::string(), std::string("short"), std::string(40, ' '), std::string(41, '0'), std::string(100000, '0')}) {
    WriteFileAtomically(path, text);
    EXPECT_THAT(MessageOf<InputError>([&] { SimulatorIdentity(keys_); }),
                HasSubstr("learner.public: is not a key file"));
  }
  fs::remove(path);
  EXPECT_THAT(MessageOf<InputError>([&] { SimulatorIdentity(keys_); }), HasSubstr("learner.public: cannot be read"));
  fs::remove_all(keys_ + "/allowed");
  EXPECT_THAT(MessageOf<InputError>([&] { LearnerIdentity(keys_); }), HasSubstr("no simulator could join"));
}

TEST_F(Security, KeysWithATransportThatStaysOnTheMachineAreRefused) {
  WireConfig config = ConfigFor("shm", folder_.Path());
  config.curve.keys = keys_;
  EXPECT_THAT(MessageOf<InputError>([&] { config.Check("run.yaml"); }), HasSubstr("run.yaml: wire.curve.keys"));
}

}  // namespace
}  // namespace gripstream
