// Tests launch/main_export.cc with the real command: what is written fits together, and what does not fit is refused.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/files.h"
#include "deploy/manifest.h"
#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Export : public testing::Test {
 protected:
  // Trains the tiny run; returns the digest of its parameters.
  std::string TrainTiny(const std::vector<std::string>& overrides) {
    const Ended trained = RunGripstream(TinyRun(folder_ / "run", overrides));
    EXPECT_EQ(trained.code, 0) << trained.output;
    return ReadJson(folder_ / "run/results.json").value("parameters_sha256", "none");
  }
  Ended ExportRun(const std::string& run, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"export", folder_ / run, "-o", folder_ / "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunGripstream(arguments);
  }
  Manifest Written() const {
    Manifest manifest;
    ConfigFile(folder_ / "out/manifest.yaml", std::vector<std::string>()).Read(manifest);
    return manifest;
  }
  std::string Digest(const std::string& file) const { return Sha256Hex(ReadText(folder_ / ("out/" + file))); }
  ScratchFolder folder_;
};

TEST_F(Export, AFolderHoldsThePolicyTwiceAndAManifestThatFitsIt) {
  const std::string parameters =
      TrainTiny({"policy.actor_rnn.kind=lstm", "policy.actor_rnn.units=8", "ppo.sequence=4"});
  const Ended ended = ExportRun("run");
  ASSERT_EQ(ended.code, 0) << ended.output;
  const Manifest manifest = Written();
  EXPECT_EQ(manifest.origin.parameters_sha256, parameters);
  EXPECT_EQ(manifest.origin.onnx_sha256, Digest("policy.onnx"));
  EXPECT_EQ(manifest.origin.torchscript_sha256, Digest("policy.pt"));
  EXPECT_THAT(manifest.policy.inputs, ElementsAre("depth", "proprio", "memory"));
  EXPECT_THAT(manifest.policy.outputs, ElementsAre("action", "aux", "memory_out"));
  EXPECT_EQ(manifest.policy.memory, 16);
  EXPECT_EQ(manifest.joints.names.size(), 23u);
  EXPECT_EQ(manifest.joints.arm, 7);
  EXPECT_EQ(manifest.proprio.names.size(), manifest.proprio.sizes.size());
  // The camera's pose as it was measured (paper facts 4, the upright one): rotation and position.
  EXPECT_THAT(manifest.camera.position_m,
              ElementsAre(testing::DoubleNear(-0.6452, 1e-4), testing::DoubleNear(-0.7328, 1e-4),
                          testing::DoubleNear(0.4560, 1e-4)));
  const double rotation[9] = {0.9980, 0.0581, -0.0258, 0.0287, -0.0494, 0.9984, 0.0567, -0.9971, -0.0509};
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(manifest.camera.optical_to_base[i], rotation[i], 1e-4);
  // 48.03 degrees across 32 pixels.
  EXPECT_NEAR(manifest.camera.fx_px, 16 / std::tan(48.03 / 2 * 3.14159265 / 180), 0.05);
  // Exporting again replaces the files, with the same bytes.
  const std::string onnx = Digest("policy.onnx");
  EXPECT_EQ(ExportRun("run").code, 0);
  EXPECT_EQ(Digest("policy.onnx"), onnx);
}

TEST_F(Export, AStereoPolicyNamesBothCameras) {
  TrainTiny({"policy.name=rgb", "render.depth.cameras=[]", "render.rgb.cameras=[stereo_left, stereo_right]",
             "policy.rgb.fusion=attention", "policy.rgb.tokens=8", "policy.rgb.pool_height=2",
             "policy.rgb.pool_width=4", "policy.rgb.heads=2"});
  const Ended ended = ExportRun("run");
  ASSERT_EQ(ended.code, 0) << ended.output;
  const Manifest manifest = Written();
  EXPECT_THAT(manifest.policy.inputs, ElementsAre("rgb", "proprio"));
  EXPECT_EQ(manifest.camera.name, "stereo_left");
  EXPECT_EQ(manifest.second_camera.name, "stereo_right");
  EXPECT_EQ(manifest.second_camera.width_px, manifest.camera.width_px);
}

TEST_F(Export, APolicyOfTheStateNeedsNoCamera) {
  TrainTiny({"policy.name=state_mlp"});
  ASSERT_EQ(ExportRun("run").code, 0);
  EXPECT_THAT(Written().policy.inputs, ElementsAre("state"));
  EXPECT_EQ(Written().camera.name, "");
}

TEST_F(Export, WhatDoesNotFitIsRefusedByNameAndNothingIsWritten) {
  TrainTiny({});
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"--set", "policy.actor_hidden=[7]"}, "policy.actor.0"},
      {{"--set", "policy.actor_rnn.kind=lstm", "--set", "ppo.sequence=4"}, "policy.actor.memory.weight_ih"},
      {{"--set", "task.action.map=fabric"}, "policy.aux.0.weight"},
      {{"--nonsense"}, "nonsense"}};
  for (const auto& [arguments, expected] : wrong) {
    const Ended ended = ExportRun("run", arguments);
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(expected));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
  }
  EXPECT_EQ(ExportRun("nowhere").code, 2);
  std::ofstream(folder_ / "out") << "a file";
  const Ended ended = ExportRun("run");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.output, HasSubstr("--output"));
}

}  // namespace
}  // namespace gripstream
