#include "sim_server/render/augment.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "sim_server/render/camera.h"
#include "sim_server/render/procedural_textures.h"

namespace gripstream {
namespace {

constexpr int kShippedBackgrounds = 16;
constexpr int kBlock = 256;  // pixels that are coloured at a time, planes side by side

template <class T>
void CheckRange(const std::string& key, const std::vector<T>& range) {
  if (range[0] <= range[1]) return;
  throw InputError("configuration", "render.augment." + key,
                   "[" + std::to_string(range[0]) + ", " + std::to_string(range[1]) + "]", "the lower number first");
}

float Between(Rng& rng, const std::vector<double>& range) {
  return rng.Uniform(static_cast<float>(range[0]), static_cast<float>(range[1]));
}

bool Chance(Rng& rng, double probability) {
  return rng.Uniform() < static_cast<float>(probability);
}

std::vector<uint8_t> BackgroundOf(const mjModel& model, const std::vector<std::string>& names) {
  std::vector<uint8_t> is_background(static_cast<size_t>(model.ngeom));
  for (int i = 0; i < model.ngeom; ++i) is_background[static_cast<size_t>(i)] = model.geom_type[i] == mjGEOM_PLANE;
  for (const std::string& name : names) {
    const int id = mj_name2id(&model, mjOBJ_GEOM, name.c_str());
    if (id < 0) throw InputError(ModelName(model), "render.augment.background_geoms", name, "one of its geoms");
    is_background[static_cast<size_t>(id)] = 1;
  }
  return is_background;
}

void ChangeBlock(uint8_t* rgb, int count, const augment::ColourChange& change) {
  float r[kBlock], g[kBlock], b[kBlock];
  constexpr float kToUnit = 1.0f / 255;
  for (int i = 0; i < count; ++i) {
    r[i] = kToUnit * static_cast<float>(rgb[3 * i]);
    g[i] = kToUnit * static_cast<float>(rgb[3 * i + 1]);
    b[i] = kToUnit * static_cast<float>(rgb[3 * i + 2]);
  }
  for (int i = 0; i < count; ++i) {
    const augment::Rgb changed = augment::Change({r[i], g[i], b[i]}, change);
    r[i] = changed.r, g[i] = changed.g, b[i] = changed.b;
  }
  for (int i = 0; i < count; ++i) {
    rgb[3 * i] = static_cast<uint8_t>(255 * r[i] + 0.5f);
    rgb[3 * i + 1] = static_cast<uint8_t>(255 * g[i] + 0.5f);
    rgb[3 * i + 2] = static_cast<uint8_t>(255 * b[i] + 0.5f);
  }
}

// A direction of any angle: points of a square until one lies in its circle.
void DrawDirection(Rng& rng, float* x, float* y) {
  float square = 0;
  do {
    *x = rng.Uniform(-1, 1), *y = rng.Uniform(-1, 1);
    square = *x * *x + *y * *y;
  } while (!(square > 1e-4f && square <= 1));
  const float length = std::sqrt(square);
  *x /= length, *y /= length;
}

augment::Blur DrawBlur(Rng& rng, const std::vector<int>& kernel) {
  augment::Blur blur = {};
  // Odd lengths from the first to the second.
  const int least = kernel[0] | 1, choices = std::max(0, kernel[1] - least) / 2 + 1;
  blur.taps = least + 2 * static_cast<int>(rng.Below(static_cast<uint32_t>(choices)));
  float ux, uy;
  DrawDirection(rng, &ux, &uy);
  const float lean = rng.Uniform(-1, 1);  // -1: all weight grows from the end, 1: from the start
  for (int i = 0; i < blur.taps; ++i) {
    const int from_middle = i - blur.taps / 2;
    blur.dx[i] = static_cast<int>(std::rint(static_cast<float>(from_middle) * ux));
    blur.dy[i] = static_cast<int>(std::rint(static_cast<float>(from_middle) * uy));
    const float along = blur.taps > 1 ? 2.0f * static_cast<float>(from_middle) / static_cast<float>(blur.taps - 1) : 0;
    blur.weight[i] = (1 + lean * along) / static_cast<float>(blur.taps);
  }
  return blur;
}

}  // namespace

Augmenter::Augmenter(const AugmentConfig& config, uint64_t seed, std::span<const mjModel* const> models, int width,
                     int height, int threads, TextureLibrary* library)
    : config_(config),
      background_stream_(seed, "augment_background"),
      colour_stream_(seed, "augment_colour"),
      blur_stream_(seed, "augment_blur"),
      width_(width),
      height_(height),
      workspaces_(std::make_unique<Workspace[]>(static_cast<size_t>(threads))),
      parallel_(threads) {
  CheckRange("brightness", config.brightness);
  CheckRange("contrast", config.contrast);
  CheckRange("saturation", config.saturation);
  CheckRange("blur_kernel_px", config.blur_kernel_px);
  if (NeedsSegmentation()) {
    backgrounds_.emplace(config.backgrounds, "render.augment.backgrounds", ProceduralBackgrounds(kShippedBackgrounds),
                         library);
  }
  for (const mjModel* model : models) is_background_[model] = BackgroundOf(*model, config.background_geoms);
  for (int i = 0; i < threads; ++i) workspaces_[i].rgb.resize(size_t{3} * width * height);
}

void Augmenter::Apply(ImageTarget<uint8_t> rgb, ImageTarget<int32_t> segmentation,
                      std::span<const AugmentMoment> moments) {
  GS_CHECK(segmentation || !NeedsSegmentation(), "backgrounds cannot be replaced without segmentation");
  const int64_t pixels = int64_t{width_} * height_;
  parallel_(static_cast<int>(moments.size()), 1, [&](int begin, int end) {
    int mine = 0;  // at most as many bodies run as there are workspaces
    while (workspaces_[mine].taken.test_and_set(std::memory_order_acquire)) mine = (mine + 1) % parallel_.Threads();
    for (int i = begin; i < end; ++i) {
      uint8_t* image = rgb.Image(i, 3 * pixels);
      if (NeedsSegmentation()) ReplaceBackground(moments[i], segmentation.Image(i, pixels), image);
      ChangeColours(moments[i], image);
      BlurMotion(moments[i], image, workspaces_[mine]);
    }
    workspaces_[mine].taken.clear(std::memory_order_release);
  });
}

void Augmenter::ReplaceBackground(const AugmentMoment& moment, const int32_t* segmentation, uint8_t* rgb) const {
  Rng rng = background_stream_.At(moment.env_id, moment.episode);
  if (!Chance(rng, config_.background_probability)) return;
  const TextureView& picture = *(*backgrounds_)[rng.Below(static_cast<uint32_t>(backgrounds_->Size()))];
  const std::vector<uint8_t>& is_background = is_background_.at(moment.model);
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x, ++segmentation, rgb += 3) {
      if (*segmentation >= 0 && !is_background[static_cast<size_t>(*segmentation)]) continue;
      const uint32_t texel = augment::Stretched(picture.levels[0], x, y, width_, height_);
      for (int c = 0; c < 3; ++c) rgb[c] = static_cast<uint8_t>(texel >> (8 * c));
    }
  }
}

