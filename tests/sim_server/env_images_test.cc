// Tests sim_server/env_images.h.
#include "sim_server/env_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  CamerasConfig config;
  config.segmentation.cameras = {"stereo_lfet"};
  EXPECT_THAT(error_of(config), testing::AllOf(testing::HasSubstr("render.segmentation.cameras"),
                                               testing::HasSubstr("did you mean 'stereo_left'")));
  config = {};
  config.rgb.cameras = {"depth", "task.camera"};
  EXPECT_THAT(error_of(config), testing::HasSubstr("every camera once"));
  config = {};
  config.backend = "mujoco";
  config.normals.cameras = {"depth"};
  EXPECT_THAT(error_of(config), testing::HasSubstr("render.normals.cameras"));
}

}  // namespace
}  // namespace gripstream
