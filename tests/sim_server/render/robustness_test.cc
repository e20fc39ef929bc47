// Tests sim_server/render/renderer.h with input at and beyond its limits: every shape, every kind of image, every
// instruction set. What matters here is that nothing is read or written out of bounds (run it under AddressSanitizer)
// and that whatever comes out is an image.
#include "sim_server/render/renderer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/process_memory.h"
#include "sim_server/render/cpu_renderer.h"
#include "tests/sim_server/render/cuda_comparison.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One image of every kind between guards that a renderer must not touch.
class GuardedImages {
 public:
  explicit GuardedImages(const RenderConfig& config)
      : config_(config),
        count_(static_cast<size_t>(config.width) * config.height),
        depth_u16_(count_ + 2 * kGuard, 54321),
        depth_(count_ + 2 * kGuard, -5),
        geom_(count_ + 2 * kGuard, -9),
        normals_(3 * count_ + 2 * kGuard, -5),
        rgb_(3 * count_ + 2 * kGuard, 77) {}

  RenderTargets Targets() {
    return {.depth_u16 = depth_u16_.data() + kGuard,
            .depth_f32 = depth_.data() + kGuard,
            .segmentation = geom_.data() + kGuard,
            .normals = normals_.data() + kGuard,
            .rgb = config_.colour ? rgb_.data() + kGuard : nullptr};
  }
  float Depth(size_t i) const { return depth_[kGuard + i]; }
  size_t Count() const { return count_; }

  void ExpectSound(int geoms, const std::string& what) const {
    ExpectGuards(depth_u16_, uint16_t{54321}, what);
    ExpectGuards(depth_, -5.0f, what);
    ExpectGuards(geom_, -9, what);
    ExpectGuards(normals_, -5.0f, what);
    ExpectGuards(rgb_, uint8_t{77}, what);
    size_t bad_depth = 0, bad_geom = 0, bad_normal = 0;
    for (size_t i = 0; i < count_; ++i) {
      const float z = depth_[kGuard + i];
      const bool in_range = z == 0 || (z >= 0.999f * static_cast<float>(config_.near_m) && z <= 1.001f * config_.far_m);
      bad_depth += !in_range || std::abs(depth_u16_[kGuard + i] * kDepthQuantum_m - z) > kDepthQuantum_m;
      const int id = geom_[kGuard + i];
      bad_geom += id < -1 || id >= geoms;
      double length = 0;
      for (size_t k = 3 * i; k < 3 * i + 3; ++k) length += double{normals_[kGuard + k]} * normals_[kGuard + k];
      bad_normal += !(length == 0 || std::abs(length - 1) < 1e-3);
    }
    EXPECT_EQ(bad_depth, 0u) << what;
    EXPECT_EQ(bad_geom, 0u) << what;
    EXPECT_EQ(bad_normal, 0u) << what;
  }

 private:
  static constexpr size_t kGuard = 64;
  template <class T>
  void ExpectGuards(const std::vector<T>& image, T guard, const std::string& what) const {
    EXPECT_TRUE(std::all_of(image.begin(), image.begin() + kGuard, [&](T x) { return x == guard; })) << what;
    EXPECT_TRUE(std::all_of(image.end() - kGuard, image.end(), [&](T x) { return x == guard; })) << what;
  }

  RenderConfig config_;
  size_t count_;
  std::vector<uint16_t> depth_u16_;
  std::vector<float> depth_;
  std::vector<int32_t> geom_;
  std::vector<float> normals_;
  std::vector<uint8_t> rgb_;
};

RenderConfig Odd() {
  RenderConfig config;
  config.width = 37, config.height = 23;
  config.colour = true;
  return config;
}

DataPtr Posed(const mjModel& model) {
  DataPtr data(mj_makeData(&model));
  mj_kinematics(&model, data.get());
  mj_camlight(&model, data.get());
  return data;
}

// Renders with every instruction set there is and checks what comes out.
void ExpectSoundImages(const mjModel& model, const mjData* data, const RenderConfig& config, const std::string& what) {
  const mjModel* models[] = {&model};
  const SceneView view = ViewOf(&model, data);
  for (const RenderKernels& kernels : AvailableKernels()) {
    CpuRenderer renderer(config, "c", models, 1, kernels);
    GuardedImages images(config);
    renderer.Render({&view, 1}, images.Targets());
    images.ExpectSound(static_cast<int>(model.ngeom), what + ", " + kernels.name);
  }
}

// A geom of every shape, with the size that its camera is inside of at the origin.
struct ShapeCase {
  const char* name;
  const char* geom;
};
constexpr ShapeCase kShapes[] = {{"plane", "type='plane' size='.4 .5 1'"},
                                 {"infinite plane", "type='plane' size='0 0 1'"},
                                 {"sphere", "type='sphere' size='.3'"},
                                 {"capsule", "type='capsule' size='.2 .3'"},
                                 {"ellipsoid", "type='ellipsoid' size='.3 .2 .4'"},
                                 {"cylinder", "type='cylinder' size='.25 .3'"},
                                 {"box", "type='box' size='.3 .2 .4'"},
                                 {"mesh", "type='mesh' mesh='bumpy'"},
                                 {"height field", "type='hfield' hfield='hills'"}};

