// Tests sim_server/render/mujoco_renderer.h, and our renderer against it.
#include "sim_server/render/mujoco_renderer.h"

#include <gtest/gtest.h>

#include "sim_server/render/image_io.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

TEST(MujocoRenderer, AgreesWithOurs) {
  RenderConfig config;
  config.width = 160, config.height = 120;
  ModelPtr model = GraspModel("mug");
  const mjModel* models[] = {model.get()};
  auto ours = BatchRenderer::Make(config, "depth", models, 1);
  config.backend = "mujoco";
  auto theirs = BatchRenderer::Make(config, "depth", models, 1);
  DataPtr data(mj_makeData(model.get()));
  const size_t n = 160 * 120;
  for (int i = 0; i < 5; ++i) {
    RandomiseGrasp(*model, data.get(), RandomStream(1, "configuration").At(0, i));
    const SceneView view = ViewOf(model.get(), data.get());
    std::vector<float> a(n), b(n);
    std::vector<int32_t> sa(n), sb(n);
    std::vector<uint8_t> rgb(3 * n);
    ours->Render({&view, 1}, {.depth_f32 = a.data(), .segmentation = sa.data()});
    theirs->Render({&view, 1}, {.depth_f32 = b.data(), .segmentation = sb.data(), .rgb = rgb.data()});
    if (i == 0) WritePng(GRIPSTREAM_BINARY_DIR "/render_rgb.png", FromRgb(rgb.data(), 160, 120, 4));
    int off = 0, seg = 0, far = 0;
    for (size_t k = 0; k < n; ++k) {
      off += std::abs(a[k] - b[k]) > 1e-3;
      far += std::abs(a[k] - b[k]) > 5e-3;
      seg += sa[k] != sb[k];
    }
    printf("off by 1 mm %d, 5mm %d, seg %d of %zu\n", off, far, seg, n);
  }
}

}  // namespace
}  // namespace gripstream
