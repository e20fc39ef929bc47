// The two ends of the wire: a simulator publishes one record per step, the learner answers with one command per step.
//
//   simulator: AcquireRecord -> write in place -> PublishRecord -> WaitCommand -> act -> ...
//   learner:   ReceiveRecord (each peer) -> copy out -> ReleaseRecord -> inference -> Send (each peer) -> ...
//
// Nothing is dropped: a simulator has `wire.slots` record slots, publishing spends one, ReleaseRecord gives it back,
// and AcquireRecord waits while all are in flight. Records and commands are numbered per peer and a gap or repeat is an
// error. Both ends send heartbeats from a thread of their own that say at which stage the owner is.
//
// Each end belongs to one thread, except SetStage, which any thread may call. Waits end with RunError, naming who, at
// which stage and since when, when the peer closes its end, is silent for wire.deadline_s, reports a failure, breaks
// the protocol, or the given deadline passes. Configuration at fault (address in use or malformed): InputError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/deadline.h"
#include "wire/config.h"
#include "wire/layout.h"
#include "wire/line.h"
#include "wire/message.h"
#include "wire/pulse.h"
#include "wire/record_codec.h"

namespace gripstream {

// What the learner wants done next. `payload` is valid until the next WaitCommand.
struct Command {
  CommandKind kind = CommandKind::kStep;
  uint32_t group = 0;  // which part of the simulator's environments; 0 when it has one
  uint64_t sequence = 0;
  uint64_t policy_version = 0;
  std::span<const std::byte> payload;  // as the roles agree; kLoadState: what SendState sent
};

// The learner, or the link to it, has failed this simulator: gone, silent, refusing, breaking the protocol, too slow.
// Another learner of the run may do better.
class LearnerLost : public RunError {
 public:
  using RunError::RunError;
};

class SimulatorEnd {
 public:
  SimulatorEnd(const WireConfig& config, const Join& join, const Layout& layout, std::unique_ptr<SimulatorLine> line,
               Deadline deadline);
  ~SimulatorEnd();  // without Leave or kStop before it, the learner takes this for a death
  SimulatorEnd(const SimulatorEnd&) = delete;
  SimulatorEnd& operator=(const SimulatorEnd&) = delete;

  // The first of this simulator's environments: for a spare those it was given; kAnyEnvs when the run ended before any
  // were missing, in which case WaitCommand returns kStop.
  uint32_t EnvBegin() const { return join_.env_begin; }
  // A free slot of Layout::Bytes(), its header set but for the step's own fields; the rest keeps what it last held.
  // Waits for a credit. Empty when the learner has asked to stop: WaitCommand then returns kStop.
  std::span<std::byte> AcquireRecord(Deadline deadline);
  // Hands the acquired slot to the learner. Does not wait.
  void PublishRecord();
  // The next command in order. kStop is the last one and is acknowledged by this call.
  Command WaitCommand(Deadline deadline);
  // Answers kSaveState.
  void SendState(std::span<const std::byte> state);
  // The last word to the learner: why this simulator cannot go on. Only the first parting is sent; never throws for the
  // learner's sake.
  void SendFailure(const std::string& text);
  // The same, leaving in order: not a death.
  void SendLeave(const std::string& reason);
  // What this process does now; travels with the next heartbeat. Any thread.
  void SetStage(const std::string& stage);

 private:
  struct PendingCommand {
    Command command;
    Bulk bulk;
  };
  void JoinRun(Deadline deadline);
  bool TakeAnswer(const Event& event);
  void Pump(const std::string& awaited, Deadline deadline);
  void Dispatch(Event event);
  void TakeCredit(const FrameHeader& header);
  void TakeCommand(Event event);
  void SendParting(const std::vector<std::byte>& frame);
  [[noreturn]] void ThrowGone(const std::string& during);
  bool StopPending() const;

  WireConfig config_;
  Join join_;
  size_t record_bytes_;
  uint32_t group_envs_;
  std::unique_ptr<SimulatorLine> line_;
  std::unique_ptr<RecordCodec> codec_;  // when records are compressed
  std::string learner_;                 // who it is, for messages
  PeerWatch watch_;
  std::vector<uint64_t> slot_sequence_;  // 0 = free, else the record in flight
  int acquired_slot_ = -1;
  uint64_t next_record_ = 1;
  uint64_t next_command_ = 1;
  std::deque<PendingCommand> commands_;
  Bulk current_payload_;
  bool parted_ = false;           // said goodbye
  std::unique_ptr<Pulse> pulse_;  // last: its thread uses line_
};

// A simulator as the learner knows it.
struct PeerInfo {
  std::string name;
  std::string host;
  uint64_t pid = 0;
  uint32_t env_begin = 0;
  uint32_t env_count = 0;
  uint32_t groups = 1;
  std::string Describe() const;  // "simulator 'sim 0' (pid 12 on host, environments [0, 64))"
};

// A record in its slot. `record` is valid until ReleaseRecord, even if the simulator dies meanwhile.
struct Received {
  std::span<const std::byte> record;  // Layout::Bytes(); at least 8-byte aligned
  RecordHeader header{};              // a checked copy
  uint32_t slot = 0;
};

// A simulator that can deliver nothing more: dead, silent, stuck, misbehaving or gone. The others are as they were.
class PeerLost : public RunError {
 public:
  PeerLost(int peer, const std::string& what) : RunError(what), peer_(peer) {}
  int Peer() const { return peer_; }  // its index; -1 while simulators still join

