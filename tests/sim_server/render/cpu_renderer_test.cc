// Tests sim_server/render/cpu_renderer.h.
#include "sim_server/render/cpu_renderer.h"

#include <gtest/gtest.h>

#include "sim_server/render/image_io.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

struct Images {
  std::vector<uint16_t> u16;
  std::vector<float> f32;
  std::vector<int32_t> seg;
  std::vector<float> normals;
  Images(size_t n) : u16(n), f32(n), seg(n), normals(3 * n) {}
  RenderTargets Targets() { return {u16.data(), f32.data(), seg.data(), normals.data(), nullptr}; }
};

TEST(CpuRenderer, DepthOfTheGraspSceneEqualsMujocosRays) {
  RenderConfig config;
  config.width = 160, config.height = 120;
  int wrong = 0, wrong_seg = 0, total = 0;
  double worst = 0;
  const std::vector<std::string> names = CatalogueNames();
  for (int i = 0; i < 28; ++i) {
    ModelPtr model = GraspModel(names[i % names.size()]);
    DataPtr data(mj_makeData(model.get()));
    RandomiseGrasp(*model, data.get(), RandomStream(1, "configuration").At(0, i));
    const mjModel* models[] = {model.get()};
    auto renderer = BatchRenderer::Make(config, "depth", models, 1);
    Images images(160 * 120);
    const SceneView view = ViewOf(model.get(), data.get());
    renderer->Render({&view, 1}, images.Targets());
    if (i == 0) {
      WritePng(GRIPSTREAM_BINARY_DIR "/render_depth.png", ColourDepth(images.u16.data(), 160, 120, 4));
      WritePng(GRIPSTREAM_BINARY_DIR "/render_shaded.png", ShadedPreview(*model, images.seg.data(), images.normals.data(), 160, 120, 4));
    }
    const int camera = FindCamera(*model, "depth");
    const Projection p = ProjectionOf(*model, camera, 160, 120);
    for (int y = 0; y < 120; ++y) {
      for (int x = 0; x < 160; ++x) {
        const Hit hit = RayHit(*model, data.get(), camera, p, x, y, config.near_m, config.far_m);
        const double error = std::abs(hit.depth_m - images.f32[y * 160 + x]);
        ++total;
        if (error > 1e-4)
          ++wrong;
        else
          worst = std::max(worst, error);
        if (hit.geom != images.seg[y * 160 + x]) ++wrong_seg;
      }
    }
  }
  printf("wrong %d seg %d of %d, worst of the right %g\n", wrong, wrong_seg, total, worst);
  EXPECT_LT(wrong, total * 1e-4);
}

}  // namespace
}  // namespace gripstream
