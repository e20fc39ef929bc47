// What LearnerEnd keeps of one joined simulator; for its own sources only.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "wire/transport.h"

namespace gripstream {

struct LearnerEnd::Peer {
  int index = -1;  // among the peers, once all have joined
  struct QueuedRecord {
    Bulk bulk;
    RecordHeader header;
    uint32_t slot;
  };
  int connection = 0;
  PeerInfo info;
  uint32_t slots = 0;
  Layout layout;
  PeerWatch watch;
  std::deque<QueuedRecord> records;     // arrived, not yet received
  std::vector<Bulk> held;               // per slot: received, not yet released
  std::vector<uint64_t> slot_sequence;  // per slot: 0 = with the simulator, else the record here
  std::deque<Bulk> states;
  std::unique_ptr<RecordCodec> codec;                               // when it compresses its records
  std::vector<std::shared_ptr<std::vector<std::byte>>> unpacked{};  // then: per slot
  uint64_t next_record = 1;
  uint64_t next_command = 1;
  bool parted = false;  // left in order or closed: nothing can be sent any more
  bool absent = false;  // put out, and not replaced yet
  std::string fault;    // why nothing more will come; empty while all is well
};

// "[0, 8)", for messages.
std::string EnvRangeText(uint64_t begin, uint64_t end);

}  // namespace gripstream
