// Augmentation of rendered colour images: another background, other colours, motion blur, in this order.
//
// Background and colours are drawn by episode, blur by step, from (seed, environment, episode, step) alone: all cameras
// of an environment share them, as a stereo pair must. A background replaces what shows nothing, planes, and the geoms
// named in the configuration; it is stretched over the image. The blur is a line of odd length at any angle, weighted
// along it by a random amount (as a shutter that opens slowly) in 256ths. Colours: brightness as a factor, contrast
// about middle grey, saturation about the pixel's own grey (0.299, 0.587, 0.114), hue turned in HSV. The work is done
// by the lanes of augment_image.h, with the same bits on every instruction set.
//
// Apply is to be called by one thread at a time; it allocates nothing. Construction throws InputError for a range
// upside down, a geom that no model has, or an image that cannot be read.
#pragma once

#include <mujoco/mujoco.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/parallel.h"
#include "core/rng.h"
#include "sim_server/render/augment_config.h"
#include "sim_server/render/augment_job.h"
#include "sim_server/render/kernels.h"
#include "sim_server/render/renderer.h"
#include "sim_server/render/texture_palette.h"

namespace gripstream {

// When and where an image was made, as random streams are told.
struct AugmentMoment {
  const mjModel* model;
  uint32_t env_id;
  uint64_t episode;
  uint32_t step;  // within the episode
};

class Augmenter {
 public:
  Augmenter(const AugmentConfig& config, uint64_t seed, std::span<const mjModel* const> models, int width, int height,
            int threads, TextureLibrary* library, const RenderKernels& kernels = AvailableKernels().front());

  bool NeedsSegmentation() const { return config_.background_probability > 0; }
  // Changes the images [H, W, 3] in place; segmentation is theirs, null where it is not needed.
  void Apply(ImageTarget<uint8_t> rgb, ImageTarget<int32_t> segmentation, std::span<const AugmentMoment> moments);

 private:
  struct Workspace {
    std::vector<uint8_t> padded;
    std::vector<float> columns;
    std::atomic_flag taken = ATOMIC_FLAG_INIT;
  };

  // What becomes of an image; the parts that are left out stay 0.
  AugmentJob JobOf(const AugmentMoment& moment) const;
  void DrawBackground(const AugmentMoment& moment, AugmentJob* job) const;
  void DrawColours(const AugmentMoment& moment, AugmentJob* job) const;
  void DrawBlur(const AugmentMoment& moment, AugmentJob* job) const;

  AugmentConfig config_;
  RandomStream background_stream_, colour_stream_, blur_stream_;
  RenderKernels kernels_;
  int width_, height_, border_px_;
  int64_t padded_stride_;                                                 // bytes
  std::optional<TexturePalette> backgrounds_;                             // none where backgrounds stay
  std::unordered_map<const mjModel*, std::vector<float>> is_background_;  // by geom id + 1
  std::unique_ptr<Workspace[]> workspaces_;                               // one per thread
  ParallelFor parallel_;
};

}  // namespace gripstream
