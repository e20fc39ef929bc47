// Tests sim_server/render/cuda/tile_renderer.h on the CPU: the kernels' bodies, run thread after thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "sim_server/render/cpu_renderer.h"
#include "sim_server/render/cuda/tile_renderer.h"
#include "tests/sim_server/render/cuda_comparison.h"

namespace gripstream {
namespace {

std::unique_ptr<TileRenderer> Serial(const RenderConfig& config, const std::string& camera,
                                     std::span<const mjModel* const> models, ThreadOrder order = ThreadOrder::kForward,
                                     int most_environments = 1024) {
  return std::make_unique<TileRenderer>(config, camera, models, 1, MakeSerialDevice(order), most_environments);
}

// The images of one environment, after comparing them with the CPU renderer's.
Images Checked(const ModelPtr& model, const std::string& camera, const RenderConfig& config) {
  DataPtr data(mj_makeData(model.get()));
  mj_kinematics(model.get(), data.get());
  mj_camlight(model.get(), data.get());
  const mjModel* models[] = {model.get()};
  const SceneView view = ViewOf(model.get(), data.get());
  const auto serial = Serial(config, camera, models);
  ExpectSameImages(*serial, config, camera, models, {&view, 1});
  return RenderScene(*serial, config, *model, data.get());
}

Images CheckedText(const std::string& body, const RenderConfig& config, const std::vector<double>& sizes = {}) {
  ModelPtr model = ModelFromText("<mujoco><worldbody><camera name='c' fovy='60'/>" + body + "</worldbody></mujoco>");
  for (size_t i = 0; i < sizes.size(); ++i) model->geom_size[i] = sizes[i];
  return Checked(model, "c", config);
}

TEST(Tiles, GiveTheCpuRenderersBitsForGraspScenesWithSeveralModels) {
  const GraspBatch batch(9);
  for (const auto& [width, height] : {std::pair{64, 48}, {75, 50}, {160, 120}}) {
    RenderConfig config;
    config.width = width, config.height = height;
    const auto serial = Serial(config, "depth", batch.pointers);
    ExpectSameImages(*serial, config, "depth", batch.pointers, batch.views);
  }
}

TEST(Tiles, DoNotDependOnTheOrderOfThreadsAndBlocks) {
  RenderConfig config;
  config.width = 75, config.height = 50;
  const GraspBatch batch(5);
  const size_t count = batch.views.size() * config.width * config.height;
  std::vector<ImagesOfBatch> all;
  for (const ThreadOrder order : {ThreadOrder::kForward, ThreadOrder::kBackward}) {
    all.emplace_back(count);
    Serial(config, "depth", batch.pointers, order)->Render(batch.views, all.back().Targets());
  }
  EXPECT_EQ(all[0].depth_u16, all[1].depth_u16);
  EXPECT_EQ(all[0].depth, all[1].depth);
  EXPECT_EQ(all[0].geom, all[1].geom);
  EXPECT_EQ(all[0].normals, all[1].normals);
}

TEST(Tiles, GiveTheSameBytesHoweverTheBatchIsSplit) {
  const RenderConfig config;
  const GraspBatch batch(11);
  const size_t count = batch.views.size() * config.width * config.height;
  std::vector<uint16_t> expected(count, 1), parts(count, 2);
  const auto whole = Serial(config, "depth", batch.pointers);
  EXPECT_GE(whole->Capacity(), 11);
  whole->Render(batch.views, {.depth_u16 = expected.data()});
  const auto split = Serial(config, "depth", batch.pointers, ThreadOrder::kForward, 3);
  EXPECT_EQ(split->Capacity(), 3);
  split->Render(batch.views, {.depth_u16 = parts.data()});
  EXPECT_EQ(parts, expected);
}

TEST(Tiles, TakeEveryEnvironmentsOwnLens) {
  RenderConfig config;
  config.width = 75, config.height = 50;
  GraspBatch batch(6);
  std::vector<std::vector<Projection>> lenses;
  for (SceneView& view : batch.views) {
    std::vector<Projection>& lens = lenses.emplace_back();
    for (int camera = 0; camera < view.model->ncam; ++camera) {
      lens.push_back(ProjectionOf(*view.model, camera, config.width, config.height));
      lens.back().fx_px *= 0.8 + 0.1 * static_cast<double>(lenses.size());
      lens.back().cy_px += 2.5;
    }
    view.intrinsics = lens.data();
  }
  const auto serial = Serial(config, "depth", batch.pointers);
  ExpectSameImages(*serial, config, "depth", batch.pointers, batch.views);
}

TEST(Tiles, WriteStraightIntoDeviceMemory) {
  const RenderConfig config;
  const GraspBatch batch(5);
  const size_t count = batch.views.size() * config.width * config.height;
  const auto serial = Serial(config, "depth", batch.pointers, ThreadOrder::kForward, 2);
  std::vector<uint16_t> expected(count);
  serial->Render(batch.views, {.depth_u16 = expected.data()});
  const DeviceArray<uint16_t> device(serial->Device(), MemorySide::kDevice, count);
  EXPECT_TRUE(serial->Device().IsDeviceMemory(device.data() + count - 1));
  EXPECT_FALSE(serial->Device().IsDeviceMemory(expected.data()));
  serial->Render(batch.views, {.depth_u16 = device.data()});
  EXPECT_EQ(std::vector<uint16_t>(device.data(), device.data() + count), expected);
}

TEST(Tiles, WriteNothingOutsideTheirImages) {
  RenderConfig config;
  config.width = 13, config.height = 7;
  const GraspBatch batch(3);
  const auto serial = Serial(config, "depth", batch.pointers);
  const size_t count = 3 * 13 * 7;
  const DeviceArray<uint16_t> depth(serial->Device(), MemorySide::kDevice, count + 64);
  std::fill_n(depth.data(), count + 64, uint16_t{7777});
  serial->Render(batch.views, {.depth_u16 = depth.data() + 32});
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(depth.data()[i], 7777);
    EXPECT_EQ(depth.data()[count + 32 + i], 7777);
  }
}

TEST(Tiles, GiveTheCpuRenderersBitsForMeshesAndHeightFields) {
  RenderConfig config;
  config.width = 100, config.height = 70;
  const std::string head = "<mujoco><asset>" + BumpyMesh("bumpy", 24, 16) + SmallHills("hills") + "</asset><worldbody>";
  for (const char* body :
       {"<camera name='c' fovy='50'/><geom type='mesh' mesh='bumpy' pos='-.1 .05 -.8' euler='10 20 30'/>"
        "<geom type='mesh' mesh='bumpy' pos='.1 -.1 -.9' euler='70 20 -30' rgba='1 0 0 .5'/>"
        "<geom type='box' size='.3 .02 .3' pos='0 0 -1' euler='0 0 20'/>",
        "<camera name='c' fovy='50'/><geom type='mesh' mesh='bumpy' pos='.22 0 -.1'/>",  // across the camera's plane
        "<camera name='c' fovy='50'/><geom type='mesh' mesh='bumpy' pos='0 0 -.05'/>",   // around the camera
        "<camera name='c' fovy='50'/><geom type='mesh' mesh='bumpy' pos='0 0 1'/>",      // behind the camera
        "<camera name='c' pos='0 -1.1 .8' xyaxes='1 0 0 0 .6 .8' fovy='50'/>"
        "<geom type='hfield' hfield='hills' euler='5 -8 20'/><geom type='sphere' size='.1' pos='0 0 .2'/>"}) {
    Checked(ModelFromText(head + body + "</worldbody></mujoco>"), "c", config);
  }
}

TEST(Tiles, AreRightAgainstRays) {
  RenderConfig config;
  config.width = 160, config.height = 120;
  const GraspBatch batch(3);
  RayComparison sum;
  const auto serial = Serial(config, "depth", batch.pointers);
  for (size_t i = 0; i < batch.views.size(); ++i) {
    const mjModel& model = *batch.views[i].model;
    CompareWithRays(RenderScene(*serial, config, model, batch.data[i].get()), model, batch.data[i].get(), "depth",
                    config, &sum);
  }
  EXPECT_LE(sum.wrong_depth, sum.pixels / 1000) << sum.first;
  EXPECT_LE(sum.wrong_geom, sum.pixels / 1000);
  EXPECT_LE(sum.wrong_normal, sum.pixels / 1000);
}

TEST(Tiles, AgreeForGeomsAtTheirLimits) {
  RenderConfig config;
  config.near_m = 0.2;
  const std::string wall = "<geom type='box' size='9 9 .1' pos='0 0 -1.6'/>";
  for (const char* geom :
       {"", "<geom type='sphere' size='.5'/>", "<geom type='box' size='.5 .5 .5'/>",
        "<geom type='cylinder' size='.3 .4'/>", "<geom type='sphere' size='.1' pos='0 0 -.2'/>",
        "<geom type='box' size='.1 .1 .1' pos='0 0 -.2'/>", "<geom type='capsule' size='.08 .1' pos='0 0 -.25'/>",
        "<geom type='capsule' size='.09 .2' pos='.05 0 -.2' euler='0 90 0'/>",
        "<geom type='cylinder' size='.08 .1' pos='0 0 -.25'/>", "<geom type='cylinder' size='.05 1' pos='0 -.2 0'/>",
        "<geom type='ellipsoid' size='.1 .2 .3' pos='0 0 .5'/>", "<geom type='plane' size='0 0 1' pos='0 0 -1'/>",
        "<geom type='plane' size='.2 .3 1' pos='0 0 -1' euler='30 20 0'/>",
        "<geom type='sphere' size='.3' pos='0 0 -1' rgba='1 0 0 .5'/>",
        "<geom type='capsule' size='.1 .2' pos='.2 0 -1' rgba='1 0 0 .5'/>"}) {
    CheckedText(geom, config);
    CheckedText(geom + wall, config);
    CheckedText(wall + geom, config);
  }
}

TEST(Tiles, AgreeForZeroAndEnormousSizes) {
  for (const char* type : {"sphere", "capsule", "ellipsoid", "cylinder", "box"}) {
    const std::string geom = std::string("<geom type='") + type + "' size='.1 .1 .1' pos='0.2 0.1 -1'/>";
    for (const double size : {0.0, 1e-9, 1e9, 1e30}) CheckedText(geom, {}, {size, size, size});
  }
}

TEST(Tiles, AgreeForOnePixelAndForAVeryWideImage) {
  RenderConfig config;
  config.width = 1, config.height = 1;
  EXPECT_NEAR(CheckedText("<geom type='sphere' size='.1' pos='0 0 -1'/>", config).depth[0], 0.9, 1e-6);
  config.width = 4096, config.height = 3;
  EXPECT_NEAR(CheckedText("<geom type='box' size='9 9 .1' pos='0 0 -1.6'/>", config).depth[4096 + 2048], 1.5, 1e-5);
}

TEST(Tiles, AgreeForManyGeomsAndKeepTheLastOfEquals) {
  std::string body;
  Rng rng = RandomStream(3, "many").At(0, 0);
  for (int i = 0; i < 500; ++i) {
    const char* types[] = {"sphere", "box", "capsule", "cylinder"};
    body += std::string("<geom type='") + types[i % 4] + "' size='.03 .02 .04' euler='" +
            std::to_string(rng.Uniform(0, 360)) + " " + std::to_string(rng.Uniform(0, 360)) + " 0' pos='" +
            std::to_string(rng.Uniform(-.5f, .5f)) + " " + std::to_string(rng.Uniform(-.4f, .4f)) + " " +
            std::to_string(rng.Uniform(-1.2f, -.5f)) + "'/>";
  }
  // More equal boxes than a chunk holds, all exactly as near.
  for (int i = 0; i < 100; ++i) body += "<geom type='box' size='.05 .05 .05' pos='0 0 -.4'/>";
  const Images images = CheckedText(body, {});
  EXPECT_EQ(images.geom[images.Count() / 2 + 32], 599);
}

TEST(Tiles, DrawNothingForAPoseThatIsNotANumber) {
  const RenderConfig config;
  const GraspBatch batch(1);
  const auto serial = Serial(config, "depth", batch.pointers);
  const int table = mj_name2id(batch.views[0].model, mjOBJ_GEOM, "table");
  batch.data[0]->geom_xpos[3 * table] = std::numeric_limits<double>::quiet_NaN();
  ExpectSameImages(*serial, config, "depth", batch.pointers, batch.views);
  std::fill_n(batch.data[0]->cam_xpos, 3 * batch.views[0].model->ncam, std::numeric_limits<double>::infinity());
  ExpectSameImages(*serial, config, "depth", batch.pointers, batch.views);
}

TEST(Tiles, TakeNoCallWithoutEnvironmentsAmiss) {
  const GraspBatch batch(1);
  std::vector<uint16_t> depth(4, 9);
  Serial({}, "depth", batch.pointers)->Render({}, {.depth_u16 = depth.data()});
  EXPECT_THAT(depth, testing::Each(9));
}

// The renderer's noisy depth beside DepthNoise's over the CPU renderer's images.
TEST(Tiles, LayTheNoiseThatTheCpuLays) {
  for (const auto& [width, height] : {std::pair{64, 48}, {75, 50}}) {
    RenderConfig config;
    config.width = width, config.height = height;
    GraspBatch batch(7);
    std::vector<uint32_t> envs;
    std::vector<uint64_t> steps;
    for (SceneView& view : batch.views) {
      envs.push_back(view.noise_env = static_cast<uint32_t>(40 + 3 * envs.size()));
      steps.push_back(view.noise_step = 1000 + 7 * steps.size());
    }
    DepthNoiseConfig noise;
    noise.enabled = true;
    noise.jitter_px = 3, noise.stick = 0.002, noise.speckle = 0.01;
    const size_t count = batch.views.size() * width * height;
    std::vector<uint16_t> expected(count), ours(count, 1);
    CpuRenderer(config, "depth", batch.pointers, 1, kKernelsSse2).Render(batch.views, {.depth_u16 = expected.data()});
    const std::vector<uint16_t> clean = expected;
    const Projection projection =
        ProjectionOf(*batch.pointers[0], FindCamera(*batch.pointers[0], "depth"), width, height);
    DepthNoise(noise, 5, projection, width, height, 1).Apply(expected.data(), envs, steps);
    EXPECT_NE(expected, clean);
    for (const ThreadOrder order : {ThreadOrder::kForward, ThreadOrder::kBackward}) {
      const auto serial = Serial(config, "depth", batch.pointers, order, 3);  // three parts
      EXPECT_TRUE(serial->TakeDepthNoise(noise, 5));
      serial->Render(batch.views, {.depth_u16 = ours.data()});
      EXPECT_EQ(ours, expected) << width << "x" << height;
    }
    // Where nobody asks for whole numbers there is no noise.
    std::vector<float> metres(count);
    const auto serial = Serial(config, "depth", batch.pointers);
    EXPECT_TRUE(serial->TakeDepthNoise(noise, 5));
    serial->Render(batch.views, {.depth_f32 = metres.data()});
    for (size_t i = 0; i < count; ++i) ASSERT_NEAR(metres[i], clean[i] * kDepthQuantum_m, kDepthQuantum_m);
  }
}

TEST(SerialBlock, RunsEveryThreadOfAPhaseBeforeTheNextPhase) {
  for (const ThreadOrder order : {ThreadOrder::kForward, ThreadOrder::kBackward}) {
    int shared = 0;
    std::vector<int> seen;
    RunSerially<4>(3, order, &shared, [&](const auto& block, int index, int& sum) {
      block.ForThreads([&](int thread) { sum += thread; });
      block.ForThreads([&](int thread) {
        if (thread == 0) seen.push_back(10 * index + sum);
      });
    });
    EXPECT_THAT(seen,
                order == ThreadOrder::kForward ? testing::ElementsAre(6, 22, 38) : testing::ElementsAre(26, 22, 18));
  }
}

}  // namespace
}  // namespace gripstream
