// Tests sim_server/render/visual_randomiser.h, texture_palette.h and procedural_textures.h.
#include "sim_server/render/visual_randomiser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "core/error.h"
#include "sim_server/render/bench_render.h"
#include "sim_server/render/image_io.h"
#include "sim_server/render/procedural_textures.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

constexpr int kWidth = 80, kHeight = 60;

struct Pictures {
  std::vector<uint8_t> rgb = std::vector<uint8_t>(3 * kWidth * kHeight);
  std::vector<uint16_t> depth = std::vector<uint16_t>(kWidth * kHeight);
  std::vector<int32_t> geom = std::vector<int32_t>(kWidth * kHeight);
};

std::string TextOf(const std::vector<uint8_t>& bytes) {
  return std::string(bytes.begin(), bytes.end());
}

// Ranges that change nothing, for tests to open one by one.
VisualRandomConfig Nothing() {
  VisualRandomConfig c;
  c.enabled = true;
  c.object_texture_probability = c.table_texture_probability = c.light_probability = c.background_probability = 0;
  c.object_tint = c.object_specular = c.object_shininess = c.robot_specular = c.robot_shininess = {0.5, 0.5};
  c.table_specular = c.table_shininess = {0.5, 0.5};
  c.table_tint_low = c.table_tint_high = {0.5, 0.5, 0.5};
  c.object_repeats_per_dm = c.table_repeats_per_m = c.light_intensity = c.light_tint = {1, 1};
  c.light_yaw_deg = c.light_tilt_deg = 0;
  return c;
}

class VisualRandomiserTest : public testing::Test {
 protected:
  VisualRandomiserTest() : model_(GraspModel("mug")), data_(mj_makeData(model_.get())) {
    const std::vector<double> closed = RenderBenchOptions{}.qpos;  // the hand about the object, both in view
    std::copy(closed.begin(), closed.end(), data_->qpos);
    mj_forward(model_.get(), data_.get());
    RenderConfig config;
    config.width = kWidth, config.height = kHeight, config.colour = true;
    renderer_ = BatchRenderer::Make(config, "depth", models_, 1);
  }
  VisualRandomiser Make(const VisualRandomConfig& config, int environments = 1, uint64_t seed = 5) {
    return VisualRandomiser(config, seed, "object", models_, environments, &library_);
  }
  Pictures Show(const VisualRandomiser& randomiser, int index = 0) {
    Pictures p;
    SceneView view = ViewOf(model_.get(), data_.get());
    view.appearance = randomiser.Of(index);
    renderer_->Render({&view, 1}, {.depth_u16 = p.depth.data(), .segmentation = p.geom.data(), .rgb = p.rgb.data()});
    return p;
  }
  // How many different pictures ten episodes give.
  size_t Variety(const VisualRandomConfig& config) {
    VisualRandomiser randomiser = Make(config);
    std::set<std::string> all;
    for (uint64_t episode = 0; episode < 10; ++episode) {
      randomiser.Redraw(0, model_.get(), 3, episode);
      all.insert(TextOf(Show(randomiser).rgb));
    }
    return all.size();
  }

  ModelPtr model_;
  const mjModel* models_[1] = {model_.get()};
  DataPtr data_;
  TextureLibrary library_;
  std::unique_ptr<BatchRenderer> renderer_;
};

TEST_F(VisualRandomiserTest, ShowsTheModelsOwnLookBeforeTheFirstEpisode) {
  const VisualRandomiser randomiser = Make({});
  Pictures plain;
  const SceneView view = ViewOf(model_.get(), data_.get());
  renderer_->Render({&view, 1}, {.rgb = plain.rgb.data()});
  EXPECT_EQ(Show(randomiser).rgb, plain.rgb);
}

