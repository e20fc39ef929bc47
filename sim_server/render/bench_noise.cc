// The benchmark's rows of depth noise: beside its stages in plain OpenCV calls, and beside the rate that physics needs.
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "sim_server/render/bench_sampling.h"
#include "sim_server/render/depth_noise.h"

namespace gripstream {
namespace {

constexpr int kWidth = 160, kHeight = 120;
constexpr double kWanted = 10000;  // images/s: several times what a core's physics can use

// A slope with a box before it.
std::vector<uint16_t> CleanDepth() {
  std::vector<uint16_t> depth(size_t{kWidth} * kHeight);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const bool box = x > 50 && x < 90 && y > 40 && y < 80;
      depth[static_cast<size_t>(y) * kWidth + x] = static_cast<uint16_t>(box ? 6000 : 7000 + 20 * x + 10 * y);
    }
  }
  return depth;
}

// The same stages without sticks, as one writes them down with OpenCV.
class OpenCvNoise {
 public:
  explicit OpenCvNoise(const DepthNoiseConfig& config) : c_(config) {
    columns_.create(kHeight, kWidth), rows_.create(kHeight, kWidth);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) columns_(y, x) = static_cast<float>(x), rows_(y, x) = static_cast<float>(y);
    }
  }

  void Apply(uint16_t* depth) {
    cv::Mat image(kHeight, kWidth, CV_16U, depth);
    image.convertTo(z_, CV_32F, 1e-4);
    const cv::Mat x = columns_ + Normal(c_.jitter_px), y = rows_ + Normal(c_.jitter_px);
    cv::remap(z_, looked_up_, x, y, cv::INTER_LINEAR, cv::BORDER_REPLICATE);
    cv::Mat disparity = 351.3 / looked_up_ + Normal(c_.disparity_sigma);
    disparity.convertTo(whole_, CV_32S);
    whole_.convertTo(disparity, CV_32F);
    cv::Mat z = 351.3 / disparity;
    cv::Sobel(z, dx_, CV_32F, 1, 0, 1), cv::Sobel(z, dy_, CV_32F, 0, 1, 1);
    cv::Mat length = dx_.mul(dx_) + dy_.mul(dy_) + z.mul(z) * (1 / (180.0 * 180.0));
    cv::sqrt(length, length);
    z += Normal(c_.normal_sigma_m / 180).mul(z / length);
    const cv::Mat chance = Uniform(0, 1);
    z.setTo(0, chance < c_.dropout);
    Uniform(c_.min_range_m, c_.max_range_m).copyTo(z, chance > 1 - c_.speckle);
    z.setTo(0, (z < c_.min_range_m) | (z > c_.max_range_m));
    z.convertTo(image, CV_16U, 1e4);
  }

 private:
  cv::Mat Normal(double sigma) {
    cv::Mat values(kHeight, kWidth, CV_32F);
    rng_.fill(values, cv::RNG::NORMAL, 0, sigma);
    return values;
  }
  cv::Mat Uniform(double low, double high) {
    cv::Mat values(kHeight, kWidth, CV_32F);
    rng_.fill(values, cv::RNG::UNIFORM, low, high);
    return values;
  }

  DepthNoiseConfig c_;
  cv::RNG rng_{1};
  cv::Mat_<float> columns_, rows_;
  cv::Mat z_, looked_up_, dx_, dy_, whole_;
};

}  // namespace

std::vector<BenchRow> NoiseRows(const RenderBenchOptions& options) {
  constexpr int kImages = 16;
  const std::vector<uint16_t> clean = CleanDepth();
  std::vector<uint16_t> depth = clean;
  const Projection projection = {179.5, 179.5, 80, 60};
  DepthNoiseConfig config;
  config.enabled = true;
  const int threads = cv::getNumThreads();
  cv::setNumThreads(1);
  OpenCvNoise peer(config);
  uint64_t step = 0;
  std::vector<BenchRow> rows;
  for (const RenderKernels& kernels : AvailableKernels()) {
    const std::string name = kernels.name;
    if (name != "avx512" && name != "avx2") continue;
    DepthNoise noise(config, 1, projection, kWidth, kHeight, 1, kernels);
    const auto repeated = [&](const auto& one) {
      return [&] {
        for (int i = 0; i < kImages; ++i) depth = clean, one();
      };
    };
    const auto ours = [&] {
      const uint32_t env = 0;
      noise.Apply(depth.data(), {&env, 1}, {&++step, 1});
    };
    const auto theirs = [&] { peer.Apply(depth.data()); };
    const Pair pair = Alternate(options, ThreadSeconds, kImages, repeated(ours), kImages, repeated(theirs));
    rows.push_back(RowOf("depth noise 160x120, 1 thread, " + name, pair, "OpenCV calls", kReported));
    if (kernels.noise != AvailableKernels().front().noise) continue;
    rows.push_back(RowOf("depth noise 160x120, 1 thread, " + name, {pair.ours, kWanted}, "10,000 images/s", 1));
  }
  cv::setNumThreads(threads);
  return rows;
}

}  // namespace gripstream
