// From stored depth to the float32 images that a network sees. Depth is uint16 as recorded, or the same whole numbers
// as float32: Pixel below is uint16_t or float.
//
// Depths are clamped to [near, far], no hit counts as far; then either scaled to [-1, 1], or standardised pixel by
// pixel with running statistics, by which the fixed background of a fixed camera becomes 0 and a small object stands
// out. Sums are kept as integers while they accumulate, so their order is of no consequence at all.
// Frozen between Updates, as Normalizer is. Not thread-safe while updating.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "policies/config.h"
#include "policies/graph.h"
#include "policies/shapes.h"

namespace gripstream {

class ImageNormalizer {
 public:
  // Throws InputError (as policy.image.*) when far is not beyond near or beyond what the stored type can hold.
  ImageNormalizer(const ImageConfig& config, const PolicyShapes& shapes, double clip);

  // What these images add ([..., H, W] contiguous), as State has it; nothing unless images are normalised per
  // pixel. See Normalizer.
  torch::Tensor Moments(const torch::Tensor& depth) const;
  void Merge(const torch::Tensor& moments);
  void Update(const torch::Tensor& depth) { Merge(Moments(depth)); }
  // Images rows[i] of `depth` ([M, H, W] contiguous in memory) as float32 [rows, 1, H, W].
  template <class Pixel>
  torch::Tensor Gather(const Pixel* depth, std::span<const int64_t> rows) const;
  // Images [begin, begin + count).
  template <class Pixel>
  torch::Tensor Range(const Pixel* depth, int64_t begin, int64_t count) const;
  // What a blanked camera gives: every pixel "no hit".
  torch::Tensor Blank(int64_t count) const;

  // The same for a graph, from depth [N, H, W] in metres, of which a stored unit is `scale_m`: [N, 1, H, W].
  std::string AddTo(GraphBuilder& graph, const std::string& depth, double scale_m) const;

  double Count() const { return count_; }
  size_t Bytes() const {
    return (sizeof(mean_[0]) + sizeof(squares_[0]) + sizeof(offset_[0]) + sizeof(scale_[0])) * mean_.size();
  }
  torch::Tensor State() const;  // float64 [1 + 2 H W]: count, means, summed squares, in stored units
  void SetState(const torch::Tensor& state);

 private:
  void Freeze();
  template <class Pixel>
  torch::Tensor MomentsOf(const Pixel* data, int64_t numbers) const;
  template <class Pixel>
  void Convert(const Pixel* image, float* out) const;

  bool per_pixel_;
  int64_t height_, width_;
  double clip_, std_floor_;  // std_floor_ in stored units
  uint16_t near_, far_;      // stored units
  double count_ = 0;
  std::vector<double> mean_, squares_;  // [H W]
  std::vector<float> offset_, scale_;   // [H W] frozen: (x - offset) * scale
};

}  // namespace gripstream