TEST_F(VisualRandomiserTest, EveryRangeChangesThePictureByItself) {
  const std::pair<const char*, std::function<void(VisualRandomConfig&)>> ranges[] = {
      {"object_texture", [](auto& c) { c.object_texture_probability = 1; }},
      {"object_tint",
       [](auto& c) {
         c.object_tint = {0, 1};
       }},
      {"object_repeats",
       [](auto& c) {
         c.object_texture_probability = 1, c.object_repeats_per_dm = {0.7, 5};
       }},
      {"object_specular",
       [](auto& c) {
         c.object_specular = {0, 1};
       }},
      {"object_shininess",
       [](auto& c) {
         c.object_shininess = {0, 1};
       }},
      {"robot_specular",
       [](auto& c) {
         c.robot_specular = {0, 1};
       }},
      {"robot_shininess",
       [](auto& c) {
         c.robot_shininess = {0, 0.8};
       }},
      {"table_texture", [](auto& c) { c.table_texture_probability = 1; }},
      {"table_tint",
       [](auto& c) {
         c.table_tint_low = {0.3, 0.2, 0.1}, c.table_tint_high = {0.6, 0.4, 0.2};
       }},
      {"table_specular",
       [](auto& c) {
         c.table_specular = {0, 1};
       }},
      {"table_shininess",
       [](auto& c) {
         c.table_shininess = {0, 1};
       }},
      {"light_intensity",
       [](auto& c) {
         c.light_probability = 1, c.light_intensity = {0.4, 1.6};
       }},
      {"light_tint",
       [](auto& c) {
         c.light_probability = 1, c.light_tint = {0.8, 1};
       }},
      {"light_yaw", [](auto& c) { c.light_probability = 1, c.light_yaw_deg = 180; }},
      {"light_tilt", [](auto& c) { c.light_probability = 1, c.light_tilt_deg = 30; }},
      {"background", [](auto& c) { c.background_probability = 1; }},
  };
  EXPECT_EQ(Variety(Nothing()), 1u);
  for (const auto& [name, open] : ranges) {
    VisualRandomConfig config = Nothing();
    open(config);
    EXPECT_GE(Variety(config), 5u) << name;
  }
}

TEST_F(VisualRandomiserTest, DependsOnSeedEnvironmentAndEpisodeNotOnThePlaceInTheBatch) {
  VisualRandomiser randomiser = Make({}, 3), other_seed = Make({}, 1, 6);
  randomiser.Redraw(0, model_.get(), 5, 2);
  randomiser.Redraw(1, model_.get(), 6, 2);
  randomiser.Redraw(2, model_.get(), 5, 2);
  other_seed.Redraw(0, model_.get(), 5, 2);
  const Pictures first = Show(randomiser, 0);
  EXPECT_EQ(Show(randomiser, 2).rgb, first.rgb);
  EXPECT_NE(Show(randomiser, 1).rgb, first.rgb);
  EXPECT_NE(Show(other_seed).rgb, first.rgb);
  randomiser.Redraw(2, model_.get(), 5, 3);
  EXPECT_NE(Show(randomiser, 2).rgb, first.rgb);
  EXPECT_EQ(Show(randomiser, 0).rgb, first.rgb);
}

TEST_F(VisualRandomiserTest, LeavesDepthAndSegmentationAsTheyAre) {
  VisualRandomiser randomiser = Make({});
  const Pictures plain = Show(randomiser);
  for (uint64_t episode = 0; episode < 5; ++episode) {
    randomiser.Redraw(0, model_.get(), 1, episode);
    const Pictures p = Show(randomiser);
    EXPECT_NE(p.rgb, plain.rgb);
    EXPECT_EQ(p.depth, plain.depth);
    EXPECT_EQ(p.geom, plain.geom);
  }
}

TEST_F(VisualRandomiserTest, LeavesTheDrawsOfOtherPartsAloneWhenOneIsSwitchedOff) {
  VisualRandomConfig config;
  config.light_probability = config.background_probability = 0;
  VisualRandomConfig without_table = config;
  without_table.table.clear();
  VisualRandomiser all = Make(config), fewer = Make(without_table);
  all.Redraw(0, model_.get(), 1, 1);
  fewer.Redraw(0, model_.get(), 1, 1);
  const Pictures a = Show(all), b = Show(fewer);
  int table_pixels = 0;
  for (size_t i = 0; i < a.geom.size(); ++i) {
    const bool table =
        a.geom[i] >= 0 && model_->geom_matid[a.geom[i]] == mj_name2id(model_.get(), mjOBJ_MATERIAL, "table");
    table_pixels += table;
    if (table) continue;
    for (size_t k = 0; k < 3; ++k) ASSERT_EQ(a.rgb[3 * i + k], b.rgb[3 * i + k]);
  }
  EXPECT_GT(table_pixels, 100);
  EXPECT_NE(a.rgb, b.rgb);
}

