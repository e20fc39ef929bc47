#include "sim_server/render/procedural_textures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "core/rng.h"

namespace gripstream {
namespace {

constexpr float kTurn = 2 * std::numbers::pi_v<float>;

using Rgb = std::array<float, 3>;

Rgb Mix(const Rgb& a, const Rgb& b, float t) {
  return {a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])};
}

Rgb RandomColour(Rng& rng) {
  return {rng.Uniform(), rng.Uniform(), rng.Uniform()};
}

// Smooth noise in [0, 1] over the unit square that repeats, of `cells` random values along each side.
float Noise(uint64_t key, float x, float y, int cells) {
  const float gx = x * static_cast<float>(cells), gy = y * static_cast<float>(cells);
  const int ix = static_cast<int>(std::floor(gx)), iy = static_cast<int>(std::floor(gy));
  const auto value = [&](int i, int j) {
    const uint64_t at =
        static_cast<uint64_t>((i % cells + cells) % cells) << 32 | static_cast<uint64_t>((j % cells + cells) % cells);
    return static_cast<float>(MixBits(key ^ MixBits(at)) >> 40) * 0x1p-24f;
  };
  const auto ease = [](float t) { return t * t * (3 - 2 * t); };
  const float fx = ease(gx - static_cast<float>(ix)), fy = ease(gy - static_cast<float>(iy));
  const float low = value(ix, iy) + fx * (value(ix + 1, iy) - value(ix, iy));
  const float high = value(ix, iy + 1) + fx * (value(ix + 1, iy + 1) - value(ix, iy + 1));
  return low + fy * (high - low);
}

// Noise of `octaves` scales, each twice as fine and half as strong.
float FractalNoise(uint64_t key, float x, float y, int cells, int octaves) {
  float sum = 0, weight = 0, strength = 1;
  for (int i = 0; i < octaves; ++i, strength *= 0.5f) {
    sum += strength * Noise(key + static_cast<uint64_t>(i), x, y, cells << i);
    weight += strength;
  }
  return sum / weight;
}

// How much of the second colour a pattern has at a point of the unit square.
using Pattern = std::function<float(float x, float y)>;

Pattern Checker(Rng& rng) {
  const int n = 2 * (1 + static_cast<int>(rng.Below(4)));
  return [n](float x, float y) {
    const float f = static_cast<float>(n);
    return static_cast<float>((static_cast<int>(x * f) + static_cast<int>(y * f)) % 2);
  };
}

Pattern Clouds(Rng& rng) {
  const uint64_t key = rng.NextU64();
  const int cells = 2 << rng.Below(4), octaves = 1 + static_cast<int>(rng.Below(3));
  return
      [=](float x, float y) { return std::clamp(1.8f * FractalNoise(key, x, y, cells, octaves) - 0.4f, 0.0f, 1.0f); };
}

Pattern Stripes(Rng& rng) {
  const int across = static_cast<int>(rng.Below(7)), down = static_cast<int>(rng.Below(7)) + (across == 0 ? 1 : 0);
  const float sharpness = 1 + 6 * rng.Uniform();
  return [=](float x, float y) {
    const float wave = std::sin(kTurn * (static_cast<float>(across) * x + static_cast<float>(down) * y));
    return std::clamp(0.5f + 0.5f * sharpness * wave, 0.0f, 1.0f);
  };
}

Pattern Wood(Rng& rng) {
  const uint64_t key = rng.NextU64();
  const float rings = static_cast<float>(2 + rng.Below(5)), bend = 0.3f + rng.Uniform();
  return [=](float x, float y) {
    const float warp = bend * FractalNoise(key, x, 0.25f * std::sin(kTurn * y), 3, 2);
    const float ring = 0.5f + 0.5f * std::sin(kTurn * (rings * y + warp));
    return 0.7f * ring + 0.3f * Noise(key + 9, x, y, 32);
  };
}

Pattern Dots(Rng& rng) {
  const int n = 2 + static_cast<int>(rng.Below(6));
  const float radius = 0.15f + 0.25f * rng.Uniform();
  return [=](float x, float y) {
    const float dx = x * static_cast<float>(n), dy = y * static_cast<float>(n);
    return std::hypot(dx - std::floor(dx) - 0.5f, dy - std::floor(dy) - 0.5f) < radius ? 1.0f : 0.0f;
  };
}

