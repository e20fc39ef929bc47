// The benchmark's rows of colour augmentation: beside the same stages in OpenCV calls, and beside rendering the images.
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "sim_server/render/augment.h"
#include "sim_server/render/bench_sampling.h"
#include "sim_server/render/cpu_renderer.h"
#include "sim_server/render/procedural_textures.h"

namespace gripstream {
namespace {

constexpr int kWidth = 320, kHeight = 240;
constexpr size_t kPixels = size_t{kWidth} * kHeight;

// Every stage on every image.
AugmentConfig Everything() {
  AugmentConfig config;
  config.enabled = true;
  config.colour_probability = config.blur_probability = config.background_probability = 1;
  return config;
}

// The same stages as one writes them down with OpenCV, in bytes throughout, which is its fastest way.
class OpenCvAugmenter {
 public:
  OpenCvAugmenter() : picture_(ProceduralBackgrounds(1).front()) {
    for (int i = 0; i < 256; ++i) {
      const double bright = std::min(255.0, 1.2 * i);
      tone_(0, i) = cv::saturate_cast<uint8_t>(0.8 * bright + 0.2 * 127.5);
      const auto level = static_cast<uint8_t>(i);
      turn_(0, i) = {static_cast<uint8_t>(i + 25), level, level};
    }
    for (int i = -6; i <= 6; ++i) line_(6 + i / 2, 6 + i) = static_cast<float>(1 + 0.05 * i) / 13;
  }

  // `floor`: the geom that counts as background.
  void Apply(uint8_t* rgb, int32_t* ids, int floor) {
    cv::Mat image(kHeight, kWidth, CV_8UC3, rgb);
    const cv::Mat segmentation(kHeight, kWidth, CV_32S, ids);
    const cv::Mat picture(picture_.height, picture_.width, CV_8UC3, picture_.pixels.data());
    cv::resize(picture, behind_, image.size(), 0, 0, cv::INTER_NEAREST);
    behind_.copyTo(image, (segmentation == -1) | (segmentation == floor));
    cv::LUT(image, tone_, image);
    cv::cvtColor(image, grey_, cv::COLOR_RGB2GRAY);
    cv::cvtColor(grey_, greys_, cv::COLOR_GRAY2RGB);
    cv::addWeighted(image, 0.7, greys_, 0.3, 0, image);
    cv::cvtColor(image, hsv_, cv::COLOR_RGB2HSV_FULL);
    cv::LUT(hsv_, turn_, hsv_);
    cv::cvtColor(hsv_, changed_, cv::COLOR_HSV2RGB_FULL);
    cv::filter2D(changed_, image, -1, line_, {-1, -1}, 0, cv::BORDER_REPLICATE);
  }

 private:
  RgbImage picture_;
  cv::Mat_<uint8_t> tone_ = cv::Mat_<uint8_t>(1, 256);
  cv::Mat_<cv::Vec3b> turn_ = cv::Mat_<cv::Vec3b>(1, 256);
  cv::Mat_<float> line_ = cv::Mat_<float>(13, 13, 0.0f);
  cv::Mat behind_, grey_, greys_, hsv_, changed_;
};

class AugmentBench {
 public:
  AugmentBench(const RenderBenchOptions& options, std::span<const mjModel* const> models,
               std::span<const SceneView> views)
      : options_(options), models_(models), views_(views), rgb_(3 * kPixels * views.size()) {
    RenderConfig config;
    config.width = kWidth, config.height = kHeight, config.colour = true;
    for (const std::string& camera : options.stereo) {
      renderers_.push_back(std::make_unique<CpuRenderer>(config, camera, models, 1, AvailableKernels().front()));
    }
    ids_.resize(kPixels * views.size());
    CpuRenderer(config, options.stereo[0], models, 1, AvailableKernels().front())
        .Render(views, {.segmentation = ids_.data()});
    for (size_t i = 0; i < views.size(); ++i) moments_.push_back({views[i].model, static_cast<uint32_t>(i), 0, 0});
  }

  std::vector<BenchRow> Rows() {
    std::vector<BenchRow> rows;
    const int images = static_cast<int>(options_.stereo.size() * views_.size());
    const auto render = [&] { Render(); };
    OpenCvAugmenter peer;
    const auto theirs = [&] { ApplyPeer(peer); };
    for (const RenderKernels& kernels : AvailableKernels()) {
      const std::string isa = kernels.name;
      if (isa != "avx512" && isa != "avx2") continue;
      const std::string name = "stereo colour 2 x 320x240 augmented (background, colours, blur), 1 thread, " + isa;
      Augmenter augmenter(Everything(), 1, models_, kWidth, kHeight, 1, &library_, kernels);
      const auto ours = [&] { Apply(augmenter); };
      Render();
      rows.push_back(
          RowOf(name, Alternate(options_, ThreadSeconds, images, ours, images, theirs), "OpenCV calls", kReported));
      if (kernels.augment != AvailableKernels().front().augment) continue;
      rows.push_back(
          RowOf(name, Alternate(options_, ThreadSeconds, images, ours, images, render), "rendering them", 1));
    }
    return rows;
  }

 private:
  void Render() {
    for (const auto& renderer : renderers_) renderer->Render(views_, {.rgb = rgb_.data()});
  }
  void Apply(Augmenter& augmenter) {
    for (AugmentMoment& moment : moments_) ++moment.episode;
    for (size_t i = 0; i < renderers_.size(); ++i) augmenter.Apply(rgb_.data(), ids_.data(), moments_);
  }
  void ApplyPeer(OpenCvAugmenter& peer) {
    for (size_t camera = 0; camera < renderers_.size(); ++camera) {
      for (size_t i = 0; i < views_.size(); ++i) {
        const int floor = mj_name2id(views_[i].model, mjOBJ_GEOM, "floor");
        peer.Apply(rgb_.data() + 3 * kPixels * i, ids_.data() + kPixels * i, floor);
      }
    }
  }

  const RenderBenchOptions& options_;
  std::span<const mjModel* const> models_;
  std::span<const SceneView> views_;
  std::vector<uint8_t> rgb_;
  std::vector<int32_t> ids_;
  std::vector<AugmentMoment> moments_;
  std::vector<std::unique_ptr<CpuRenderer>> renderers_;
  TextureLibrary library_;
};

}  // namespace

std::vector<BenchRow> AugmentRows(const RenderBenchOptions& options, std::span<const mjModel* const> models,
                                  std::span<const SceneView> views) {
  const int threads = cv::getNumThreads();
  cv::setNumThreads(1);
  const std::vector<BenchRow> rows = AugmentBench(options, models, views).Rows();
  cv::setNumThreads(threads);
  return rows;
}

}  // namespace gripstream
