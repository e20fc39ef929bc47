// A peer for the benchmark: depth by casting rays with Embree at the same scene, every geom an instance of its own
// triangle mesh (as finely divided as MuJoCo draws it), the top level rebuilt for every image.
//
// One thread. Only where the build found Embree: Make returns null otherwise. Used by the benchmark alone.
#pragma once

#include <memory>
#include <string>

#include "sim_server/render/config.h"
#include "sim_server/render/scene_view.h"

namespace gripstream {

class EmbreePeer {
 public:
  virtual ~EmbreePeer() = default;
  static std::unique_ptr<EmbreePeer> Make(const mjModel& model, const std::string& camera, const RenderConfig& config);
  // depth [H, W] in metres, 0 where nothing is hit.
  virtual void Render(const SceneView& scene, float* depth) = 0;
};

}  // namespace gripstream
