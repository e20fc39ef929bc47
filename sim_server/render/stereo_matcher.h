// Depth as a passive stereo camera has it: from a rendered pair of colour images through OpenCV's block matcher.
//
//   left, right images -> disparity in the left image -> focal length x baseline / disparity
//
// With all of such a camera's faults: holes where surfaces have no texture or one eye is blind, flattened edges, a
// margin at the left that only the left eye sees. The pair has to be rectified: same orientation, same lens, the right
// camera displaced along the left one's x axis.
//
// Match is to be called by one thread at a time and uses those given at construction. OpenCV's own threads are switched
// off for the process. Throws InputError for cameras that are no rectified pair and a block size that does not fit.
#pragma once

#include <mujoco/mujoco.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "sim_server/render/camera.h"
#include "sim_server/render/config.h"
#include "sim_server/render/renderer.h"
#include "sim_server/render/stereo_matcher_config.h"

namespace gripstream {

// Throws InputError (as render.matcher.right) unless the cameras of the model are a rectified pair as the model stands
// at its default pose.
void CheckRectified(const mjModel& model, const std::string& left, const std::string& right);

class StereoMatcher {
 public:
  StereoMatcher(const StereoMatcherConfig& config, const RenderConfig& image, int threads);
  ~StereoMatcher();

  // What the geometry of one pair is.
  struct Pair {
    double focal_px;
    double baseline_m;
  };
  // left, right [H, W, 3] and depth [H, W] as in RenderTargets, for as many images as there are pairs; depth out of the
  // renderer's range is 0.
  void Match(ImageTarget<uint8_t> left, ImageTarget<uint8_t> right, std::span<const Pair> pairs,
             ImageTarget<uint16_t> depth);

 private:
  struct Workspace;
  void MatchOne(const uint8_t* left, const uint8_t* right, const Pair& pair, uint16_t* depth,
                Workspace& workspace) const;

  int width_, height_;
  double near_m_, far_m_;
  std::unique_ptr<Workspace[]> workspaces_;  // one per thread
  ParallelFor parallel_;
};

}  // namespace gripstream