Pattern Tiles(Rng& rng) {
  const int n = 2 + static_cast<int>(rng.Below(5));
  const uint64_t key = rng.NextU64();
  return [=](float x, float y) {
    const float dx = x * static_cast<float>(n), dy = y * static_cast<float>(n);
    if (dx - std::floor(dx) < 0.08f || dy - std::floor(dy) < 0.08f) return 1.0f;
    return 0.4f * Noise(key, std::floor(dx) / static_cast<float>(n), std::floor(dy) / static_cast<float>(n), n);
  };
}

Pattern Gradient(Rng& rng) {
  const float phase = kTurn * rng.Uniform(), tilt = rng.Uniform();
  return [=](float x, float y) {
    return 0.5f + 0.5f * (tilt * std::cos(kTurn * x + phase) + (1 - tilt) * std::cos(kTurn * y));
  };
}

RgbImage Paint(int width, int height, const std::function<Rgb(float x, float y)>& colour) {
  RgbImage image = {width, height, {}};
  for (int j = 0; j < height; ++j) {
    for (int i = 0; i < width; ++i) {
      const Rgb c = colour((static_cast<float>(i) + 0.5f) / static_cast<float>(width),
                           (static_cast<float>(j) + 0.5f) / static_cast<float>(height));
      for (const float k : c) image.pixels.push_back(static_cast<uint8_t>(255 * std::clamp(k, 0.0f, 1.0f) + 0.5f));
    }
  }
  return image;
}

// A rectangle of one colour in a backdrop: furniture, a door, a window.
struct Block {
  float x0, y0, x1, y1;
  Rgb colour;
};

RgbImage Room(Rng rng) {
  const Rgb wall = RandomColour(rng), floor = RandomColour(rng), light = {1, 1, 1};
  const float horizon = 0.35f + 0.5f * rng.Uniform(), glow = 0.4f * rng.Uniform(), glow_x = rng.Uniform();
  const uint64_t key = rng.NextU64();
  const int cells = 2 << rng.Below(3);
  std::vector<Block> blocks;
  for (uint32_t i = 0, count = rng.Below(9); i < count; ++i) {
    const float x = rng.Uniform(-0.1f, 0.9f), y = rng.Uniform(0.0f, 0.8f);
    const float w = rng.Uniform(0.05f, 0.4f), h = rng.Uniform(0.05f, 0.5f);
    blocks.push_back({x, y, x + w, y + h, RandomColour(rng)});
  }
  return Paint(160, 120, [&](float x, float y) {
    Rgb c = y < horizon ? wall : floor;
    for (const Block& b : blocks) {
      if (x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1) c = b.colour;
    }
    const float shade = 0.55f + 0.45f * FractalNoise(key, x, y, cells, 3);
    c = {shade * c[0], shade * c[1], shade * c[2]};
    return Mix(c, light, glow * std::exp(-6 * std::hypot(x - glow_x, y)));
  });
}

}  // namespace

std::vector<RgbImage> ProceduralTextures(int count) {
  using Maker = Pattern (*)(Rng&);
  constexpr Maker kMakers[] = {Checker, Clouds, Stripes, Wood, Dots, Tiles, Gradient};
  std::vector<RgbImage> images;
  for (int i = 0; i < count; ++i) {
    Rng rng = RandomStream(0, "procedural_texture").At(static_cast<uint32_t>(i), 0);
    const Rgb a = RandomColour(rng), b = RandomColour(rng);
    const Pattern pattern = kMakers[static_cast<size_t>(i) % std::size(kMakers)](rng);
    images.push_back(Paint(64, 64, [&](float x, float y) { return Mix(a, b, pattern(x, y)); }));
  }
  return images;
}

std::vector<RgbImage> ProceduralBackgrounds(int count) {
  std::vector<RgbImage> images;
  for (int i = 0; i < count; ++i) {
    images.push_back(Room(RandomStream(0, "procedural_background").At(static_cast<uint32_t>(i), 0)));
  }
  return images;
}

}  // namespace gripstream
