// Well-formed inputs for tests/wire/fuzz_wire.h: what mutation starts from.
#pragma once

#include "tests/wire/fuzz_wire.h"

namespace gripstream {

using Bytes = std::vector<std::byte>;

inline void Append(Bytes& to, const Bytes& more) {
  const size_t before = to.size();
  to.resize(before + more.size());
  std::copy(more.begin(), more.end(), to.data() + before);
}

inline Bytes Seed(int target, const Bytes& rest) {
  Bytes seed = {static_cast<std::byte>(target)};
  Append(seed, rest);
  return seed;
}

// One step of a conversation.
inline Bytes Step(int connection, const Bytes& frame, const Bytes& payload = {}) {
  Bytes step(5);
  const auto frame_bytes = static_cast<uint16_t>(frame.size()), payload_bytes = static_cast<uint16_t>(payload.size());
  step[0] = static_cast<std::byte>(connection - 1);
  std::memcpy(step.data() + 1, &frame_bytes, 2);
  std::memcpy(step.data() + 3, &payload_bytes, 2);
  Append(step, frame);
  Append(step, payload);
  return step;
}

inline Bytes SeedRecord(uint64_t sequence) {
  Bytes record(FuzzLayout().Bytes());
  RecordHeader header{};
  header.magic = kRecordMagic, header.version = kRecordVersion, header.sequence = sequence;
  header.env_count = 4, header.payload_bytes = record.size();
  std::memcpy(record.data(), &header, sizeof(header));
  FillRecord(FuzzLayout(), record, sequence);
  return record;
}

inline Bytes PackedRecord(const std::string& compression, uint64_t sequence) {
  RecordCodec codec(compression, FuzzLayout());
  const std::span<const std::byte> packed = codec.Pack(SeedRecord(sequence));
  return {packed.begin(), packed.end()};
}

// A simulator that joins and answers three commands, by what its learner hears.
inline Bytes LearnerConversation(const std::string& compression) {
  Join join = JoinFor(0, 4, "sim 0");
  join.spec_hash = FuzzLayout().Hash(), join.slots = 3, join.record_bytes = FuzzLayout().Bytes();
  join.compression = compression;
  Bytes all = Step(1, Encode(join));
  const auto append = [&](const Bytes& step) { Append(all, step); };
  append(Step(1, Encode(Heartbeat{"physics", 3})));
  append(Step(1, Encode(StateMessage{}, {.payload_bytes = 9}), Bytes(9)));
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) {
    const Bytes record = compression == "none" ? SeedRecord(sequence) : PackedRecord(compression, sequence);
    const FrameExtras extras{static_cast<uint32_t>(sequence % 3), sequence, record.size()};
    append(Step(1, Encode(RecordMessage{}, extras), record));
  }
  return all;
}

inline Bytes SimulatorConversation() {
  Bytes all = Step(1, Encode(Welcome{"pid 1", 0}));
  const auto append = [&](const Bytes& step) { Append(all, step); };
  append(Step(1, Encode(Heartbeat{"update", 3})));
  append(Step(1, Encode(CreditMessage{}, {.slot = 0, .sequence = 1})));
  append(Step(1, Encode(CommandMessage{2, 0, 7}, {.sequence = 1, .payload_bytes = 8}), Bytes(8)));
  append(Step(1, Encode(CommandMessage{5, 0, 0}, {.sequence = 2})));
  return all;
}

inline std::vector<Bytes> FuzzSeeds() {
  std::vector<Bytes> seeds;
  Join join = JoinFor(0, 4, "sim 0");
  for (const Bytes& frame :
       {Encode(join), Encode(Welcome{"pid 1", 0}), Encode(Refuse{"no"}), Encode(Heartbeat{"physics", 12}),
        Encode(Leave{"done"}), Encode(Failure{"NaN"}), Encode(RecordMessage{}, {2, 9, 1 << 20}),
        Encode(CreditMessage{}, {2, 9, 0}), Encode(CommandMessage{2, 1, 77}, {kNoSlot, 5, 400}),
        Encode(StateMessage{}, {kNoSlot, 0, 1 << 30})}) {
    seeds.push_back(Seed(0, frame));
  }
  EpisodeRequest request;
  request.evaluation = true, request.seed = 7, request.shown = 2, request.picture_path = "sheet.png";
  seeds.push_back(Seed(1, request.Encode()));
  seeds.push_back(Seed(2, PackedRecord("lz4", 1)));
  seeds.push_back(Seed(3, PackedRecord("zstd", 1)));
  for (const char* compression : {"none", "lz4", "zstd"}) seeds.push_back(Seed(4, LearnerConversation(compression)));
  seeds.push_back(Seed(5, SimulatorConversation()));
  return seeds;
}

}  // namespace gripstream
