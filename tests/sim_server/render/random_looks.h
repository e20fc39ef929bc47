// Environments of the grasp scene that all look differently, for tests of colour on a device.
#pragma once

#include <memory>

#include "sim_server/render/assets.h"
#include "sim_server/render/visual_randomiser.h"
#include "tests/sim_server/render/cuda_comparison.h"

namespace gripstream {

struct RandomLooks {
  GraspBatch batch;
  std::shared_ptr<RenderAssets> assets = std::make_shared<RenderAssets>();
  VisualRandomiser randomiser;

  explicit RandomLooks(int count)
      : batch(count), randomiser(Everything(), 3, "object", batch.pointers, count, &assets->Textures()) {
    Redraw(0);
  }
  void Redraw(uint64_t episode) {
    for (size_t i = 0; i < batch.views.size(); ++i) {
      const int env = static_cast<int>(i);
      randomiser.Redraw(env, batch.views[i].model, static_cast<uint32_t>(env), episode);
      batch.views[i].appearance = randomiser.Of(env);
    }
  }
  size_t Pixels(const RenderConfig& config) const { return batch.views.size() * config.width * config.height; }

 private:
  static VisualRandomConfig Everything() {
    VisualRandomConfig config;
    config.object_texture_probability = config.table_texture_probability = 0.8;
    config.light_probability = config.background_probability = 0.8;
    return config;
  }
};

}  // namespace gripstream
