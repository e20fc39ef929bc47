// Textures ready to be looked up: a pyramid of halved images, so that far surfaces do not flicker.
//
// Shared by all models that hold equal images. Immutable after construction; safe to share between threads.
#pragma once

#include <mujoco/mujoco.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace gripstream {

struct Rgb {
  float r, g, b;
};

class Texture {
 public:
  Texture(const mjModel& model, int id);

  // Flat textures: (s, t) repeat with period 1, t from the first row on; `texels` is how many texels of the full image
  // a pixel spans.
  Rgb Look(float s, float t, float texels) const { return LookFace(0, s, t, texels, true); }
  // Cube textures, by direction.
  Rgb LookCube(float x, float y, float z) const;
  bool IsCube() const { return faces_.size() == 6; }
  int Width() const { return faces_[0][0].width; }
  int Height() const { return faces_[0][0].height; }

 private:
  struct Level {
    int width, height;
    std::vector<uint8_t> rgb;  // [height, width, 3]
  };
  using Pyramid = std::vector<Level>;

  Rgb LookFace(int face, float s, float t, float texels, bool repeat) const;
  static Pyramid BuildPyramid(Level full);

  std::vector<Pyramid> faces_;  // one, or six: +x -x +y -y +z -z
};

class TextureLibrary {
 public:
  // The same pointer for equal images. Owned by the library.
  const Texture* Add(const mjModel& model, int id);

 private:
  std::unordered_map<std::string, std::unique_ptr<Texture>> by_content_;
};

}  // namespace gripstream
