// Tests sim_server/env_images.h.
#include "sim_server/env_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/error.h"
#include "sim_server/env_view.h"
#include "tests/sim_server/images.h"

namespace gripstream {
namespace {

// Every kind of image, from several cameras and at several sizes, with everything that varies.
CamerasConfig Everything() {
  CamerasConfig config;
  config.width = 32, config.height = 24;
  config.far_m = 3;
  config.depth.cameras = {"task.camera", "stereo_left"};
  config.rgb.cameras = {"stereo_left", "stereo_right"};
  config.rgb.width = 40, config.rgb.height = 30;
  config.segmentation.cameras = {"stereo_left"};
  config.bodies.cameras = {"stereo_left"};
  config.normals.cameras = {"overview", "depth"};
  config.jitter = {.rotation_deg = 3,
                   .position_m = 0.03,
                   .stereo_rotation_deg = 2,
                   .stereo_position_m = 0.003,
                   .focal_ratio = 0.05,
                   .centre_ratio = 0.02};
  config.noise.enabled = true;
  config.augment.enabled = true;
  config.augment.blur_probability = 0.5;
  config.augment.blur_kernel_px = {3, 5};
  config.randomise.enabled = true;
  config.randomise.light_probability = config.randomise.background_probability = 0.7;
  return config;
}

CamerasConfig Plain() {
  CamerasConfig config = Everything();
  config.jitter = {};
  config.noise = {};
  config.randomise.enabled = config.augment.enabled = false;
  return config;
}

TEST(EnvImages, DeclareWhatWasAskedForInOrderAndNothingElse) {
  Camerawork all(Everything(), 0, 1);
  std::vector<std::string> specs;
  for (const TensorSpec& spec : all.Specs()) specs.push_back(spec.ToString());
  EXPECT_THAT(specs, testing::ElementsAre("obs.depth uint16 [2, 24, 32] m x 0.0001", "obs.rgb uint8 [2, 30, 40, 3]",
                                          "obs.segmentation int32 [24, 32]", "obs.bodies int32 [24, 32]",
                                          "obs.normals float32 [2, 24, 32, 3]"));
  CamerasConfig config;
  ASSERT_EQ(Camerawork(config, 0, 1).Specs().size(), 1u);
  EXPECT_EQ(Camerawork(config, 0, 1).Specs()[0].ToString(), "obs.depth uint16 [48, 64] m x 0.0001");
  config.depth.cameras.clear();
  EXPECT_TRUE(Camerawork(config, 0, 1).Specs().empty());
}

TEST(EnvImages, AreThoseOfEachCameraAlone) {
  constexpr int kEnvs = 2;
  Camerawork all(Plain(), 0, kEnvs);
  all.Envs().Reset({});
  const Images images = all.Render();
  const auto alone = [&](const std::string& camera, int width, int height, auto& out, auto member) {
    RenderConfig config;
    config.width = width, config.height = height, config.far_m = 3, config.colour = true;
    RenderTargets targets;
    targets.*member = out.data();
    std::vector<SceneView> views;
    for (int i = 0; i < kEnvs; ++i) views.push_back(ViewOf(all.Envs(), i));
    BatchRenderer::Make(config, camera, all.Envs().DistinctModels(), 1)->Render(views, targets);
  };
  const auto check = [&](const std::string& tensor, int index, int count, const auto& expected) {
    const auto whole = As<typename std::decay_t<decltype(expected)>::value_type>(images.at(tensor));
    const size_t each = expected.size() / kEnvs;
    ASSERT_EQ(whole.size(), expected.size() * static_cast<size_t>(count));
    for (size_t i = 0; i < kEnvs; ++i) {
      const auto from = whole.begin() + static_cast<long>((i * static_cast<size_t>(count) + index) * each);
      EXPECT_TRUE(std::equal(from, from + static_cast<long>(each), expected.begin() + static_cast<long>(i * each)))
          << tensor << " " << index;
    }
  };
  std::vector<uint16_t> depth(kEnvs * 24 * 32);
  alone("stereo_left", 32, 24, depth, &RenderTargets::depth_u16);
  check("obs.depth", 1, 2, depth);
  std::vector<uint8_t> rgb(kEnvs * 30 * 40 * 3);
  alone("stereo_right", 40, 30, rgb, &RenderTargets::rgb);
  check("obs.rgb", 1, 2, rgb);
  std::vector<int32_t> ids(kEnvs * 24 * 32);
  alone("stereo_left", 32, 24, ids, &RenderTargets::segmentation);
  check("obs.segmentation", 0, 1, ids);
  std::vector<float> normals(kEnvs * 24 * 32 * 3);
  alone("overview", 32, 24, normals, &RenderTargets::normals);
  check("obs.normals", 0, 2, normals);
}

// The rule that training rests on: what varies is a function of the state, so a state rendered anew, elsewhere and in
// other company, gives the same bytes. Over several episodes, so that first steps after a reset are among them.
TEST(EnvImages, BelongToTheStateWhoeverRendersItWhereverAndWhen) {
  constexpr int kEnvs = 4;
  Camerawork batch(Everything(), 0, kEnvs), again(Everything(), 0, kEnvs, SmallTask(), 3);
  for (const bool evaluation : {false, true}) {
    const auto mode = evaluation ? ResetRequest::Mode::kEval : ResetRequest::Mode::kTrain;
    batch.Envs().Reset({.mode = mode, .eval_seed = 5, .total_envs = kEnvs});
    int resets = 0;
    for (int t = 0; t < 8; ++t) {
      const Images images = batch.Render();
      EXPECT_EQ(batch.Render(), images) << t;
      for (const int env : {2, 0, 3, 1}) {
        again.Take(env, batch, env);
        resets += batch.Envs().EpisodeStep(env) == 0;
        EXPECT_EQ(Part(again.Render(), kEnvs, env, 1), Part(images, kEnvs, env, 1)) << t << " " << env;
      }
      batch.Step(0.2f * static_cast<float>(t % 3 - 1));
    }
    EXPECT_GT(resets, kEnvs);
  }
}

TEST(EnvImages, AreTheSameHoweverEnvironmentsAreGrouped) {
  Camerawork whole(Everything(), 0, 4), left(Everything(), 0, 2), right(Everything(), 2, 2);
  for (const bool evaluation : {false, true}) {
    const ResetRequest request{
        .mode = evaluation ? ResetRequest::Mode::kEval : ResetRequest::Mode::kTrain, .eval_seed = 5, .total_envs = 4};
    for (Camerawork* batch : {&whole, &left, &right}) batch->Envs().Reset(request);
    for (int t = 0; t < 5; ++t) {
      const Images images = whole.Render();
      EXPECT_EQ(left.Render(), Part(images, 4, 0, 2)) << t;
      EXPECT_EQ(right.Render(), Part(images, 4, 2, 2)) << t;
      for (Camerawork* batch : {&whole, &left, &right}) batch->Step(0.1f);
    }
  }
}

// Share of pixels of a depth image at [env, 0] that differ.
double Differing(const Images& a, const Images& b, int env) {
  const auto x = As<uint16_t>(Part(a, 2, env, 1).at("obs.depth")), y = As<uint16_t>(Part(b, 2, env, 1).at("obs.depth"));
  double differing = 0;
  for (size_t i = 0; i < x.size(); ++i) differing += x[i] != y[i];
  return differing / static_cast<double>(x.size());
}

TEST(EnvImages, CamerasMoveWithTheEpisodeAndNoiseWithTheStep) {
  CamerasConfig jitter = Plain(), noise = Plain();
  jitter.jitter.rotation_deg = 3;
  noise.noise.enabled = true;
  TaskConfig still = SmallTask();
  still.start_noise_rad = 0;
  Camerawork moved(jitter, 0, 2, still), noisy(noise, 0, 2, still);
  for (Camerawork* batch : {&moved, &noisy}) batch->Envs().Reset({});
  const Images moved_first = moved.Render(), noisy_first = noisy.Render();
  for (Camerawork* batch : {&moved, &noisy}) batch->Envs().Reset({.first_episode = 1});
  EXPECT_GT(Differing(moved_first, moved.Render(), 0), 0.35);
  EXPECT_GT(Differing(noisy_first, noisy.Render(), 0), 0.1);
  const Images at_reset = moved.Render();
  moved.Step(0);
  EXPECT_LT(Differing(at_reset, moved.Render(), 0), 0.2);  // only the robot has moved
}

// Environments of `images` that see nothing, of which each other pixel is as without outages.
std::vector<bool> Blank(const Images& images, const Images& whole, int envs) {
  std::vector<bool> blank;
  for (int env = 0; env < envs; ++env) {
    const auto depth = As<uint16_t>(Part(images, envs, env, 1).at("obs.depth"));
    const auto colour = Part(images, envs, env, 1).at("obs.rgb");
    blank.push_back(std::ranges::all_of(depth, [](uint16_t d) { return d == 0; }));
    if (blank.back()) {
      EXPECT_TRUE(std::ranges::all_of(colour, [](std::byte b) { return b == std::byte{0}; })) << env;
    } else {
      EXPECT_EQ(Part(images, envs, env, 1), Part(whole, envs, env, 1)) << env;
    }
  }
  return blank;
}

TEST(EnvImages, AShareOfTheStepsHasNone) {
  constexpr int kMany = 16;
  CamerasConfig config = Plain();
  config.outage.share = 0.5;
  Camerawork whole(Plain(), 0, kMany), some(config, 0, kMany);
  for (Camerawork* batch : {&whole, &some}) batch->Envs().Reset({});
  std::set<std::vector<bool>> patterns;
  int blank = 0;
  for (int t = 0; t < 6; ++t) {
    const std::vector<bool> pattern = Blank(some.Render(), whole.Render(), kMany);
    blank += static_cast<int>(std::ranges::count(pattern, true));
    patterns.insert(pattern);
    for (Camerawork* batch : {&whole, &some}) batch->Step(0.1f);
  }
  EXPECT_EQ(patterns.size(), 6u);
  EXPECT_NEAR(blank / (6.0 * kMany), 0.5, 0.15);  // three standard deviations
}

TEST(EnvImages, EndAtATimeOfTheEpisodeAndComeBackWithTheNext) {
  CamerasConfig config = Plain();
  config.outage.after_s = 0.2;  // the third of three steps a tenth of a second long
  Camerawork whole(Plain(), 0, 2), some(config, 0, 2);
  for (Camerawork* batch : {&whole, &some}) batch->Envs().Reset({});
  for (int t = 0; t < 6; ++t) {
    EXPECT_EQ(Blank(some.Render(), whole.Render(), 2), std::vector<bool>(2, t % 3 == 2)) << t;
    for (Camerawork* batch : {&whole, &some}) batch->Step(0.1f);
  }
}

TEST(EnvImages, ARandomisedLookChangesColourAndNothingElse) {
  CamerasConfig config = Plain();
  config.randomise.enabled = true;
  Camerawork plain(Plain(), 0, 2), randomised(config, 0, 2);
  plain.Envs().Reset({});
  randomised.Envs().Reset({});
  Images a = plain.Render(), b = randomised.Render();
  EXPECT_NE(a.at("obs.rgb"), b.at("obs.rgb"));
  a.erase("obs.rgb");
  b.erase("obs.rgb");
  EXPECT_EQ(a, b);
}

TEST(EnvImages, WrongCamerasAreRefusedByKeyNameAndNearestMatch) {
  const auto error_of = [](const CamerasConfig& config) {
    try {
      Camerawork(config, 0, 1);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using testing::HasSubstr;
  CamerasConfig misspelt, twice, mujoco, diagonal;
  misspelt.segmentation.cameras = {"stereo_lfet"};
  EXPECT_THAT(error_of(misspelt),
              testing::AllOf(HasSubstr("render.segmentation.cameras"), HasSubstr("did you mean 'stereo_left'")));
  twice.rgb.cameras = {"depth", "task.camera"};
  EXPECT_THAT(error_of(twice), HasSubstr("every camera once"));
  mujoco.backend = "mujoco";
  mujoco.normals.cameras = {"depth"};
  EXPECT_THAT(error_of(mujoco), HasSubstr("render.normals.cameras"));
  diagonal.depth.source = "stereo_matcher";
  diagonal.depth.cameras = {"stereo_left_upright"};
  diagonal.matcher.right = "stereo_right_upright";
  EXPECT_THAT(error_of(diagonal), testing::AllOf(HasSubstr("render.matcher.right"), HasSubstr("stereo_right_upright")));
  diagonal.depth.cameras = {"depth", "stereo_left"};
  EXPECT_THAT(error_of(diagonal), HasSubstr("render.depth.cameras"));
}

// The shipped model with a camera 6 cm to the right of its depth camera.
class StereoDepth : public testing::Test {
 protected:
  StereoDepth() : path_(testing::TempDir() + "gripstream_stereo_" + std::to_string(getpid()) + ".xml") {
    std::ifstream in(GRIPSTREAM_SOURCE_DIR "/envs/assets/kuka_allegro.xml");
    std::string text(std::istreambuf_iterator<char>(in), {});
    const std::string body =
        "<body pos='-0.645212 -0.732802 0.455989' quat='0.72427 0.688783 -0.010661 0.029937'>"
        "<camera name='beside' pos='0.06 0 0' fovy='36.93'/></body>";
    const size_t at = text.find("<camera name=\"depth\"");
    EXPECT_NE(at, std::string::npos);
    std::ofstream(path_) << text.insert(at, body);
    task_ = SmallTask();
    task_.model = path_;
    config_.width = 160, config_.height = 120, config_.far_m = 3;
    config_.depth.source = "stereo_matcher";
    config_.matcher.right = "beside";
  }
  ~StereoDepth() override { std::filesystem::remove(path_); }

  std::string path_;
  TaskConfig task_;
  CamerasConfig config_;
};

TEST_F(StereoDepth, IsAboutTheDepthOfTheSceneWhereThereIsTexture) {
  config_.randomise.enabled = true;  // textures on the table
  config_.segmentation.cameras = {"task.camera"};
  CamerasConfig rendered = config_;
  rendered.depth.source = "rendered";
  Camerawork truth(rendered, 0, 2, task_), stereo(config_, 0, 2, task_);
  truth.Envs().Reset({});
  stereo.Envs().Reset({});
  const auto ids = As<int32_t>(truth.Render().at("obs.segmentation"));
  const int table = mj_name2id(truth.Envs().Model(0), mjOBJ_GEOM, "table");
  const auto z = As<uint16_t>(truth.Render().at("obs.depth")), matched = As<uint16_t>(stereo.Render().at("obs.depth"));
  ASSERT_EQ(z.size(), matched.size());
  int found = 0, near = 0;
  for (size_t i = 0; i < z.size(); ++i) {
    if (matched[i] == 0 || ids[i] != table) continue;
    ++found;
    near += std::abs(matched[i] - z[i]) < z[i] / 10;
  }
  EXPECT_GT(found, 3000);
  EXPECT_GT(near, 0.65 * found);  // textures that repeat mislead a matcher
}

TEST_F(StereoDepth, BelongsToTheStateWithLensesNoiseAndAugmentedColourToo) {
  config_.rgb.cameras = {"task.camera"};
  config_.jitter = {.rotation_deg = 2, .stereo_position_m = 0.001, .focal_ratio = 0.05};
  config_.noise.enabled = config_.augment.enabled = true;
  Camerawork batch(config_, 0, 2, task_), again(config_, 0, 2, task_, 2);
  batch.Envs().Reset({});
  for (int t = 0; t < 4; ++t) {
    const Images images = batch.Render();
    for (const int env : {1, 0}) {
      again.Take(env, batch, env);
      EXPECT_EQ(Part(again.Render(), 2, env, 1), Part(images, 2, env, 1)) << t;
    }
    batch.Step(0.1f);
  }
}

}  // namespace
}  // namespace gripstream
