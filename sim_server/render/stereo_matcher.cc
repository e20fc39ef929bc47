#include "sim_server/render/stereo_matcher.h"

#include <cmath>
#include <opencv2/calib3d.hpp>
#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "sim_server/render/model_ptr.h"

namespace gripstream {
namespace {

constexpr double kMostOffAxis = 0.01;    // of the baseline, and in radians of the turn between the cameras
constexpr int kDisparityFractions = 16;  // OpenCV's fixed point

[[noreturn]] void Refuse(const mjModel& model, const std::string& right, const std::string& left,
                         const std::string& what) {
  throw InputError(ModelName(model), "render.matcher.right", right,
                   "a camera that makes a rectified pair with '" + left + "': " + what);
}

cv::Ptr<cv::StereoMatcher> MakeMatcher(const StereoMatcherConfig& config) {
  const int disparities = (config.disparities_px + 15) / 16 * 16;
  if (config.method == "bm") {
    const auto bm = cv::StereoBM::create(disparities, config.block_px);
    bm->setUniquenessRatio(config.uniqueness_percent);
    bm->setSpeckleWindowSize(config.speckle_window_px);
    bm->setSpeckleRange(config.speckle_range_px);
    return bm;
  }
  const int area = config.block_px * config.block_px;
  // The smoothness penalties that OpenCV's documentation recommends for one channel.
  return cv::StereoSGBM::create(0, disparities, config.block_px, 8 * area, 32 * area, 1, 63, config.uniqueness_percent,
                                config.speckle_window_px, config.speckle_range_px);
}

}  // namespace

void CheckRectified(const mjModel& model, const std::string& left, const std::string& right) {
  const int l = FindCamera(model, left), r = FindCamera(model, right, "render.matcher.right");
  const DataPtr data(mj_makeData(&model));
  mj_kinematics(&model, data.get());
  mj_comPos(&model, data.get());
  mj_camlight(&model, data.get());
  mjtNum apart[3], baseline[3], turn[9];
  mju_sub3(apart, data->cam_xpos + 3 * r, data->cam_xpos + 3 * l);
  mju_mulMatTVec3(baseline, data->cam_xmat + 9 * l, apart);
  mju_mulMatTMat(turn, data->cam_xmat + 9 * l, data->cam_xmat + 9 * r, 3, 3, 3);
  if (turn[0] + turn[4] + turn[8] < 3 - kMostOffAxis * kMostOffAxis) Refuse(model, right, left, "they look elsewhere");
  if (!(baseline[0] > 0)) Refuse(model, right, left, "it is not to the right");
  if (std::hypot(baseline[1], baseline[2]) > kMostOffAxis * baseline[0]) {
    Refuse(model, right, left, "it is not displaced along the image's rows");
  }
  const Projection a = ProjectionOf(model, l, 100, 100), b = ProjectionOf(model, r, 100, 100);
  if (std::fabs(a.fx_px - b.fx_px) > 1e-3 * a.fx_px || std::fabs(a.cx_px - b.cx_px) > 0.05 ||
      std::fabs(a.fy_px - b.fy_px) > 1e-3 * a.fy_px || std::fabs(a.cy_px - b.cy_px) > 0.05) {
    Refuse(model, right, left, "they have different lenses");
  }
}

struct StereoMatcher::Workspace {
  cv::Ptr<cv::StereoMatcher> matcher;
  cv::Mat left, right, disparity;
  std::atomic_flag taken = ATOMIC_FLAG_INIT;
};

StereoMatcher::StereoMatcher(const StereoMatcherConfig& config, const RenderConfig& image, int threads)
    : width_(image.width),
      height_(image.height),
      near_m_(image.near_m),
      far_m_(image.far_m),
      workspaces_(std::make_unique<Workspace[]>(static_cast<size_t>(threads))),
      parallel_(threads) {
  const int least = config.method == "bm" ? 5 : 1;
  if (config.block_px % 2 == 0 || config.block_px < least || config.block_px >= std::min(width_, height_)) {
    throw InputError("configuration", "render.matcher.block_px", std::to_string(config.block_px),
                     "an odd number from " + std::to_string(least) + ", smaller than the image");
  }
  if (config.disparities_px >= width_) {
    throw InputError("configuration", "render.matcher.disparities_px", std::to_string(config.disparities_px),
                     "fewer than the image's " + std::to_string(width_) + " columns");
  }
  cv::setNumThreads(1);
  for (int i = 0; i < threads; ++i) workspaces_[i].matcher = MakeMatcher(config);
}

StereoMatcher::~StereoMatcher() = default;

void StereoMatcher::Match(ImageTarget<uint8_t> left, ImageTarget<uint8_t> right, std::span<const Pair> pairs,
                          ImageTarget<uint16_t> depth) {
  const int64_t pixels = int64_t{width_} * height_;
  parallel_(static_cast<int>(pairs.size()), 1, [&](int begin, int end) {
    int mine = 0;  // at most as many bodies run as there are workspaces
    while (workspaces_[mine].taken.test_and_set(std::memory_order_acquire)) mine = (mine + 1) % parallel_.Threads();
    for (int i = begin; i < end; ++i) {
      MatchOne(left.Image(i, 3 * pixels), right.Image(i, 3 * pixels), pairs[i], depth.Image(i, pixels),
               workspaces_[mine]);
    }
    workspaces_[mine].taken.clear(std::memory_order_release);
  });
}

void StereoMatcher::MatchOne(const uint8_t* left, const uint8_t* right, const Pair& pair, uint16_t* depth,
                             Workspace& workspace) const {
  const auto grey = [&](const uint8_t* rgb, cv::Mat& out) {
    cv::cvtColor(cv::Mat(height_, width_, CV_8UC3, const_cast<uint8_t*>(rgb)), out, cv::COLOR_RGB2GRAY);
  };
  grey(left, workspace.left);
  grey(right, workspace.right);
  workspace.matcher->compute(workspace.left, workspace.right, workspace.disparity);
  for (int y = 0; y < height_; ++y) {
    const int16_t* row = workspace.disparity.ptr<int16_t>(y);
    for (int x = 0; x < width_; ++x) {
      const double z = row[x] > 0 ? kDisparityFractions * pair.focal_px * pair.baseline_m / row[x] : 0;
      *depth++ = z >= near_m_ && z < far_m_ ? static_cast<uint16_t>(std::lround(z / kDepthQuantum_m)) : uint16_t{0};
    }
  }
}

}  // namespace gripstream
