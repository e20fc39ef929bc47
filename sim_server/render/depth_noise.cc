#include "sim_server/render/depth_noise.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "sim_server/render/config.h"
#include "sim_server/render/depth_noise_pixel.h"

namespace gripstream {
namespace {

// Which draws of a pixel serve what: each purpose has a stream of its own.
enum Purpose : uint32_t { kShape, kSpeckle, kStick, kPurposes };

float F(double x) {
  return static_cast<float>(x);
}

// One image's way through the stages.
class Pass {
 public:
  Pass(const DepthNoiseConfig& config, const RandomStream& stream, const Projection& projection, int width, int height,
       uint64_t moment)
      : c_(config), stream_(stream), p_(projection), width_(width), height_(height), moment_(moment) {}

  // Jitter and disparity noise, and dropout at edges of the clean image.
  void Correlate(const float* in, float* out) const {
    const noise::Image clean = {in, width_, height_};
    ForPixels([&](int x, int y, int64_t at) {
      Rng rng = RngOf(x, y, kShape);
      out[at] = noise::Correlated(clean, x, y, F(c_.jitter_px), F(c_.disparity_sigma), F(c_.disparity_step),
                                  F(c_.edge_m), rng);
      const float lost = F(c_.edge_dropout) * out[at] / F(c_.max_range_m);  // grows with distance
      if (rng.Uniform() < lost && noise::IsEdge(clean, x, y, F(c_.edge_m))) out[at] = 0;
    });
  }

  // Shift along normals, and dropout anywhere.
  void ShiftAndDrop(const float* in, float* out) const {
    const noise::Image image = {in, width_, height_};
    ForPixels([&](int x, int y, int64_t at) {
      out[at] = 0;
      if (!(in[at] > 0)) return;
      Rng rng = RngOf(x, y, kSpeckle);
      const float shift = F(c_.normal_sigma_m) * noise::DrawNormals(rng).first;
      if (rng.Uniform() < F(c_.dropout)) return;
      out[at] = in[at] +
                shift * noise::NormalZ(image, x, y, F(p_.fx_px), F(p_.fy_px), F(p_.cx_px), F(p_.cy_px), F(c_.edge_m));
    });
  }

  // Speckles of up to 2x2 pixels and sticks; where several meet the one that starts last in row order stays.
  void Scatter(float* out) const {
    ForPixels([&](int x, int y, int64_t) {
      Rng rng = RngOf(x, y, kStick);
      if (rng.Uniform() < F(c_.speckle)) {
        const float z = RandomDepth(rng);
        for (int k = 0; k < 4; ++k) {
          if (k == 0 || rng.Uniform() < F(c_.speckle_spread)) Put(out, x + k % 2, y + k / 2, z);
        }
      }
      if (rng.Uniform() < F(c_.stick)) DrawStick(out, x, y, rng);
    });
  }

 private:
  template <class Body>
  void ForPixels(Body body) const {
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x) body(x, y, static_cast<int64_t>(y) * width_ + x);
    }
  }

  Rng RngOf(int x, int y, Purpose purpose) const {
    return stream_.At(static_cast<uint32_t>(y * width_ + x) * kPurposes + purpose, moment_);
  }
  float RandomDepth(Rng& rng) const { return rng.Uniform(F(c_.min_range_m), F(c_.max_range_m)); }

  void Put(float* out, int x, int y, float z) const {
    if (x >= 0 && x < width_ && y >= 0 && y < height_) out[static_cast<int64_t>(y) * width_ + x] = z;
  }

  // A bar of constant depth from (x, y) in a random direction: the point of a square serves as direction.
  void DrawStick(float* out, int x, int y, Rng& rng) const {
    const float z = RandomDepth(rng);
    const float dx = rng.Uniform(-1, 1), dy = rng.Uniform(-1, 1);
    const float reach = std::max(std::abs(dx), std::abs(dy));
    if (!(reach > 0)) return;
    const int length = 1 + static_cast<int>(rng.Uniform() * F(c_.stick_length_px));
    const int width = 1 + static_cast<int>(rng.Uniform() * F(c_.stick_width_px));
    for (int i = 0; i < length; ++i) {
      const int cx = x + static_cast<int>(std::rint(static_cast<float>(i) * dx / reach));
      const int cy = y + static_cast<int>(std::rint(static_cast<float>(i) * dy / reach));
      for (int k = 0; k < width; ++k) {
        // Across the steeper direction.
        std::abs(dx) > std::abs(dy) ? Put(out, cx, cy + k - width / 2, z) : Put(out, cx + k - width / 2, cy, z);
      }
    }
  }

  const DepthNoiseConfig& c_;
  const RandomStream& stream_;
  const Projection& p_;
  int width_, height_;
  uint64_t moment_;
};

}  // namespace

DepthNoise::DepthNoise(const DepthNoiseConfig& config, uint64_t seed, const Projection& projection, int width,
                       int height, int threads)
    : config_(config),
      stream_(seed, "depth_noise"),
      projection_(projection),
      width_(width),
      height_(height),
      workspaces_(std::make_unique<Workspace[]>(static_cast<size_t>(threads))),
      parallel_(threads) {
  if (!(config.min_range_m < config.max_range_m)) {
    throw InputError("depth noise", "min_range_m", std::to_string(config.min_range_m), "less than max_range_m");
  }
  for (int i = 0; i < threads; ++i) {
    workspaces_[i].before.resize(static_cast<size_t>(width) * height);
    workspaces_[i].after.resize(static_cast<size_t>(width) * height);
  }
}

void DepthNoise::Apply(ImageTarget<uint16_t> depth, std::span<const uint32_t> env_ids,
                       std::span<const uint64_t> steps) {
  GS_CHECK(env_ids.size() == steps.size(), "as many environments as steps");
  if (!config_.enabled) return;
  parallel_(static_cast<int>(env_ids.size()), 1, [&](int begin, int end) {
    int mine = 0;  // at most as many bodies run as there are workspaces
    while (workspaces_[mine].taken.test_and_set(std::memory_order_acquire)) mine = (mine + 1) % parallel_.Threads();
    for (int i = begin; i < end; ++i) {
      // 24 bits of environment and 40 of step name the moment.
      const uint64_t moment = uint64_t{env_ids[i]} << 40 | (steps[i] & 0xFF'FFFF'FFFFu);
      ApplyOne(depth.Image(i, int64_t{width_} * height_), moment, workspaces_[mine]);
    }
    workspaces_[mine].taken.clear(std::memory_order_release);
  });
}

void DepthNoise::ApplyOne(uint16_t* depth, uint64_t moment, Workspace& workspace) const {
  const int64_t count = static_cast<int64_t>(width_) * height_;
  const Pass pass(config_, stream_, projection_, width_, height_, moment);
  for (int64_t i = 0; i < count; ++i) workspace.before[i] = F(kDepthQuantum_m) * depth[i];
  pass.Correlate(workspace.before.data(), workspace.after.data());
  pass.ShiftAndDrop(workspace.after.data(), workspace.before.data());
  pass.Scatter(workspace.before.data());
  const float low = F(config_.min_range_m), high = F(config_.max_range_m);
  for (int64_t i = 0; i < count; ++i) {
    const float z = workspace.before[i];
    depth[i] = z >= low && z <= high ? static_cast<uint16_t>(std::rint(z / F(kDepthQuantum_m))) : uint16_t{0};
  }
}

}  // namespace gripstream
