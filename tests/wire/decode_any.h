// Decodes a frame as whatever it says it is: the entry that the message tests and the fuzzer share.
#pragma once

#include "wire/message.h"

namespace gripstream {

inline void DecodeAny(std::span<const std::byte> bytes) {
  const Frame frame = ParseFrame(bytes);
  switch (frame.Kind()) {
    case MessageKind::kJoin:
      Decode<Join>(frame);
      return;
    case MessageKind::kWelcome:
      Decode<Welcome>(frame);
      return;
    case MessageKind::kRefuse:
      Decode<Refuse>(frame);
      return;
    case MessageKind::kHeartbeat:
      Decode<Heartbeat>(frame);
      return;
    case MessageKind::kLeave:
      Decode<Leave>(frame);
      return;
    case MessageKind::kFailure:
      Decode<Failure>(frame);
      return;
    case MessageKind::kRecord:
      Decode<RecordMessage>(frame);
      return;
    case MessageKind::kCredit:
      Decode<CreditMessage>(frame);
      return;
    case MessageKind::kCommand:
      Decode<CommandMessage>(frame);
      return;
    case MessageKind::kState:
      Decode<StateMessage>(frame);
      return;
    case MessageKind::kNcclInvite:
      Decode<NcclInvite>(frame);
      return;
  }
}

}  // namespace gripstream
