// Tests sim_server/render/image_io.h and contact_sheet.h.
#include "sim_server/render/image_io.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <opencv2/imgcodecs.hpp>

#include "core/error.h"
#include "sim_server/render/contact_sheet.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

TEST(ColourDepth, PaintsNothingBlackAndNearBrighterThanFar) {
  const uint16_t depth[4] = {0, 5000, 10000, 15000};
  const cv::Mat image = ColourDepth(depth, 4, 1, 1, false);
  const auto sum = [&](int x) {
    const cv::Vec3b c = image.at<cv::Vec3b>(0, x);
    return c[0] + c[1] + c[2];
  };
  EXPECT_EQ(sum(0), 0);
  EXPECT_GT(sum(1), sum(2));
  EXPECT_GT(sum(2), sum(3));
  EXPECT_GT(sum(3), 0);
}

TEST(ColourDepth, AddsAScaleBarToLargePicturesOnlyAndTakesAnAllZeroImage) {
  const std::vector<uint16_t> depth(64 * 48, 0);
  EXPECT_EQ(ColourDepth(depth.data(), 64, 48).cols, 64);
  const cv::Mat large = ColourDepth(depth.data(), 64, 48, 4);
  EXPECT_GT(large.cols, 4 * 64);
  EXPECT_EQ(large.rows, 4 * 48);
}

TEST(WritePng, WritesWhatReadsBackAndNamesAPathItCannotWrite) {
  const std::string path = testing::TempDir() + "render_image_io_test.png";
  cv::Mat image(5, 7, CV_8UC3, cv::Scalar(1, 2, 3));
  WritePng(path, image);
  const cv::Mat back = cv::imread(path);
  EXPECT_EQ(cv::norm(back, image), 0.0);
  std::filesystem::remove(path);
  EXPECT_THROW(WritePng("/nowhere/at/all.png", image), RunError);
}

TEST(ShadedPreview, ShowsTheGraspSceneInItsColours) {
  ModelPtr model = GraspModel("cube_70");
  DataPtr data(mj_makeData(model.get()));
  mj_resetDataKeyframe(model.get(), data.get(), 0);
  mj_kinematics(model.get(), data.get());
  mj_camlight(model.get(), data.get());
  const RenderConfig config;
  const mjModel* models[] = {model.get()};
  const Images images = RenderScene(*BatchRenderer::Make(config, "depth", models, 1), config, *model, data.get());
  const cv::Mat shaded = ShadedPreview(*model, images.geom.data(), images.normals.data(), 64, 48);
  const int object = mj_name2id(model.get(), mjOBJ_BODY, "object");
  int pixels = 0;
  for (int i = 0; i < 64 * 48; ++i) {
    if (images.geom[i] < 0 || model->geom_bodyid[images.geom[i]] != object) continue;
    ++pixels;
    const cv::Vec3b bgr = shaded.at<cv::Vec3b>(i / 64, i % 64);
    EXPECT_GT(bgr[2], 2 * bgr[1]);
  }
  EXPECT_GT(pixels, 20);
}

TEST(ContactSheet, HoldsEveryCellAndCutsLongCaptions) {
  ContactSheet sheet(3, "title");
  for (int i = 0; i < 4; ++i) {
    sheet.Add(cv::Mat(20, 30, CV_8UC3, cv::Scalar(0, 0, 200)), "a caption much longer than the picture is wide");
  }
  const cv::Mat image = sheet.Compose();
  cv::Mat red;
  cv::inRange(image, cv::Scalar(0, 0, 200), cv::Scalar(0, 0, 200), red);
  EXPECT_EQ(cv::countNonZero(red), 4 * 20 * 30);
  EXPECT_THROW(ContactSheet(2).Compose(), InternalError);
}

}  // namespace
}  // namespace gripstream
