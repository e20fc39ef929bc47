// The payload of a reset command: which episodes every environment starts, and whether pictures of them are wanted.
//
// A plain value. Encoded as the fields in order, little-endian, text last; decoding throws RunError on anything else.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"

namespace gripstream {

struct EpisodeRequest {
  bool evaluation = false;     // the fixed evaluation set instead of the endless training episodes
  uint64_t seed = 0;           // of the evaluation set
  uint32_t first_episode = 0;  // environment i plays episode first_episode + i of the set
  uint32_t episodes = 0;       // only environments below this count; what others play is ignored
  uint32_t sheet_rows = 0;     // episodes to put on the contact sheet, taken from this simulator
  std::string sheet_path;      // PNG to write when they have ended; empty: none

  std::vector<std::byte> Encode() const {
    const Fixed fixed{seed, first_episode, episodes, sheet_rows, evaluation ? 1u : 0u};
    std::vector<std::byte> bytes(sizeof(fixed) + sheet_path.size());
    std::memcpy(bytes.data(), &fixed, sizeof(fixed));
    std::memcpy(bytes.data() + sizeof(fixed), sheet_path.data(), sheet_path.size());
    return bytes;
  }

  static EpisodeRequest Decode(std::span<const std::byte> bytes) {
    Fixed fixed;
    if (bytes.size() < sizeof(fixed)) throw RunError("reset command of " + std::to_string(bytes.size()) + " bytes");
    std::memcpy(&fixed, bytes.data(), sizeof(fixed));
    const std::span<const std::byte> text = bytes.subspan(sizeof(fixed));
    return {fixed.evaluation != 0, fixed.seed,
            fixed.first_episode,   fixed.episodes,
            fixed.sheet_rows,      std::string(reinterpret_cast<const char*>(text.data()), text.size())};
  }

 private:
  struct Fixed {
    uint64_t seed;
    uint32_t first_episode;
    uint32_t episodes;
    uint32_t sheet_rows;
    uint32_t evaluation;
  };
  static_assert(sizeof(Fixed) == 24, "no padding");
};

}  // namespace gripstream
