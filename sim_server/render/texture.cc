#include "sim_server/render/texture.h"

#include <algorithm>

#include "core/files.h"

namespace gripstream {

Texture::Texture(const mjModel& model, int id) {
  const int width = model.tex_width[id], channels = model.tex_nchannel[id], rows = model.tex_height[id];
  // A cube's faces lie one below the other; where all are equal MuJoCo may store a single one.
  const bool cube = model.tex_type[id] != mjTEXTURE_2D;
  const int height = cube ? width : rows, stored = cube ? rows / width : 1;
  view_.face_count = cube ? 6 : 1;
  const mjtByte* data = model.tex_data + model.tex_adr[id];
  std::vector<uint32_t> texels;
  for (int face = 0; face < view_.face_count; ++face) {
    const mjtByte* from = data + static_cast<int64_t>(face % stored) * channels * width * height;
    for (int i = 0; i < width * height; ++i, from += channels) {
      const int g = channels >= 3 ? 1 : 0, b = channels >= 3 ? 2 : 0;
      texels.push_back(uint32_t{from[0]} | uint32_t{from[g]} << 8 | uint32_t{from[b]} << 16);
    }
  }
  Build(width, height, std::move(texels));
}

Texture::Texture(const RgbImage& image) {
  view_.face_count = 1;
  std::vector<uint32_t> texels;
  for (size_t i = 0; i + 2 < image.pixels.size(); i += 3) {
    texels.push_back(uint32_t{image.pixels[i]} | uint32_t{image.pixels[i + 1]} << 8 |
                     uint32_t{image.pixels[i + 2]} << 16);
  }
  Build(image.width, image.height, std::move(texels));
}

// `texels` [face, height, width].
void Texture::Build(int width, int height, std::vector<uint32_t> texels) {
  AddLevel(width, height, texels);
  while (view_.level_count < kMaxTextureLevels && std::max(width, height) > 1) {
    texels = Halved(texels);
    width = std::max(1, width / 2), height = std::max(1, height / 2);
    AddLevel(width, height, texels);
  }
}

void Texture::AddLevel(int width, int height, const std::vector<uint32_t>& texels) {
  std::vector<uint32_t> padded;
  const bool repeats = view_.face_count == 1;
  for (int face = 0; face < view_.face_count; ++face) {
    for (int y = 0; y <= height; ++y) {
      const int from_y = y < height ? y : repeats ? 0 : height - 1;
      const uint32_t* row = texels.data() + (int64_t{face} * height + from_y) * width;
      padded.insert(padded.end(), row, row + width);
      padded.push_back(repeats ? row[0] : row[width - 1]);
    }
  }
  levels_.push_back(std::move(padded));
  const float columns = static_cast<float>(width), rows = static_cast<float>(height);
  view_.levels[view_.level_count++] = {levels_.back().data(), width, height, columns, rows, 1 / columns, 1 / rows};
}

// Of the last level.
std::vector<uint32_t> Texture::Halved(const std::vector<uint32_t>& texels) const {
  const TextureLevel& last = view_.levels[view_.level_count - 1];
  const int from_width = last.width, from_height = last.height;
  const int width = std::max(1, from_width / 2), height = std::max(1, from_height / 2);
  std::vector<uint32_t> halved;
  for (int face = 0; face < view_.face_count; ++face) {
    const uint32_t* from = texels.data() + int64_t{face} * from_width * from_height;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        uint32_t sum[3] = {2, 2, 2};  // rounds
        for (int k = 0; k < 4; ++k) {
          const int fx = std::min(2 * x + k % 2, from_width - 1), fy = std::min(2 * y + k / 2, from_height - 1);
          for (int c = 0; c < 3; ++c) sum[c] += from[int64_t{fy} * from_width + fx] >> (8 * c) & 255;
        }
        halved.push_back(sum[0] / 4 | sum[1] / 4 << 8 | sum[2] / 4 << 16);
      }
    }
  }
  return halved;
}

const TextureView* TextureLibrary::Add(const mjModel& model, int id) {
  Sha256 hash;
  const int shape[4] = {model.tex_type[id], model.tex_width[id], model.tex_height[id], model.tex_nchannel[id]};
  hash.Update(shape, sizeof shape);
  hash.Update(model.tex_data + model.tex_adr[id], static_cast<size_t>(shape[1]) * shape[2] * shape[3]);
  std::unique_ptr<Texture>& texture = by_content_[hash.HexDigest()];
  if (!texture) texture = std::make_unique<Texture>(model, id);
  return &texture->View();
}

const TextureView* TextureLibrary::Add(const RgbImage& image) {
  Sha256 hash;
  const int shape[2] = {image.width, image.height};
  hash.Update(shape, sizeof shape);
  hash.Update(image.pixels.data(), image.pixels.size());
  std::unique_ptr<Texture>& texture = by_content_[hash.HexDigest()];
  if (!texture) texture = std::make_unique<Texture>(image);
  return &texture->View();
}

std::vector<const TextureView*> TextureLibrary::All() const {
  std::vector<const TextureView*> all;
  for (const auto& [content, texture] : by_content_) all.push_back(&texture->View());
  return all;
}

}  // namespace gripstream
