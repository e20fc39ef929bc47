#include "policies/image_normalizer.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr int64_t kImagesPerTask = 16;  // of one worker thread; no bearing on the result

uint16_t ToStoredUnits(double metres, double scale_m, const char* key) {
  const double units = std::round(metres / scale_m);
  if (units > 65535.0) {
    throw InputError("configuration", std::string("policy.image.") + key, std::to_string(metres),
                     "at most " + std::to_string(65535.0 * scale_m) + ", the largest depth the record can hold");
  }
  return static_cast<uint16_t>(units);
}

}  // namespace

ImageNormalizer::ImageNormalizer(const ImageConfig& config, const PolicyShapes& shapes, double clip)
    : per_pixel_(config.normalise == "per_pixel"), height_(shapes.height_px), width_(shapes.width_px), clip_(clip) {
  if (config.far_m <= config.near_m) {
    throw InputError("configuration", "policy.image.far_m", std::to_string(config.far_m), "more than near_m");
  }
  near_ = ToStoredUnits(config.near_m, shapes.depth_scale_m, "near_m");
  far_ = ToStoredUnits(config.far_m, shapes.depth_scale_m, "far_m");
  std_floor_ = config.std_floor_m / shapes.depth_scale_m;
  mean_.assign(static_cast<size_t>(height_ * width_), 0.0);
  squares_ = mean_;
  Freeze();
}

torch::Tensor ImageNormalizer::Moments(const torch::Tensor& depth) const {
  GS_CHECK(depth.is_contiguous() && depth.size(-1) == width_ && depth.size(-2) == height_,
           "images must be contiguous and of the policy's size");
  if (depth.scalar_type() == torch::kFloat32) return MomentsOf(depth.const_data_ptr<float>(), depth.numel());
  GS_CHECK(depth.scalar_type() == torch::kUInt16, "images must be uint16, or float32 of the same units");
  return MomentsOf(static_cast<const uint16_t*>(depth.data_ptr()), depth.numel());
}

template <class Pixel>
torch::Tensor ImageNormalizer::MomentsOf(const Pixel* data, int64_t numbers) const {
  const size_t pixels = mean_.size();
  const size_t images = pixels == 0 ? 0 : static_cast<size_t>(numbers) / pixels;
  torch::Tensor moments = at::zeros({static_cast<int64_t>(1 + 2 * pixels)}, torch::kFloat64);
  if (!per_pixel_ || images == 0) return moments;
  double* count = moments.data_ptr<double>();
  double *mean = count + 1, *squares = mean + pixels;
  *count = static_cast<double>(images);
  at::parallel_for(0, static_cast<int64_t>(pixels), 512, [&](int64_t begin, int64_t end) {
    const size_t width = static_cast<size_t>(end - begin);
    std::vector<uint64_t> sum(width, 0), sum_of_squares(width, 0);
    for (size_t i = 0; i < images; ++i) {
      const Pixel* image = data + i * pixels + begin;
      for (size_t p = 0; p < width; ++p) {
        const auto raw = static_cast<uint16_t>(image[p]);
        const uint64_t x = raw == 0 ? far_ : std::clamp(raw, near_, far_);
        sum[p] += x;
        sum_of_squares[p] += x * x;
      }
    }
    for (size_t p = 0; p < width; ++p) {
      const size_t at = static_cast<size_t>(begin) + p;
      mean[at] = static_cast<double>(sum[p]) / *count;
      squares[at] = std::max(static_cast<double>(sum_of_squares[p]) - mean[at] * static_cast<double>(sum[p]), 0.0);
    }
  });
  return moments;
}

void ImageNormalizer::Merge(const torch::Tensor& moments) {
  const size_t pixels = mean_.size();
  GS_CHECK(moments.scalar_type() == torch::kFloat64 && moments.numel() == static_cast<int64_t>(1 + 2 * pixels),
           "image normaliser moments");
  const double* in = moments.const_data_ptr<double>();
  const double added = in[0], total = count_ + added;
  if (added == 0) return;
  const double *mean = in + 1, *squares = mean + pixels;
  for (size_t p = 0; p < pixels; ++p) {
    const double shift = mean[p] - mean_[p];
    mean_[p] += shift * added / total;
    squares_[p] += squares[p] + shift * shift * count_ * added / total;
  }
  count_ = total;
  Freeze();
}

