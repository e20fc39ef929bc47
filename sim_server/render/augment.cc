#include "sim_server/render/augment.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "sim_server/render/camera.h"
#include "sim_server/render/procedural_textures.h"
#include "sim_server/render/uniform_range.h"

namespace gripstream {
namespace {

constexpr int kShippedBackgrounds = 16;

// 1 for what counts as background, from "nothing", which is -1, on.
std::vector<float> BackgroundOf(const mjModel& model, const std::vector<std::string>& names) {
  std::vector<float> is_background = {1};
  for (int i = 0; i < model.ngeom; ++i) is_background.push_back(model.geom_type[i] == mjGEOM_PLANE ? 1.0f : 0.0f);
  for (const std::string& name : names) {
    const int id = mj_name2id(&model, mjOBJ_GEOM, name.c_str());
    if (id < 0) throw InputError(ModelName(model), "render.augment.background_geoms", name, "one of its geoms");
    is_background[static_cast<size_t>(id) + 1] = 1;
  }
  return is_background;
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

// Adds a tap; one at the place of the last adds to its weight.
void AddTap(int dx, int dy, int weight, AugmentJob::Blur* blur) {
  const int last = blur->taps - 1;
  if (last >= 0 && blur->dx[last] == dx && blur->dy[last] == dy) {
    blur->weight[last] += weight;
    return;
  }
  blur->dx[blur->taps] = dx, blur->dy[blur->taps] = dy, blur->weight[blur->taps] = weight;
  ++blur->taps;
}

AugmentJob::Blur BlurOf(Rng& rng, const std::vector<int>& kernel) {
  AugmentJob::Blur blur = {};
  // Odd lengths from the first to the second.
  const int least = kernel[0], choices = std::max(0, kernel[1] - least) / 2 + 1;
  const int length = least + 2 * static_cast<int>(rng.Below(static_cast<uint32_t>(choices)));
  float ux, uy;
  DrawDirection(rng, &ux, &uy);
  const float lean = rng.Uniform(-1, 1);  // -1: all weight grows from the end, 1: from the start
  float sum = 0;
  int given = 0;  // of kBlurUnit: what rounding takes from one tap it gives to the next
  for (int i = 0; i < length; ++i) {
    const float from_middle = static_cast<float>(i - length / 2);
    const float along = length > 1 ? 2 * from_middle / static_cast<float>(length - 1) : 0;
    sum += (1 + lean * along) / static_cast<float>(length);
    const int until_here = i + 1 < length ? static_cast<int>(std::rint(kBlurUnit * sum)) : kBlurUnit;
    AddTap(static_cast<int>(std::rint(from_middle * ux)), static_cast<int>(std::rint(from_middle * uy)),
           until_here - given, &blur);
    given = until_here;
  }
  return blur;
}

}  // namespace

AugmentJob::Colours ColoursOf(float brightness, float contrast, float saturation, float hue) {
  AugmentJob::Colours by = {};
  by.change = true;
  by.brightness = brightness / 255;
  by.contrast = contrast, by.contrast_shift = 0.5f - 0.5f * contrast;
  by.saturation = saturation;
  const float grey = 1 - saturation;
  by.red = grey * 0.299f, by.green = grey * 0.587f, by.blue = grey * 0.114f;
  for (int c = 0; c < 3; ++c) {
    const float offset = static_cast<float>(5 - 2 * c) + 6 * hue;
    by.hue[c] = offset - 6 * std::floor(offset / 6) - 5;
  }
  return by;
}

Augmenter::Augmenter(const AugmentConfig& config, uint64_t seed, std::span<const mjModel* const> models, int width,
                     int height, int threads, TextureLibrary* library, const RenderKernels& kernels)
    : config_(config),
      background_stream_(seed, "augment_background"),
      colour_stream_(seed, "augment_colour"),
      blur_stream_(seed, "augment_blur"),
      kernels_(kernels),
      width_(width),
      height_(height),
      border_px_(config.blur_kernel_px[1] / 2),
      padded_stride_(int64_t{3} * (width + 2 * border_px_)),
      workspaces_(std::make_unique<Workspace[]>(static_cast<size_t>(threads))),
      parallel_(threads) {
  CheckRange("render.augment.brightness", config.brightness);
  CheckRange("render.augment.contrast", config.contrast);
  CheckRange("render.augment.saturation", config.saturation);
  CheckRange("render.augment.blur_kernel_px", config.blur_kernel_px);
  for (const int px : config.blur_kernel_px) {
    if (px % 2 == 0)
      throw InputError("configuration", "render.augment.blur_kernel_px", std::to_string(px), "odd lengths");
  }
  if (NeedsSegmentation()) {
    backgrounds_.emplace(config.backgrounds, "render.augment.backgrounds", ProceduralBackgrounds(kShippedBackgrounds),
                         library);
  }
  for (const mjModel* model : models) is_background_[model] = BackgroundOf(*model, config.background_geoms);
  for (int i = 0; i < threads; ++i) {
    workspaces_[i].columns.resize(static_cast<size_t>(width + kAugmentStrip));
    workspaces_[i].padded.resize(static_cast<size_t>(padded_stride_ * (height + 2 * border_px_) + kAugmentStrip_bytes));
  }
}

void Augmenter::Apply(ImageTarget<uint8_t> rgb, ImageTarget<int32_t> segmentation,
                      std::span<const AugmentMoment> moments) {
  GS_CHECK(segmentation || !NeedsSegmentation(), "backgrounds cannot be replaced without segmentation");
  const int64_t pixels = int64_t{width_} * height_;
  parallel_(static_cast<int>(moments.size()), 1, [&](int begin, int end) {
    int mine = 0;  // at most as many bodies run as there are workspaces
    while (workspaces_[mine].taken.test_and_set(std::memory_order_acquire)) mine = (mine + 1) % parallel_.Threads();
    for (int i = begin; i < end; ++i) {
      Workspace& own = workspaces_[mine];
      const AugmentCanvas canvas = {rgb.Image(i, 3 * pixels), segmentation.Image(i, pixels),
                                    own.columns.data(),       own.padded.data(),
                                    padded_stride_,           border_px_};
      kernels_.augment(JobOf(moments[i]), canvas);
    }
    workspaces_[mine].taken.clear(std::memory_order_release);
  });
}

AugmentJob Augmenter::JobOf(const AugmentMoment& moment) const {
  AugmentJob job = {};
  job.width = width_, job.height = height_;
  if (NeedsSegmentation()) DrawBackground(moment, &job);
  DrawColours(moment, &job);
  DrawBlur(moment, &job);
  return job;
}

void Augmenter::DrawBackground(const AugmentMoment& moment, AugmentJob* job) const {
  Rng rng = background_stream_.At(moment.env_id, moment.episode);
  if (!Chance(rng, config_.background_probability)) return;
  const TextureLevel& picture = (*backgrounds_)[rng.Below(static_cast<uint32_t>(backgrounds_->Size()))]->levels[0];
  job->texels = picture.texels;
  job->texel_columns = picture.width, job->texel_rows = picture.height;
  job->is_background = is_background_.at(moment.model).data() + 1;
}

void Augmenter::DrawColours(const AugmentMoment& moment, AugmentJob* job) const {
  Rng rng = colour_stream_.At(moment.env_id, moment.episode);
  if (!Chance(rng, config_.colour_probability)) return;
  const float hue = static_cast<float>(config_.hue);
  const float brightness = Between(rng, config_.brightness), contrast = Between(rng, config_.contrast);
  const float saturation = Between(rng, config_.saturation);
  job->colours = ColoursOf(brightness, contrast, saturation, rng.Uniform(-hue, hue));
}

void Augmenter::DrawBlur(const AugmentMoment& moment, AugmentJob* job) const {
  Rng rng = blur_stream_.At(moment.env_id, MixBits(moment.episode) ^ MixBits(~uint64_t{moment.step}));
  if (Chance(rng, config_.blur_probability)) job->blur = BlurOf(rng, config_.blur_kernel_px);
}

}  // namespace gripstream