void Augmenter::ChangeColours(const AugmentMoment& moment, uint8_t* rgb) const {
  Rng rng = colour_stream_.At(moment.env_id, moment.episode);
  if (!Chance(rng, config_.colour_probability)) return;
  const float hue = static_cast<float>(config_.hue);
  augment::ColourChange change;
  change.brightness = Between(rng, config_.brightness);
  change.contrast = Between(rng, config_.contrast);
  change.saturation = Between(rng, config_.saturation);
  change.hue = rng.Uniform(-hue, hue);
  const int pixels = width_ * height_;
  for (int i = 0; i < pixels; i += kBlock) ChangeBlock(rgb + 3 * i, std::min(kBlock, pixels - i), change);
}

void Augmenter::BlurMotion(const AugmentMoment& moment, uint8_t* rgb, Workspace& workspace) const {
  Rng rng = blur_stream_.At(moment.env_id, MixBits(moment.episode) ^ MixBits(~uint64_t{moment.step}));
  if (!Chance(rng, config_.blur_probability)) return;
  const augment::Blur blur = DrawBlur(rng, config_.blur_kernel_px);
  std::copy_n(rgb, workspace.rgb.size(), workspace.rgb.begin());
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      for (int c = 0; c < 3; ++c) *rgb++ = augment::Blurred(workspace.rgb.data(), width_, height_, x, y, c, blur);
    }
  }
}

}  // namespace gripstream
