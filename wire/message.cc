#include "wire/message.h"

#include <algorithm>

namespace gripstream {

const char* NameOf(MessageKind kind) {
  switch (kind) {
    case MessageKind::kJoin:
      return "join";
    case MessageKind::kWelcome:
      return "welcome";
    case MessageKind::kRefuse:
      return "refuse";
    case MessageKind::kHeartbeat:
      return "heartbeat";
    case MessageKind::kLeave:
      return "leave";
    case MessageKind::kFailure:
      return "failure";
    case MessageKind::kRecord:
      return "record";
    case MessageKind::kCredit:
      return "credit";
    case MessageKind::kCommand:
      return "command";
    case MessageKind::kState:
      return "state";
    case MessageKind::kNcclInvite:
      return "nccl invite";
  }
  return "unknown";
}

const char* NameOf(CommandKind kind) {
  switch (kind) {
    case CommandKind::kReset:
      return "reset";
    case CommandKind::kStep:
      return "step";
    case CommandKind::kSaveState:
      return "save state";
    case CommandKind::kLoadState:
      return "load state";
    case CommandKind::kStop:
      return "stop";
    case CommandKind::kSetLevel:
      return "set curriculum level";
    case CommandKind::kPolicy:
      return "publish policy";
    case CommandKind::kAct:
      return "act";
  }
  return "unknown";
}

void FrameWriter::Append(const void* data, size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  out_.insert(out_.end(), begin, begin + bytes);
}

void FrameWriter::operator()(const std::string& text) {
  const size_t bytes = std::min(text.size(), kMaxText_bytes);
  (*this)(static_cast<uint32_t>(bytes));
  Append(text.data(), bytes);
}

std::span<const std::byte> FrameReader::Take(size_t bytes) {
  if (bytes > rest_.size()) {
    throw FrameError("message body ends after " + std::to_string(rest_.size()) + " of " + std::to_string(bytes) +
                     " bytes");
  }
  const std::span<const std::byte> taken = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  return taken;
}

void FrameReader::operator()(std::string& text) {
  uint32_t bytes = 0;
  (*this)(bytes);
  if (bytes > kMaxText_bytes) throw FrameError("text of " + std::to_string(bytes) + " bytes in a message");
  const std::span<const std::byte> taken = Take(bytes);
  text.assign(reinterpret_cast<const char*>(taken.data()), taken.size());
}

void FrameReader::ExpectEnd() const {
  if (!rest_.empty()) throw FrameError(std::to_string(rest_.size()) + " bytes too many in a message body");
}

std::vector<std::byte> FinishFrame(MessageKind kind, const FrameExtras& extras, std::vector<std::byte> frame) {
  FrameHeader header;
  header.kind = static_cast<uint16_t>(kind);
  header.body_bytes = static_cast<uint32_t>(frame.size() - sizeof(FrameHeader));
  header.slot = extras.slot;
  header.sequence = extras.sequence;
  header.payload_bytes = extras.payload_bytes;
  GS_CHECK(header.body_bytes <= kMaxBody_bytes, "message body too large");
  GS_CHECK(header.payload_bytes <= kMaxPayload_bytes, "payload too large");
  std::memcpy(frame.data(), &header, sizeof(header));
  return frame;
}

Frame ParseFrame(std::span<const std::byte> bytes) {
  Frame frame;
  if (bytes.size() < sizeof(FrameHeader)) {
    throw FrameError("frame of " + std::to_string(bytes.size()) + " bytes, shorter than its header");
  }
  std::memcpy(&frame.header, bytes.data(), sizeof(FrameHeader));
  const FrameHeader& header = frame.header;
  if (header.magic != kFrameMagic) throw FrameError("not a gripstream message");
  if (header.version != kFrameVersion) {
    throw FrameError("frame version " + std::to_string(header.version) + ", this build reads " +
                     std::to_string(kFrameVersion));
  }
  if (header.kind < static_cast<uint16_t>(MessageKind::kJoin) ||
      header.kind > static_cast<uint16_t>(MessageKind::kNcclInvite)) {
    throw FrameError("unknown message kind " + std::to_string(header.kind));
  }
  const size_t body_bytes = bytes.size() - sizeof(FrameHeader);
  if (header.body_bytes != body_bytes || body_bytes > kMaxBody_bytes) {
    throw FrameError("message says " + std::to_string(header.body_bytes) + " body bytes and has " +
                     std::to_string(body_bytes));
  }
  if (header.payload_bytes > kMaxPayload_bytes) {
    throw FrameError("message announces " + std::to_string(header.payload_bytes) + " payload bytes");
  }
  frame.body.assign(bytes.begin() + sizeof(FrameHeader), bytes.end());
  return frame;
}

}  // namespace gripstream
