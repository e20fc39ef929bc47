// Tests launch/learning_curves.h and sim_server/render/drawing.h.
#include "launch/learning_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "launch/temporary_folder.h"

namespace gripstream {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A run with four iterations; success is not known in the second one.
std::string MakeRun(const TemporaryFolder& folder, const std::string& name) {
  const std::string run = folder.Path() + "/" + name;
  std::filesystem::create_directories(run);
  std::ofstream(run + "/metrics.csv") << "iteration,run/env_steps,run/wall_s,episode/success\n"
                                         "1,100,1.5,0\n2,200,3,nan\n3,300,4.5,0.5\n4,400,6,1\n";
  return run;
}

TEST(LearningCurves, AreReadOverStepsIterationsOrTimeWithoutRowsThatAreNoNumbers) {
  const TemporaryFolder folder;
  const std::string run = MakeRun(folder, "mine");
  const Curve steps = ReadCurve(run, "episode/success", CurveAxis::kSteps);
  EXPECT_EQ(steps.label, "mine");
  EXPECT_THAT(steps.x, ElementsAre(100, 300, 400));
  EXPECT_THAT(steps.y, ElementsAre(0, 0.5, 1));
  EXPECT_THAT(ReadCurve(run, "episode/success", CurveAxis::kIterations).x, ElementsAre(1, 3, 4));
  EXPECT_THAT(ReadCurve(run + "/metrics.csv", "episode/success", CurveAxis::kWall).x, ElementsAre(1.5, 4.5, 6));
}

TEST(LearningCurves, AreSmoothedOverTheLastIterations) {
  EXPECT_THAT(Smoothed({"", {1, 2, 3, 4}, {2, 4, 6, 8}}, 2).y, ElementsAre(2, 3, 5, 7));
  EXPECT_THAT(Smoothed({"", {1, 2}, {2, 4}}, 1).y, ElementsAre(2, 4));
}

TEST(LearningCurves, TicksAreRoundAndWithinTheRange) {
  EXPECT_THAT(RoundTicks(0, 1, 6), ElementsAre(0, 0.2, 0.4, ::testing::DoubleNear(0.6, 1e-12), 0.8, 1));
  EXPECT_THAT(RoundTicks(-130, 410, 6), ElementsAre(-100, 0, 100, 200, 300, 400));
}

TEST(LearningCurves, HighIsUpAndLateIsRight) {
  const Drawing drawing = DrawCurves({{"success", {{"mine", {0, 10}, {0, 1}}}}}, CurveAxis::kSteps);
  const auto curve = std::ranges::find_if(drawing.lines, [](const DrawingLine& line) { return line.width_px == 2; });
  ASSERT_NE(curve, drawing.lines.end());
  EXPECT_LT(curve->points[0].x, curve->points[1].x);
  EXPECT_GT(curve->points[0].y, curve->points[1].y);
  for (const DrawingLine& line : drawing.lines) {
    for (const DrawingPoint& point : line.points) {
      EXPECT_TRUE(point.x >= 0 && point.x <= drawing.width_px && point.y >= 0 && point.y <= drawing.height_px);
    }
  }
}

TEST(LearningCurves, OfARunThatHasNotLearnedYetAreEmptyAxes) {
  EXPECT_NO_THROW(ToSvg(DrawCurves({{"success", {{"mine", {}, {}}, {"flat", {1}, {3}}}}}, CurveAxis::kSteps)));
}

TEST(LearningCurves, AreWrittenAsTheFileNameSays) {
  const TemporaryFolder folder;
  const Drawing drawing = DrawCurves({{"a<b", {{"mine", {0, 10}, {0, 1}}}}}, CurveAxis::kSteps);
  EXPECT_THAT(ToSvg(drawing), HasSubstr("a&lt;b"));
  for (const char* name : {"/c.svg", "/c.png"}) {
    WriteDrawing(folder.Path() + name, drawing);
    EXPECT_GT(std::filesystem::file_size(folder.Path() + name), 500u);
  }
  EXPECT_THROW(WriteDrawing(folder.Path() + "/c.gif", drawing), InputError);
}

TEST(LearningCurves, BadInputIsNamed) {
  const TemporaryFolder folder;
  const std::string run = MakeRun(folder, "mine");
  const auto refusal = [](const std::string& path, const std::string& metric) {
    try {
      ReadCurve(path, metric, CurveAxis::kSteps);
      return std::string();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refusal(run, "episode/sucess"), HasSubstr("episode/success"));
  EXPECT_THAT(refusal(folder.Path() + "/none", "episode/success"), HasSubstr("none"));
}

}  // namespace
}  // namespace gripstream