ModelPtr SceneOf(const std::string& bodies) {
  static const std::string assets = BumpyMesh("bumpy", 20, 14) + SmallHills("hills") +
                                    "<texture name='t' type='2d' builtin='checker' width='32' height='32' "
                                    "rgb1='1 0 0' rgb2='0 1 0'/><material name='m' texture='t' texrepeat='3 2'/>"
                                    "<texture name='u' type='cube' builtin='gradient' width='16' height='16' "
                                    "rgb1='1 0 0' rgb2='0 1 0'/><material name='n' texture='u' specular='.5'/>"
                                    "<texture name='s' type='skybox' builtin='gradient' width='16' height='96' "
                                    "rgb1='1 1 1' rgb2='0 0 1'/>";
  return ModelFromText("<mujoco><asset>" + assets +
                       "</asset><worldbody><camera name='c' fovy='60'/>"
                       "<light pos='0 0 1' dir='0 .3 -1' cutoff='40'/><light directional='true' dir='1 0 -1'/>" +
                       bodies + "</worldbody></mujoco>");
}

TEST(Robustness, EveryShapeAnywhereAboutTheCameraGivesImages) {
  // Around the camera, across its plane and the near plane, touching it, behind it, at the far plane, far beyond.
  const char* places[] = {"0 0 0",    "0 0 -.1",   "0 0 -.31", "0 0 .5",  "0 0 -2",    ".3 0 0",
                          "0 .2 -.2", "0 -.4 -.1", "5 0 -.5",  "0 0 -40", "1e6 0 -1e6"};
  RenderConfig config = Odd();
  config.near_m = 0.05;
  for (const ShapeCase& shape : kShapes) {
    for (const char* place : places) {
      const std::string geom = std::string("<geom ") + shape.geom + " pos='" + place + "' euler='20 30 40' ";
      const ModelPtr model = SceneOf(geom + "material='m'/>" + geom + "rgba='1 0 0 .5'/>");
      ExpectSoundImages(*model, Posed(*model).get(), config, std::string(shape.name) + " at " + place);
    }
  }
}

TEST(Robustness, EveryShapeOfAnySizeGivesImages) {
  for (const ShapeCase& shape : kShapes) {
    const ModelPtr model =
        SceneOf(std::string("<geom material='n' ") + shape.geom + " pos='.05 .02 -1' euler='20 30 40'/>");
    for (const double size : {0.0, 1e-30, 1e-6, 1e6, 1e30, 1e300, -1.0, kInfinity, kNan}) {
      std::fill_n(model->geom_size, 3, size);
      ExpectSoundImages(*model, Posed(*model).get(), Odd(), std::string(shape.name) + " of " + std::to_string(size));
    }
  }
}

TEST(Robustness, APoseThatIsNoPoseHidesItsGeomAndNothingElse) {
  const RenderConfig config = Odd();
  for (const ShapeCase& shape : kShapes) {
    const ModelPtr model = SceneOf(std::string("<geom type='box' size='9 9 .1' pos='0 0 -1.6'/><geom material='m' ") +
                                   shape.geom + " pos='0 0 -1'/>");
    for (const double bad : {kNan, kInfinity, -kInfinity, 1e300}) {
      for (int entry = 0; entry < 12; ++entry) {
        const DataPtr data = Posed(*model);
        (entry < 3 ? data->geom_xpos[3 + entry] : data->geom_xmat[9 + entry - 3]) = bad;
        const mjModel* models[] = {model.get()};
        const SceneView view = ViewOf(model.get(), data.get());
        GuardedImages images(config);
        CpuRenderer(config, "c", models, 1, AvailableKernels().front()).Render({&view, 1}, images.Targets());
        const std::string what = std::string(shape.name) + " entry " + std::to_string(entry);
        images.ExpectSound(2, what);
        for (size_t i = 0; i < images.Count(); ++i) ASSERT_NEAR(images.Depth(i), 1.5, 1e-4) << what;
      }
    }
  }
}

TEST(Robustness, ACameraOrLightThatIsNowhereGivesImages) {
  std::string all;
  for (const ShapeCase& shape : kShapes) all += std::string("<geom material='n' ") + shape.geom + " pos='0 0 -1'/>";
  const ModelPtr model = SceneOf(all);
  for (const double bad : {kNan, kInfinity, 1e300, 0.0}) {
    for (int part = 0; part < 4; ++part) {
      const DataPtr data = Posed(*model);
      mjtNum* const values[] = {data->cam_xpos, data->cam_xmat, data->light_xpos, data->light_xdir};
      const int counts[] = {3, 9, 6, 6};
      std::fill_n(values[part], counts[part], bad);
      ExpectSoundImages(*model, data.get(), Odd(), "part " + std::to_string(part) + " " + std::to_string(bad));
    }
  }
}

