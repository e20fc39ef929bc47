// Tests sim_server/render/cuda/tile_renderer.h on a CUDA device; skipped where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "sim_server/render/cuda/tile_renderer.h"
#include "tests/sim_server/render/random_looks.h"

namespace gripstream {
namespace {

// Why there is no device; empty where there is one.
std::string WhyNoDevice() {
  try {
    MakeCudaDevice();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = WhyNoDevice();
    if (!why.empty()) GTEST_SKIP() << "not tested: " << why;
  }
};

TEST(CudaDevice, WhereThereIsNoneIsRefusedInOneLine) {
  const std::string why = WhyNoDevice();
  if (why.empty()) GTEST_SKIP() << "there is a device";
  EXPECT_THAT(why, testing::HasSubstr("render.backend"));
  EXPECT_THAT(why, testing::HasSubstr("no CUDA"));
  EXPECT_EQ(why.find('\n'), std::string::npos);
}

TEST_F(Cuda, GivesTheCpuRenderersBitsForGraspScenes) {
  const GraspBatch batch(40);
  for (const auto& [width, height] : {std::pair{64, 48}, {75, 50}, {160, 120}, {320, 240}}) {
    RenderConfig config;
    config.width = width, config.height = height;
    TileRenderer renderer(config, "depth", batch.pointers, 2, MakeCudaDevice(), 16);
    ExpectSameImages(renderer, config, "depth", batch.pointers, batch.views);
  }
}

TEST_F(Cuda, GivesTheCpuRenderersBitsForMeshesAndHeightFields) {
  RenderConfig config;
  config.width = 200, config.height = 150;
  const ModelPtr model =
      ModelFromText("<mujoco><asset>" + BumpyMesh("bumpy", 60, 40) + SmallHills("hills") +
                    "</asset><worldbody><camera name='c' pos='0 -1.1 .8' xyaxes='1 0 0 0 .6 .8' fovy='50'/>"
                    "<geom type='hfield' hfield='hills' euler='5 -8 20'/><geom type='mesh' mesh='bumpy' pos='0 0 .4'/>"
                    "<geom type='mesh' mesh='bumpy' pos='.2 -.3 .3' rgba='1 0 0 .5'/></worldbody></mujoco>");
  DataPtr data(mj_makeData(model.get()));
  mj_kinematics(model.get(), data.get());
  mj_camlight(model.get(), data.get());
  const mjModel* models[] = {model.get()};
  const SceneView view = ViewOf(model.get(), data.get());
  TileRenderer renderer(config, "c", models, 1, MakeCudaDevice());
  ExpectSameImages(renderer, config, "c", models, {&view, 1});
}

TEST_F(Cuda, GivesTheSameBytesTwiceAndIntoDeviceMemory) {
  const RenderConfig config;
  const GraspBatch batch(50);
  const size_t count = batch.views.size() * config.width * config.height;
  TileRenderer renderer(config, "depth", batch.pointers, 1, MakeCudaDevice(), 7);
  std::vector<uint16_t> first(count), second(count), copied(count);
  renderer.Render(batch.views, {.depth_u16 = first.data()});
  renderer.Render(batch.views, {.depth_u16 = second.data()});
  EXPECT_EQ(first, second);
  const DeviceArray<uint16_t> device(renderer.Device(), MemorySide::kDevice, count);
  renderer.Render(batch.views, {.depth_u16 = device.data()});
  renderer.Device().Copy(0, copied.data(), device.data(), count * sizeof(uint16_t));
  renderer.Device().Wait(0);
  EXPECT_EQ(copied, first);
}

TEST_F(Cuda, LaysTheNoiseThatTheSerialLauncherLays) {
  RenderConfig config;
  config.width = 160, config.height = 120;
  GraspBatch batch(20);
  for (size_t i = 0; i < batch.views.size(); ++i) batch.views[i].noise_step = 100 + i;
  DepthNoiseConfig noise;
  noise.enabled = true;
  const size_t count = batch.views.size() * config.width * config.height;
  std::vector<uint16_t> ours(count), expected(count);
  TileRenderer device(config, "depth", batch.pointers, 2, MakeCudaDevice(), 16);
  TileRenderer serial(config, "depth", batch.pointers, 2, MakeSerialDevice(ThreadOrder::kForward));
  for (TileRenderer* renderer : {&device, &serial}) EXPECT_TRUE(renderer->TakeDepthNoise(noise, 5));
  device.Render(batch.views, {.depth_u16 = ours.data()});
  serial.Render(batch.views, {.depth_u16 = expected.data()});
  EXPECT_EQ(ours, expected);
}

TEST_F(Cuda, GivesTheCpuRenderersColourForEnvironmentsThatAllLookDifferently) {
  RandomLooks looks(20);
  RenderConfig config;
  config.width = 160, config.height = 120, config.colour = true;
  const size_t pixels = looks.Pixels(config);
  std::vector<uint8_t> ours(3 * pixels), twice(3 * pixels), expected(3 * pixels);
  std::vector<int32_t> geom(pixels), expected_geom(pixels);
  TileRenderer device(config, "depth", looks.batch.pointers, 2, MakeCudaDevice(), 16, looks.assets);
  device.Render(looks.batch.views, {.segmentation = geom.data(), .rgb = ours.data()});
  device.Render(looks.batch.views, {.rgb = twice.data()});
  CpuRenderer(config, "depth", looks.batch.pointers, 2, AvailableKernels().front())
      .Render(looks.batch.views, {.segmentation = expected_geom.data(), .rgb = expected.data()});
  ExpectSameColour(ours, expected);
  EXPECT_EQ(geom, expected_geom);
  EXPECT_EQ(ours, twice);
}

}  // namespace
}  // namespace gripstream
