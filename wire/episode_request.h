// The payload of a reset command: which episodes every environment starts, and whether pictures of them are wanted.
//
// A plain value. Encoded as the numbers in order, little-endian, then the texts; decoding throws RunError on anything
// else.
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
  bool held_out = false;       // of an evaluation: held-out objects instead of the training ones
  uint64_t seed = 0;           // of the evaluation set
  uint32_t first_episode = 0;  // environment i plays episode first_episode + i of the set
  uint32_t episodes = 0;       // only environments below this count; what others play is ignored
  // Pictures of some of the episodes, taken in this simulator; 0: none.
  uint32_t shown = 0;        // how many episodes
  std::string picture_path;  // *.mp4: a film of them, else a PNG contact sheet; written when they have ended
  // Of a film.
  std::string camera;  // empty: the model's overview
  uint32_t width_px = 640, height_px = 480;

  std::vector<std::byte> Encode() const {
    const Fixed fixed{seed,  first_episode, episodes,  (evaluation ? kEvaluation : 0u) | (held_out ? kHeldOut : 0u),
                      shown, width_px,      height_px, static_cast<uint32_t>(picture_path.size())};
    const std::string text = picture_path + camera;
    std::vector<std::byte> bytes(sizeof(fixed) + text.size());
    std::memcpy(bytes.data(), &fixed, sizeof(fixed));
    std::memcpy(bytes.data() + sizeof(fixed), text.data(), text.size());
    return bytes;
  }

  static EpisodeRequest Decode(std::span<const std::byte> bytes) {
    Fixed fixed;
    if (bytes.size() < sizeof(fixed)) throw RunError("reset command of " + std::to_string(bytes.size()) + " bytes");
    std::memcpy(&fixed, bytes.data(), sizeof(fixed));
    const std::string text(reinterpret_cast<const char*>(bytes.data()) + sizeof(fixed), bytes.size() - sizeof(fixed));
    if (fixed.path_bytes > text.size()) throw RunError("reset command with a path beyond its end");
    EpisodeRequest request;
    request.evaluation = (fixed.kind & kEvaluation) != 0;
    request.held_out = (fixed.kind & kHeldOut) != 0;
    request.seed = fixed.seed;
    request.first_episode = fixed.first_episode;
    request.episodes = fixed.episodes;
    request.shown = fixed.shown;
    request.picture_path = text.substr(0, fixed.path_bytes);
    request.camera = text.substr(fixed.path_bytes);
    request.width_px = fixed.width_px;
    request.height_px = fixed.height_px;
    return request;
  }

 private:
  static constexpr uint32_t kEvaluation = 1, kHeldOut = 2;
  struct Fixed {
    uint64_t seed;
    uint32_t first_episode;
    uint32_t episodes;
    uint32_t kind;  // bits: kEvaluation, kHeldOut
    uint32_t shown;
    uint32_t width_px, height_px;
    uint32_t path_bytes;
    uint32_t reserved = 0;  // keeps the size free of padding
  };
  static_assert(sizeof(Fixed) == 40, "no padding");
};

}  // namespace gripstream
