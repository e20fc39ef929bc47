// Textures ready to be looked up: a pyramid of halved images, so that far surfaces do not flicker, packed.
//
// Shared by all models that hold equal images. Immutable after construction; safe to share between threads.
#pragma once

#include <mujoco/mujoco.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim_server/render/shade.h"

namespace gripstream {

// An image's pixels, [height, width] red, green, blue.
struct RgbImage {
  int width = 0, height = 0;
  std::vector<uint8_t> pixels;
};

class Texture {
 public:
  Texture(const mjModel& model, int id);
  explicit Texture(const RgbImage& image);
  const TextureView& View() const { return view_; }

 private:
  void Build(int width, int height, std::vector<uint32_t> texels);
  void AddLevel(int width, int height, const std::vector<uint32_t>& texels);
  std::vector<uint32_t> Halved(const std::vector<uint32_t>& texels) const;

  std::vector<std::vector<uint32_t>> levels_;  // [face, height + 1, width + 1]
  TextureView view_ = {};
};

class TextureLibrary {
 public:
  // The same pointer for equal images. Owned by the library.
  const TextureView* Add(const mjModel& model, int id);
  const TextureView* Add(const RgbImage& image);
  std::vector<const TextureView*> All() const;

 private:
  std::unordered_map<std::string, std::unique_ptr<Texture>> by_content_;
};

}  // namespace gripstream
