#include "sim_server/render/texture.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/files.h"
#include "sim_server/render/camera.h"

namespace gripstream {
namespace {

int Wrap(int i, int n, bool repeat) {
  if (!repeat) return std::clamp(i, 0, n - 1);
  i %= n;
  return i < 0 ? i + n : i;
}

}  // namespace

Texture::Texture(const mjModel& model, int id) {
  const int width = model.tex_width[id], channels = model.tex_nchannel[id];
  const bool cube = model.tex_type[id] != mjTEXTURE_2D;
  // A cube's faces lie one below the other; MuJoCo stores one face only where all six are equal.
  const int rows = model.tex_height[id], height = cube ? width : rows;
  const mjtByte* data = model.tex_data + model.tex_adr[id];
  const int stored = cube ? rows / width : 1;
  for (int face = 0; face < (cube ? 6 : 1); ++face) {
    Level full = {width, height, std::vector<uint8_t>(size_t{3} * width * height)};
    const mjtByte* from = data + static_cast<int64_t>(face % stored) * channels * width * height;
    for (int i = 0; i < width * height; ++i) {
      for (int c = 0; c < 3; ++c) full.rgb[3 * i + c] = from[channels * i + (channels >= 3 ? c : 0)];
    }
    faces_.push_back(BuildPyramid(std::move(full)));
  }
}

Texture::Pyramid Texture::BuildPyramid(Level full) {
  Pyramid pyramid = {std::move(full)};
  while (pyramid.back().width > 1 || pyramid.back().height > 1) {
    const Level& from = pyramid.back();
    Level half = {std::max(1, from.width / 2), std::max(1, from.height / 2), {}};
    for (int y = 0; y < half.height; ++y) {
      for (int x = 0; x < half.width; ++x) {
        for (int c = 0; c < 3; ++c) {
          int sum = 0;
          for (int k = 0; k < 4; ++k) {
            const int fx = std::min(2 * x + k % 2, from.width - 1), fy = std::min(2 * y + k / 2, from.height - 1);
            sum += from.rgb[3 * (static_cast<size_t>(fy) * from.width + fx) + c];
          }
          half.rgb.push_back(static_cast<uint8_t>((sum + 2) / 4));
        }
      }
    }
    pyramid.push_back(std::move(half));
  }
  return pyramid;
}

Rgb Texture::LookFace(int face, float s, float t, float texels, bool repeat) const {
  const Pyramid& pyramid = faces_[static_cast<size_t>(face)];
  size_t level = 0;
  for (; texels > 1.4f && level + 1 < pyramid.size(); texels *= 0.5f) ++level;
  const Level& image = pyramid[level];
  const float x = s * static_cast<float>(image.width) - 0.5f, y = t * static_cast<float>(image.height) - 0.5f;
  const float fx = std::floor(x), fy = std::floor(y);
  const float weight_x[2] = {1 - (x - fx), x - fx}, weight_y[2] = {1 - (y - fy), y - fy};
  float sum[3] = {0, 0, 0};
  for (int k = 0; k < 4; ++k) {
    const int px = Wrap(static_cast<int>(fx) + k % 2, image.width, repeat);
    const int py = Wrap(static_cast<int>(fy) + k / 2, image.height, repeat);
    const uint8_t* texel = image.rgb.data() + 3 * (static_cast<int64_t>(py) * image.width + px);
    const float weight = weight_x[k % 2] * weight_y[k / 2];
    for (int c = 0; c < 3; ++c) sum[c] += weight * static_cast<float>(texel[c]);
  }
  return {sum[0] / 255, sum[1] / 255, sum[2] / 255};
}

// The usual convention of cube maps: face, then the two other coordinates over the largest.
Rgb Texture::LookCube(float x, float y, float z) const {
  const float ax = std::abs(x), ay = std::abs(y), az = std::abs(z);
  int face;
  float s, t, major;
  if (ax >= ay && ax >= az) {
    face = x > 0 ? 0 : 1, major = ax, s = x > 0 ? -z : z, t = -y;
  } else if (ay >= az) {
    face = y > 0 ? 2 : 3, major = ay, s = x, t = y > 0 ? z : -z;
  } else {
    face = z > 0 ? 4 : 5, major = az, s = z > 0 ? x : -x, t = -y;
  }
  if (!(major > 0)) major = 1;
  return LookFace(face, 0.5f * (s / major + 1), 0.5f * (t / major + 1), 1, false);
}

const Texture* TextureLibrary::Add(const mjModel& model, int id) {
  Sha256 hash;
  const int shape[4] = {model.tex_type[id], model.tex_width[id], model.tex_height[id], model.tex_nchannel[id]};
  hash.Update(shape, sizeof shape);
  hash.Update(model.tex_data + model.tex_adr[id], static_cast<size_t>(shape[1]) * shape[2] * shape[3]);
  std::unique_ptr<Texture>& texture = by_content_[hash.HexDigest()];
  if (!texture) texture = std::make_unique<Texture>(model, id);
  return texture.get();
}

}  // namespace gripstream
