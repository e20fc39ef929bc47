#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/host.h"
#include "core/log.h"
#include "wire/transport.h"

namespace gripstream {
namespace {

// Room for an environment's command (actions) before a transport has to allocate for it.
constexpr size_t kCommandPerEnv_bytes = 512;
constexpr size_t kLeastCommand_bytes = 65536;

size_t CommandBytes(uint32_t env_count) {
  return std::max(kLeastCommand_bytes, kCommandPerEnv_bytes * static_cast<size_t>(env_count));
}

}  // namespace

LineShape ShapeOf(const WireConfig& config, const Join& join, const Layout& layout) {
  return {static_cast<uint32_t>(config.slots), layout.Bytes(), CommandBytes(join.env_count)};
}

std::unique_ptr<SimulatorEnd> ConnectToLearner(const WireConfig& config, const Join& join, const Layout& layout,
                                               Deadline deadline) {
  config.Check();
  GS_CHECK(join.groups >= 1 && join.env_count == join.groups * static_cast<uint32_t>(layout.N()),
           "the layout must hold one group's environments");
  return std::make_unique<SimulatorEnd>(config, join, layout, MakeSimulatorLine(config, ShapeOf(config, join, layout)),
                                        deadline);
}

SimulatorEnd::SimulatorEnd(const WireConfig& config, const Join& join, const Layout& layout,
                           std::unique_ptr<SimulatorLine> line, Deadline deadline)
    : config_(config),
      join_(join),
      record_bytes_(layout.Bytes()),
      group_envs_(static_cast<uint32_t>(layout.N())),
      line_(std::move(line)),
      learner_("learner at " + config.address),
      slot_sequence_(static_cast<size_t>(config.slots), 0) {
  if (join_.pid == 0) join_.pid = static_cast<uint64_t>(getpid());
  if (join_.host.empty()) join_.host = HostName();
  if (join_.spec_hash == 0) join_.spec_hash = layout.Hash();
  join_.slots = static_cast<uint32_t>(config.slots);
  join_.record_bytes = record_bytes_;
  join_.command_bytes = CommandBytes(join_.env_count);
  join_.compression = config.compression;
  if (config.compression != "none") codec_ = std::make_unique<RecordCodec>(config.compression, layout);
  try {
    JoinRun(deadline);
  } catch (const FrameError& error) {
    throw LearnerLost(learner_ + " answered the join with something malformed: " + error.what());
  }
  LogInfo("joined ", learner_);
  pulse_ = std::make_unique<Pulse>(config_.heartbeat_s,
                                   [this](const std::vector<std::byte>& frame) { line_->TrySend(frame); });
}

SimulatorEnd::~SimulatorEnd() = default;

void SimulatorEnd::JoinRun(Deadline deadline) {
  line_->Open(Encode(join_), deadline);
  for (bool heard = false;; heard = true) {
    // A spare that the learner knows of waits as long as the learner lives.
    const bool spare_waits = join_.spare != 0 && heard;
    const std::optional<Event> event = line_->Receive(spare_waits ? Deadline::After(config_.deadline_s) : deadline);
    if (!event) {
      throw LearnerLost(learner_ + (spare_waits ? " is silent (wire.deadline_s = " + Seconds(config_.deadline_s) +
                                                      ") while this spare waits for environments"
                                                : " did not answer the join in time"));
    }
    if (TakeAnswer(*event)) return;
  }
}

// False while the learner has not decided.
bool SimulatorEnd::TakeAnswer(const Event& event) {
  if (event.kind == Event::Kind::kClosed) {
    throw LearnerLost(learner_ + " closed the connection during the join" +
                      (event.problem.empty() ? "" : "; " + event.problem));
  }
  if (event.kind == Event::Kind::kBroken) throw LearnerLost(learner_ + " answered the join with: " + event.problem);
  switch (event.frame.Kind()) {
    case MessageKind::kHeartbeat:
      return false;
    case MessageKind::kRefuse:
      throw LearnerLost(learner_ + " refused this simulator: " + Decode<Refuse>(event.frame).text);
    case MessageKind::kLeave:  // to a spare: the run is over
      commands_.push_back({{CommandKind::kStop, 0, 0, 0, {}}, {}});
      return true;
    default:
      break;
  }
  const Welcome welcome = Decode<Welcome>(event.frame);
  if (join_.spare == 0 && welcome.env_begin != join_.env_begin) {
    throw LearnerLost(learner_ + " gave this simulator environments that it had not asked for");
  }
  join_.env_begin = welcome.env_begin;
  watch_.Heard();
  learner_ = "learner (" + welcome.learner + ")";
  return true;
}

std::span<std::byte> SimulatorEnd::AcquireRecord(Deadline deadline) {
  GS_CHECK(acquired_slot_ < 0, "a record is already acquired");
  for (;;) {
    if (StopPending()) return {};
    const auto free = std::find(slot_sequence_.begin(), slot_sequence_.end(), uint64_t{0});
    if (free != slot_sequence_.end()) {
      acquired_slot_ = static_cast<int>(free - slot_sequence_.begin());
      break;
    }
    Pump("a free record slot", deadline);
  }
  const std::span<std::byte> record = line_->Slot(static_cast<uint32_t>(acquired_slot_));
  RecordHeader header{};
  header.magic = kRecordMagic;
  header.version = kRecordVersion;
  header.sequence = next_record_;
  header.env_begin = join_.env_begin;
  header.env_count = group_envs_;
  header.payload_bytes = record_bytes_;
  Layout::Header(record) = header;
  return record;
}

void SimulatorEnd::PublishRecord() {
  GS_CHECK(acquired_slot_ >= 0, "no record is acquired");
  const auto slot = static_cast<uint32_t>(std::exchange(acquired_slot_, -1));
  slot_sequence_[slot] = next_record_;
  FrameExtras extras{slot, next_record_++, record_bytes_};
  const Deadline deadline = Deadline::After(config_.deadline_s);
  SendResult result;
  if (codec_) {
    const std::span<const std::byte> packed = codec_->Pack(line_->Slot(slot));
    extras.payload_bytes = packed.size();
    result = line_->Send(Encode(RecordMessage{}, extras), packed, deadline);
  } else {
    result = line_->SendRecord(Encode(RecordMessage{}, extras), slot, deadline);
  }
  if (result != SendResult::kSent) ThrowGone("publishing record " + std::to_string(extras.sequence));
  pulse_->Progress();
}

Command SimulatorEnd::WaitCommand(Deadline deadline) {
  current_payload_ = {};
  while (commands_.empty()) Pump("command " + std::to_string(next_command_), deadline);
  PendingCommand next = std::move(commands_.front());
  commands_.pop_front();
  current_payload_ = std::move(next.bulk);
  next.command.payload = current_payload_.bytes;
  pulse_->Progress();
  if (next.command.kind == CommandKind::kStop) SendLeave("stopped as asked");
  return next.command;
}

void SimulatorEnd::SendState(std::span<const std::byte> state) {
  if (state.size() > kMaxPayload_bytes) {
    throw RunError("a state of " + std::to_string(state.size()) + " bytes is too large to send");
  }
  const std::vector<std::byte> frame = Encode(StateMessage{}, {.payload_bytes = state.size()});
  if (line_->Send(frame, state, Deadline::After(config_.deadline_s)) != SendResult::kSent)
    ThrowGone("sending its state");
}

void SimulatorEnd::SendFailure(const std::string& text) {
  SendParting(Encode(Failure{text}));
}

void SimulatorEnd::SendLeave(const std::string& reason) {
  SendParting(Encode(Leave{reason}));
}

void SimulatorEnd::SendParting(const std::vector<std::byte>& frame) {
  if (std::exchange(parted_, true)) return;
  try {
    line_->Send(frame, {}, Deadline::After(config_.deadline_s));
  } catch (const RunError& error) {
    LogWarning("could not say goodbye: ", error.what());
  }
}

void SimulatorEnd::SetStage(const std::string& stage) {
  pulse_->SetStage(stage);
}

// A send found nobody. What the learner said before it went is still to be read and explains it best.
void SimulatorEnd::ThrowGone(const std::string& during) {
  const Deadline brief = Deadline::After(0.2);
  while (!brief.Passed()) Pump(during, brief);
  throw LearnerLost(learner_ + " is gone or does not read while " + during + "; " + watch_.Describe());
}

// Takes in one event, or throws when the learner is gone, silent, or the deadline has passed.
void SimulatorEnd::Pump(const std::string& awaited, Deadline deadline) {
  for (;;) {
    // Whatever waits to be read counts before silence is judged.
    const double silence_left_s = config_.deadline_s - watch_.SilentSeconds();
    const double wait_s = std::clamp(std::min(silence_left_s, deadline.RemainingSeconds()), 0.0, 1e6);
    if (std::optional<Event> event = line_->Receive(Deadline::After(wait_s))) {
      Dispatch(std::move(*event));
      return;
    }
    if (deadline.Passed()) {
      throw LearnerLost("timed out waiting for " + awaited + " from " + learner_ + "; " + watch_.Describe());
    }
    if (watch_.SilentSeconds() >= config_.deadline_s) {
      throw LearnerLost(learner_ + " is silent (wire.deadline_s = " + Seconds(config_.deadline_s) +
                        ") while this simulator waits for " + awaited + "; " + watch_.Describe());
    }
  }
}

void SimulatorEnd::Dispatch(Event event) {
  if (event.kind == Event::Kind::kClosed) {
    throw LearnerLost(learner_ + " closed the connection; " + watch_.Describe());
  }
  if (event.kind == Event::Kind::kBroken) throw LearnerLost(learner_ + " sent something malformed: " + event.problem);
  watch_.Heard();
  switch (event.frame.Kind()) {
    case MessageKind::kHeartbeat:
      watch_.Note(Decode<Heartbeat>(event.frame));
      return;
    case MessageKind::kCredit:
      TakeCredit(event.frame.header);
      return;
    case MessageKind::kCommand:
      TakeCommand(std::move(event));
      return;
    case MessageKind::kRefuse:
      throw LearnerLost(learner_ + " put us out: " + Decode<Refuse>(event.frame).text);
    default:
      throw LearnerLost(learner_ + " sent an unexpected message: " + NameOf(event.frame.Kind()));
  }
}

void SimulatorEnd::TakeCredit(const FrameHeader& header) {
  if (header.slot >= slot_sequence_.size() || header.sequence == 0 || slot_sequence_[header.slot] != header.sequence) {
    throw LearnerLost(learner_ + " gave back record " + std::to_string(header.sequence) + " in slot " +
                      std::to_string(header.slot) + ", which is not in flight");
  }
  slot_sequence_[header.slot] = 0;
}

void SimulatorEnd::TakeCommand(Event event) {
  const CommandMessage message = Decode<CommandMessage>(event.frame);
  const uint64_t sequence = event.frame.header.sequence;
  if (sequence != next_command_) {
    throw LearnerLost(learner_ + " sent command " + std::to_string(sequence) + ", expected " +
                      std::to_string(next_command_));
  }
  if (message.command < static_cast<uint32_t>(CommandKind::kReset) ||
      message.command > static_cast<uint32_t>(CommandKind::kAct) || message.group >= join_.groups) {
    throw LearnerLost(learner_ + " sent command kind " + std::to_string(message.command) + " for group " +
                      std::to_string(message.group));
  }
  ++next_command_;
  const Command command{static_cast<CommandKind>(message.command), message.group, sequence, message.policy_version, {}};
  commands_.push_back({command, std::move(event.bulk)});
}

bool SimulatorEnd::StopPending() const {
  return std::any_of(commands_.begin(), commands_.end(),
                     [](const PendingCommand& pending) { return pending.command.kind == CommandKind::kStop; });
}

}  // namespace gripstream