 private:
  int peer_;
};

// What the learner expects of those who join.
struct LearnerOptions {
  std::string run_id;
  std::vector<TensorSpec> specs;
  uint64_t config_hash = 0;
  int total_envs = 0;  // the peers' ranges must cover [first_env, first_env + total_envs) exactly
  int first_env = 0;
};

class LearnerEnd {
 public:
  LearnerEnd(const WireConfig& config, const LearnerOptions& options, std::unique_ptr<LearnerHub> hub);
  ~LearnerEnd();  // without Stop before it, simulators take this for a death
  LearnerEnd(const LearnerEnd&) = delete;
  LearnerEnd& operator=(const LearnerEnd&) = delete;

  // Where simulators connect; differs from the configuration when a port was left to the system.
  const std::string& Address() const { return address_; }
  // Accepts joins until `count` simulators cover all environments; refuses those that do not fit, with the reason.
  void WaitForSimulators(int count, Deadline deadline);
  // Ordered by env_begin; a peer's index is its position here. Valid after WaitForSimulators.
  const std::vector<PeerInfo>& Peers() const { return infos_; }
  // The layout of this peer's records (N = its environments / its groups).
  const Layout& RecordLayout(int peer) const;
  // How regularly it has been heard.
  Liveness LivenessOf(int peer) const;
  // The peer's next record in order.
  Received ReceiveRecord(int peer, Deadline deadline);
  // Waits until one of these peers has a record to receive; which. Takes them in turn. PeerLost when one of them is
  // lost.
  int AwaitRecord(std::span<const int> peers, Deadline deadline);
  // Gives the slot back to the simulator. Releasing twice is a bug of ours.
  void ReleaseRecord(int peer, const Received& received);
  // Does not wait for the simulator to read it.
  void Send(int peer, CommandKind kind, uint64_t policy_version, std::span<const std::byte> payload,
            uint32_t group = 0);
  // The answer to kSaveState. Records that arrive meanwhile stay queued.
  std::vector<std::byte> ReceiveState(int peer, Deadline deadline);
  // Takes nothing more from this peer and tells it so, should it live; its records are dropped, held ones too. Until
  // somebody joins with the same environments it is absent: sending to it or waiting for it throws PeerLost.
  void PutOut(int peer, const std::string& reason);
  bool Absent(int peer) const;
  // Waits until nobody is absent; false at the deadline. Replacements also come in during all other waits. They start
  // with record and command 1. Spares that wait take a place as soon as it is free.
  bool AwaitReplacements(Deadline deadline);
  // Spares that wait.
  int Spares() const { return static_cast<int>(spares_.size()); }
  // The environments of absent peers, described.
  std::string AbsentEnvironments() const;
  // Asks every living peer to stop and waits until each has acknowledged or closed; records still on their way are
  // dropped. Returns the peers that did not answer in time, described. Never throws for a peer's sake.
  std::vector<std::string> Stop(const std::string& reason, Deadline deadline);
  // Any thread.
  void SetStage(const std::string& stage);

 private:
  struct Peer;
  struct Spare {
    int connection;
    Join join;
  };
  void Pump(Deadline deadline, const Peer* awaited);
  void Dispatch(Event event);
  void DispatchToPeer(Peer& peer, Event event);
  void TakeJoin(const Event& event);
  bool Welcomed(int connection, const Join& join);
  void Turn(int connection, const Join& join, const std::string& reason);
  bool FindPlace(Join& join) const;
  void SeatSpares();
  std::string ReasonAgainstRun(const Join& join) const;
  std::string ReasonAgainstPlace(const Join& join) const;
  std::string ReasonAgainstShape(const Join& join) const;
  std::string ReasonNotToReplace(const Join& join) const;
  void Admit(std::unique_ptr<Peer> peer);
  bool AnyAbsent() const;
  void TakeRecord(Peer& peer, Event event);
  static Bulk Unpacked(Peer& peer, uint32_t slot, const Bulk& packed);
  Peer& PeerAt(int peer) const;
  void AwaitPeer(Peer& peer, const std::string& awaited, Deadline deadline);
  [[noreturn]] void ThrowFault(const Peer& peer, const std::string& awaited) const;
  std::string MissingRanges() const;

  WireConfig config_;
  LearnerOptions options_;
  uint64_t spec_hash_;
  int expected_count_ = 0;
  std::unique_ptr<LearnerHub> hub_;
  std::string address_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<PeerInfo> infos_;
  bool complete_ = false;
  std::set<int> put_out_;  // connections whose last messages may still come
  std::vector<Spare> spares_;
  size_t turn_ = 0;                          // of AwaitRecord
  std::optional<Deadline> interrupt_grace_;  // set once an interrupt is seen: until when answers are still waited for
  std::string last_refusal_;
  std::unique_ptr<Pulse> pulse_;  // last: its thread uses hub_
};

// What the line of a simulator with this configuration must hold.
LineShape ShapeOf(const WireConfig& config, const Join& join, const Layout& layout);

// Finds the learner (which may not listen yet), joins, and returns once welcomed. `layout` is of one record. A spare
// (Join::spare) that the learner has heard waits as long as the learner lives. Throws LearnerLost when refused, with
// the learner's reason, or when nobody answers in time; InputError for a bad address.
std::unique_ptr<SimulatorEnd> ConnectToLearner(const WireConfig& config, const Join& join, const Layout& layout,
                                               Deadline deadline);

// Listens; simulators may connect from now on. Throws InputError when the address is malformed or in use.
std::unique_ptr<LearnerEnd> ListenForSimulators(const WireConfig& config, const LearnerOptions& options);

}  // namespace gripstream
