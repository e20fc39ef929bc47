// Tests sim_server/render/cuda/tile_shade.h, tile_colour.h and tile_assets.h on the CPU: the colour kernels' bodies,
// run thread after thread, beside the CPU renderer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "sim_server/render/cuda/tile_renderer.h"
#include "tests/sim_server/render/colour_scenes.h"
#include "tests/sim_server/render/random_looks.h"

namespace gripstream {
namespace {

RenderConfig ColourConfig(int width = 75, int height = 50) {
  RenderConfig config;
  config.width = width, config.height = height, config.colour = true;
  return config;
}

struct Colours {
  std::vector<uint8_t> rgb;
  std::vector<int32_t> geom, bodies;
  std::vector<uint16_t> depth;

  explicit Colours(size_t pixels) : rgb(3 * pixels, 77), geom(pixels, -7), bodies(pixels, -7), depth(pixels, 65000) {}
  RenderTargets Targets() {
    return {.depth_u16 = depth.data(), .segmentation = geom.data(), .rgb = rgb.data(), .bodies = bodies.data()};
  }
};

void ExpectSame(const Colours& ours, const Colours& expected) {
  ExpectSameColour(ours.rgb, expected.rgb);
  EXPECT_EQ(ours.geom, expected.geom);
  EXPECT_EQ(ours.bodies, expected.bodies);
  EXPECT_EQ(ours.depth, expected.depth);
}

// Both orders of threads, with all images and with colour alone.
void ExpectTheCpusColour(const RenderConfig& config, const std::string& camera, std::span<const mjModel* const> models,
                         std::span<const SceneView> views) {
  const size_t pixels = views.size() * config.width * config.height;
  Colours expected(pixels);
  CpuRenderer(config, camera, models, 1, kKernelsSse2).Render(views, expected.Targets());
  std::vector<Colours> ours;
  for (const ThreadOrder order : {ThreadOrder::kForward, ThreadOrder::kBackward}) {
    TileRenderer renderer(config, camera, models, 1, MakeSerialDevice(order), 3);
    ours.emplace_back(pixels);
    renderer.Render(views, ours.back().Targets());
    ExpectSame(ours.back(), expected);
    std::vector<uint8_t> alone(3 * pixels, 1);
    renderer.Render(views, {.rgb = alone.data()});
    EXPECT_EQ(alone, ours.back().rgb);
  }
  EXPECT_EQ(ours[0].rgb, ours[1].rgb);
}

void ExpectTheCpusColour(const std::string& xml, const RenderConfig& config) {
  const ModelPtr model = ModelFromText(xml);
  DataPtr data(mj_makeData(model.get()));
  mj_forward(model.get(), data.get());
  const mjModel* models[] = {model.get()};
  const SceneView view = ViewOf(model.get(), data.get());
  ExpectTheCpusColour(config, "c", models, {&view, 1});
}

TEST(TileColours, AreTheCpuRenderersForMaterialsLightsAndSky) {
  ExpectTheCpusColour(kMaterials, ColourConfig(160, 120));
}

TEST(TileColours, AreTheCpuRenderersForTranslucentGeoms) {
  RenderConfig config = ColourConfig();
  ExpectTheCpusColour(kTranslucent, config);
  config.far_m = 6.5;
  ExpectTheCpusColour(kTranslucent, config);
  ExpectTheCpusColour("<mujoco><asset>" + BumpyMesh("bumpy", 24, 16) +
                          "</asset><worldbody><camera name='c' pos='0 -1 .4' xyaxes='1 0 0 0 .3 .95'/>"
                          "<geom type='plane' size='2 2 .1'/><geom type='mesh' mesh='bumpy' rgba='1 .5 .2 .5'/>"
                          "<geom type='mesh' mesh='bumpy' pos='.1 .5 .2' rgba='.2 .5 1 .5'/>"
                          "<geom type='plane' size='1 1 .1' pos='0 0 .05' rgba='.2 .9 .2 .3'/></worldbody></mujoco>",
                      config);
}

TEST(TileColours, AreTheCpuRenderersForMeshesWithNormalsAndTextureCoordinates) {
  ExpectTheCpusColour(kMeshes, ColourConfig(160, 120));
}

TEST(TileColours, AreTheCpuRenderersForOneGeomWithoutLights) {
  ExpectTheCpusColour(
      "<mujoco><visual><headlight active='0'/></visual><asset><material name='m' emission='1'/></asset><worldbody>"
      "<camera name='c' pos='0 0 1'/><geom size='.3' rgba='.9 .5 .2 1' material='m'/></worldbody></mujoco>",
      ColourConfig(33, 25));
}

TEST(TileColours, AreTheCpuRenderersForEnvironmentsThatAllLookDifferently) {
  RandomLooks looks(7);
  for (uint64_t episode = 0; episode < 3; ++episode) {
    looks.Redraw(episode);
    ExpectTheCpusColour(ColourConfig(), episode == 2 ? "overview" : "depth", looks.batch.pointers, looks.batch.views);
  }
}

TEST(TileColours, OfTheModelsOwnLookAndOfOnesOwnMixInABatch) {
  RandomLooks looks(5);
  looks.batch.views[1].appearance = looks.batch.views[4].appearance = nullptr;
  ExpectTheCpusColour(ColourConfig(), "depth", looks.batch.pointers, looks.batch.views);
}

TEST(TileColours, GoStraightIntoDeviceMemory) {
  RandomLooks looks(4);
  const RenderConfig config = ColourConfig(40, 30);
  TileRenderer renderer(config, "depth", looks.batch.pointers, 1, MakeSerialDevice(ThreadOrder::kForward), 3,
                        looks.assets);
  const size_t bytes = 3 * looks.Pixels(config);
  std::vector<uint8_t> expected(bytes);
  renderer.Render(looks.batch.views, {.rgb = expected.data()});
  const DeviceArray<uint8_t> device(renderer.Device(), MemorySide::kDevice, bytes);
  renderer.Render(looks.batch.views, {.rgb = device.data()});
  EXPECT_EQ(std::vector<uint8_t>(device.data(), device.data() + bytes), expected);
}

// Counts what is allocated.
class CountingDevice : public TileDevice {
 public:
  void* Allocate(MemorySide side, size_t bytes) override {
    ++allocations;
    total_bytes += bytes;
    return serial_->Allocate(side, bytes);
  }
  void Free(MemorySide side, void* memory) override { serial_->Free(side, memory); }
  bool IsDeviceMemory(const void* memory) const override { return serial_->IsDeviceMemory(memory); }
  void Copy(int queue, void* to, const void* from, size_t bytes) override { serial_->Copy(queue, to, from, bytes); }
  void Launch(int queue, const TileJob& job) override { serial_->Launch(queue, job); }
  void LaunchNoise(int queue, const TileNoise& noise) override { serial_->LaunchNoise(queue, noise); }
  void Wait(int queue) override { serial_->Wait(queue); }