void ImageNormalizer::Freeze() {
  const double middle = 0.5 * (near_ + far_), half = 0.5 * (far_ - near_);
  offset_.assign(mean_.size(), static_cast<float>(middle));
  scale_.assign(mean_.size(), static_cast<float>(1.0 / half));
  if (!per_pixel_ || count_ == 0) return;
  for (size_t p = 0; p < mean_.size(); ++p) {
    offset_[p] = static_cast<float>(mean_[p]);
    scale_[p] = static_cast<float>(1.0 / std::max(std::sqrt(squares_[p] / count_), std_floor_));
  }
}

template <class Pixel>
void ImageNormalizer::Convert(const Pixel* image, float* out) const {
  const float limit = static_cast<float>(clip_);
  const float* offset = offset_.data();
  const float* scale = scale_.data();
  const int nearest = near_, farthest = far_;
  for (size_t p = 0; p < mean_.size(); ++p) {
    const int raw = static_cast<int>(image[p]);
    const int depth = raw == 0 ? farthest : std::min(std::max(raw, nearest), farthest);
    out[p] = std::min(std::max((static_cast<float>(depth) - offset[p]) * scale[p], -limit), limit);
  }
}

template <class Pixel>
torch::Tensor ImageNormalizer::Gather(const Pixel* depth, std::span<const int64_t> rows) const {
  const int64_t count = static_cast<int64_t>(rows.size()), pixels = height_ * width_;
  torch::Tensor images = at::empty({count, 1, height_, width_}, torch::kFloat32);
  float* out = images.data_ptr<float>();
  at::parallel_for(0, count, kImagesPerTask, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) Convert(depth + rows[static_cast<size_t>(i)] * pixels, out + i * pixels);
  });
  return images;
}

template <class Pixel>
torch::Tensor ImageNormalizer::Range(const Pixel* depth, int64_t begin, int64_t count) const {
  const int64_t pixels = height_ * width_;
  torch::Tensor images = at::empty({count, 1, height_, width_}, torch::kFloat32);
  float* out = images.data_ptr<float>();
  at::parallel_for(0, count, kImagesPerTask, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) Convert(depth + (begin + i) * pixels, out + i * pixels);
  });
  return images;
}

template torch::Tensor ImageNormalizer::Gather(const uint16_t*, std::span<const int64_t>) const;
template torch::Tensor ImageNormalizer::Gather(const float*, std::span<const int64_t>) const;
template torch::Tensor ImageNormalizer::Range(const uint16_t*, int64_t, int64_t) const;
template torch::Tensor ImageNormalizer::Range(const float*, int64_t, int64_t) const;

torch::Tensor ImageNormalizer::Blank(int64_t count) const {
  const std::vector<uint16_t> nothing(mean_.size(), 0);
  return Range(nothing.data(), 0, 1).expand({count, 1, height_, width_}).contiguous();
}

std::string ImageNormalizer::AddTo(GraphBuilder& graph, const std::string& depth, double scale_m) const {
  const double least = near_ * scale_m, most = far_ * scale_m;
  const std::string seen = graph.Clamp(graph.PositiveOr(depth, most), least, most);
  torch::Tensor offset = at::empty({height_, width_}, torch::kFloat32), scale = at::empty_like(offset);
  for (size_t p = 0; p < mean_.size(); ++p) {
    offset.data_ptr<float>()[p] = static_cast<float>(offset_[p] * scale_m);
    scale.data_ptr<float>()[p] = static_cast<float>(scale_[p] / scale_m);
  }
  const std::string centred = graph.Subtract(seen, graph.Constant(offset));
  return graph.AddChannel(graph.Clamp(graph.Multiply(centred, graph.Constant(scale)), -clip_, clip_));
}

torch::Tensor ImageNormalizer::State() const {
  const int64_t pixels = height_ * width_;
  torch::Tensor state = at::empty({1 + 2 * pixels}, torch::kFloat64);
  double* out = state.data_ptr<double>();
  out[0] = count_;
  std::copy(mean_.begin(), mean_.end(), out + 1);
  std::copy(squares_.begin(), squares_.end(), out + 1 + pixels);
  return state;
}

void ImageNormalizer::SetState(const torch::Tensor& state) {
  GS_CHECK(state.scalar_type() == torch::kFloat64 && state.numel() == static_cast<int64_t>(1 + 2 * mean_.size()),
           "image normaliser state");
  const double* in = state.data_ptr<double>();
  count_ = in[0];
  std::copy(in + 1, in + 1 + mean_.size(), mean_.begin());
  std::copy(in + 1 + mean_.size(), in + 1 + 2 * mean_.size(), squares_.begin());
  Freeze();
}

}  // namespace gripstream