TEST(Robustness, AHeightFieldWithHolesInItGivesImages) {
  const ModelPtr model = SceneOf("<geom type='hfield' hfield='hills' pos='0 0 -1'/>");
  for (int i = 0; i < model->nhfielddata; i += 3) model->hfield_data[i] = static_cast<float>(i % 2 ? kNan : 1e38);
  ExpectSoundImages(*model, Posed(*model).get(), Odd(), "height field");
}

TEST(Robustness, AnEmptySceneAndImagesOfEveryShapeWork) {
  std::string all;
  for (const ShapeCase& shape : kShapes) all += std::string("<geom material='m' ") + shape.geom + " pos='0 0 -1'/>";
  for (const std::string& bodies : {std::string(), all}) {
    const ModelPtr model = SceneOf(bodies);
    const DataPtr data = Posed(*model);
    for (const auto& [width, height] : {std::pair{1, 1}, {1, 40}, {40, 1}, {4096, 3}, {3, 4096}, {17, 16}}) {
      RenderConfig config = Odd();
      config.width = width, config.height = height;
      ExpectSoundImages(*model, data.get(), config, std::to_string(width) + "x" + std::to_string(height));
    }
  }
}

TEST(Robustness, TwoThousandGeomsWork) {
  std::string bodies;
  Rng rng = RandomStream(3, "two_thousand").At(0, 0);
  for (int i = 0; i < 2000; ++i) {
    const ShapeCase& shape = kShapes[2 + i % 5];
    bodies += std::string("<geom ") + shape.geom + (i % 7 ? "" : " rgba='0 1 0 .5'") + " pos='" +
              std::to_string(rng.Uniform(-9, 9)) + " " + std::to_string(rng.Uniform(-9, 9)) + " " +
              std::to_string(rng.Uniform(-20, 2)) + "'/>";
  }
  const ModelPtr model = SceneOf(bodies);
  RenderConfig config = Odd();
  config.far_m = 6;
  ExpectSoundImages(*model, Posed(*model).get(), config, "2,000 geoms");
}

TEST(Robustness, AMeshOfTwoHundredThousandTrianglesWorks) {
  const ModelPtr model = ModelFromText("<mujoco><asset>" + BumpyMesh("bumpy", 400, 251) +
                                       "</asset><worldbody><camera name='c' fovy='60'/>"
                                       "<geom type='mesh' mesh='bumpy' pos='0 0 -.15'/>"
                                       "<geom type='mesh' mesh='bumpy' pos='.1 0 -.6' rgba='1 0 0 .5'/>"
                                       "</worldbody></mujoco>");
  ASSERT_EQ(model->mesh_facenum[0], 200000);
  ExpectSoundImages(*model, Posed(*model).get(), Odd(), "200,000 triangles");
}

TEST(Robustness, AMeshWithoutTrianglesIsRefusedByName) {
  const ModelPtr model = SceneOf("<geom type='mesh' mesh='bumpy' pos='0 0 -1'/>");
  model->mesh_facenum[0] = 0;
  const mjModel* models[] = {model.get()};
  try {
    BatchRenderer::Make(Odd(), "c", models, 1);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("bumpy"));
  }
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool kAllocatorKeepsMemory = true;
#else
constexpr bool kAllocatorKeepsMemory = false;
#endif

// Resident memory once the allocator has given back what is free.
double ResidentMb() {
  ReleaseFreeHeap();
  return static_cast<double>(OwnMemory().ResidentBytes()) / 1e6;
}

TEST(Robustness, MemoryIsFlatOverTenThousandIterations) {
  if (kAllocatorKeepsMemory) GTEST_SKIP() << "AddressSanitizer keeps freed memory aside";
  const GraspBatch batch(8);
  RenderConfig config;
  config.colour = true;
  const size_t pixels = batch.views.size() * config.width * config.height;
  ImagesOfBatch images(pixels);
  std::vector<uint8_t> rgb(3 * pixels);
  const auto renderer = BatchRenderer::Make(config, "depth", batch.pointers, 2);
  const auto render = [&](int times) {
    for (int i = 0; i < times; ++i) {
      RenderTargets targets = {.depth_u16 = images.depth_u16.data()};
      if (i % 100 == 0) targets = images.Targets(), targets.rgb = rgb.data();
      renderer->Render(batch.views, targets);
    }
  };
  render(200);
  const double before = ResidentMb();
  render(10000);
  EXPECT_LT(ResidentMb(), before + 2);
}

TEST(Robustness, MemoryIsFlatOverAHundredReconfigurations) {
  if (kAllocatorKeepsMemory) GTEST_SKIP() << "AddressSanitizer keeps freed memory aside";
  const GraspBatch batch(4);
  const auto reconfigure = [&](int times) {
    for (int i = 0; i < times; ++i) {
      RenderConfig config;
      config.width = 32 << i % 4, config.height = 24 << i % 4;
      config.colour = i % 2;
      ImagesOfBatch images(batch.views.size() * config.width * config.height);
      BatchRenderer::Make(config, "depth", batch.pointers, 1 + i % 3)->Render(batch.views, images.Targets());
    }
  };
  reconfigure(24);
  const double before = ResidentMb();
  reconfigure(100);
  EXPECT_LT(ResidentMb(), before + 4);
}

}  // namespace
}  // namespace gripstream