  int allocations = 0;
  size_t total_bytes = 0;

 private:
  std::unique_ptr<TileDevice> serial_ = MakeSerialDevice(ThreadOrder::kForward);
};

TEST(TileColours, AllocateNothingAfterTheFirstImagesButForTexturesNeverSeen) {
  RandomLooks looks(4);
  const RenderConfig config = ColourConfig(20, 15);
  const auto device = std::make_shared<CountingDevice>();
  TileRenderer renderer(config, "depth", looks.batch.pointers, 1, device, 3, looks.assets);
  std::vector<uint8_t> rgb(3 * looks.Pixels(config));
  renderer.Render(looks.batch.views, {.rgb = rgb.data()});
  const int before = device->allocations;
  for (uint64_t episode = 1; episode < 6; ++episode) {
    looks.Redraw(episode);
    renderer.Render(looks.batch.views, {.rgb = rgb.data()});
  }
  EXPECT_EQ(device->allocations, before);
  // An image that no library held when the renderer was made.
  TextureLibrary library;
  RgbImage green = {2, 2, std::vector<uint8_t>(12, 0)};
  for (size_t i = 1; i < 12; i += 3) green.pixels[i] = 200;
  Appearance look;
  look.backdrop = library.Add(green);
  looks.batch.views[0].appearance = &look;
  std::fill_n(looks.batch.data[0]->geom_xpos, 3 * looks.batch.views[0].model->ngeom, 100);  // out of view
  renderer.Render(looks.batch.views, {.rgb = rgb.data()});
  EXPECT_GT(device->allocations, before);
  EXPECT_THAT(std::vector<uint8_t>(rgb.begin(), rgb.begin() + 3), testing::ElementsAre(0, 200, 0));
}

TEST(TileColours, OfSeveralCamerasLieSideBySideAndShareMeshesAndTextures) {
  RandomLooks looks(4);
  const RenderConfig config = ColourConfig(40, 30);
  const char* cameras[] = {"depth", "overview"};
  const int64_t image_bytes = int64_t{3} * config.width * config.height;
  std::vector<uint8_t> together(2 * 4 * image_bytes), expected(together);
  const auto device = std::make_shared<CountingDevice>();
  std::vector<std::unique_ptr<TileRenderer>> renderers;
  size_t bytes[2];
  for (int c = 0; c < 2; ++c) {
    renderers.push_back(
        std::make_unique<TileRenderer>(config, cameras[c], looks.batch.pointers, 1, device, 3, looks.assets));
    bytes[c] = device->total_bytes;
    CpuRenderer(config, cameras[c], looks.batch.pointers, 1, kKernelsSse2)
        .Render(looks.batch.views, {.rgb = {expected.data() + c * image_bytes, 2}});
  }
  for (int c = 0; c < 2; ++c) {
    renderers[c]->Render(looks.batch.views, {.rgb = {together.data() + c * image_bytes, 2}});
  }
  ExpectSameColour(together, expected);
  size_t texels = 0;
  for (const TextureView* texture : looks.assets->Textures().All()) {
    texels += static_cast<size_t>(texture->levels[0].width) * texture->levels[0].height * texture->face_count;
  }
  EXPECT_GT(texels, 0u);
  EXPECT_LT(bytes[1] - bytes[0] + sizeof(uint32_t) * texels, bytes[0] + 1);  // the second brings no texture
}

TEST(TileColours, WithShadowsAreTheCpuRenderers) {
  RenderConfig config = ColourConfig();
  config.shadows = true, config.shadow_px = 200;
  ExpectTheCpusColour(kMaterials, config);
  ExpectTheCpusColour(kTranslucent, config);
  ExpectTheCpusColour(kMeshes, config);
  // Models with different numbers of lights that cast shadows.
  RandomLooks looks(5);
  looks.batch.models[1]->light_castshadow[0] = 0;
  ExpectTheCpusColour(config, "depth", looks.batch.pointers, looks.batch.views);
}

TEST(TileColours, MustBeAskedForInTheConfig) {
  const GraspBatch batch(1);
  std::vector<uint8_t> rgb(3 * 64 * 48);
  TileRenderer renderer({}, "depth", batch.pointers, 1, MakeSerialDevice(ThreadOrder::kForward));
  EXPECT_THROW(renderer.Render(batch.views, {.rgb = rgb.data()}), InternalError);
}

}  // namespace
}  // namespace gripstream
