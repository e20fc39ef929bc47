// A camera for people, on environments of any batch: colour pictures of what happens, for contact sheets and videos.
//
// One thread at a time. Throws InputError for a camera that is not there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim_server/render/image_io.h"
#include "sim_server/render/renderer.h"

namespace gripstream {

class EnvBatch;

class Overview {
 public:
  // `camera`: empty for the model's "overview", or its first where it has none.
  Overview(std::span<const mjModel* const> models, const std::string& camera, int width_px, int height_px);
  // 8-bit BGR.
  cv::Mat Picture(const EnvBatch& envs, int env);

 private:
  int width_px_, height_px_;
  std::vector<uint8_t> rgb_;
  std::unique_ptr<BatchRenderer> renderer_;
};

}  // namespace gripstream