class TextureFolder : public VisualRandomiserTest {
 protected:
  TextureFolder() : folder_(fs::path(testing::TempDir()) / "gripstream_textures") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~TextureFolder() override { fs::remove_all(folder_); }
  std::string MessageOf(VisualRandomConfig config) {
    try {
      Make(config);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
  fs::path folder_;
};

TEST_F(TextureFolder, GivesBackgroundsOfItsImages) {
  WritePng((folder_ / "green.PNG").string(), cv::Mat(30, 40, CV_8UC3, cv::Scalar(10, 200, 20)));
  std::ofstream(folder_ / "notes.txt") << "no image";
  VisualRandomConfig config = Nothing();
  config.backgrounds = folder_.string(), config.background_probability = 1;
  VisualRandomiser randomiser = Make(config);
  randomiser.Redraw(0, model_.get(), 0, 0);
  const Pictures p = Show(randomiser);
  int sky = 0;
  // Above the horizon: nearer to it lies the floor beyond the range of ids.
  for (size_t i = 0; i < p.geom.size() / 4; ++i) {
    if (p.geom[i] >= 0) continue;
    ++sky;
    EXPECT_EQ(p.rgb[3 * i], 20);
    EXPECT_EQ(p.rgb[3 * i + 1], 200);
    EXPECT_EQ(p.rgb[3 * i + 2], 10);
  }
  EXPECT_GT(sky, 100);
}

TEST_F(TextureFolder, IsRefusedByNameWhereItOrAnImageCannotBeUsed) {
  VisualRandomConfig config;
  config.textures = (folder_ / "nowhere").string();
  EXPECT_NE(MessageOf(config).find("nowhere"), std::string::npos) << MessageOf(config);
  config.textures = folder_.string();
  EXPECT_NE(MessageOf(config).find("PNG or JPEG"), std::string::npos) << MessageOf(config);
  std::ofstream(folder_ / "broken.png") << "no image";
  EXPECT_NE(MessageOf(config).find("broken.png"), std::string::npos) << MessageOf(config);
}

TEST_F(TextureFolder, SoAreNamesThatTheModelDoesNotHaveAndRangesUpsideDown) {
  VisualRandomConfig config;
  config.robot = {"robto"};
  EXPECT_NE(MessageOf(config).find("robto"), std::string::npos) << MessageOf(config);
  config = {}, config.table = {"tabel"};
  EXPECT_NE(MessageOf(config).find("tabel"), std::string::npos) << MessageOf(config);
  config = {}, config.light_intensity = {2, 1};
  EXPECT_NE(MessageOf(config).find("light_intensity"), std::string::npos) << MessageOf(config);
}

TEST(ProceduralTextures, AreDifferentAndRepeatWithoutSeams) {
  const std::vector<RgbImage> images = ProceduralTextures(28);
  std::set<std::string> all;
  for (const RgbImage& image : images) all.insert(TextOf(image.pixels));
  EXPECT_EQ(all.size(), images.size());
  // Across the border neighbours differ no more than the worst neighbours inside do.
  for (size_t n = 0; n < images.size(); ++n) {
    const auto at = [&](int x, int y) { return int{images[n].pixels[static_cast<size_t>(3 * (64 * y + x))]}; };
    int inside = 0, across = 0;
    for (int y = 0; y < 64; ++y) {
      for (int x = 0; x < 63; ++x) {
        inside = std::max({inside, std::abs(at(x, y) - at(x + 1, y)), std::abs(at(y, x) - at(y, x + 1))});
      }
      across = std::max({across, std::abs(at(63, y) - at(0, y)), std::abs(at(y, 63) - at(y, 0))});
    }
    EXPECT_LE(across, inside + 2) << n;
  }
}

}  // namespace
}  // namespace gripstream
