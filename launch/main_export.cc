// gripstream export, as a program of its own because it needs LibTorch: from a checkpoint to files that a robot's
// computer can run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "deploy/sim_robot/manifest_task.h"
#include "envs/env_batch.h"
#include "launch/checkpoints.h"
#include "launch/parse_command_line.h"
#include "launch/roles.h"
#include "launch/run_folder.h"
#include "launch/version.h"
#include "learner/run_checkpoint.h"
#include "policies/graph_onnx.h"
#include "policies/graph_torchscript.h"
#include "sim_server/camera_facts.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string checkpoint, output;
  std::vector<std::string> overrides;
};

bool Parse(int argc, char** argv, Arguments& arguments) {
  CLI::App app("Write a trained policy as ONNX and TorchScript, with a manifest of what it needs", "gripstream export");
  app.add_option("checkpoint", arguments.checkpoint, "checkpoint file or run folder")->required();
  app.add_option("-o,--output", arguments.output, "folder for policy.onnx, policy.pt, manifest.yaml, training.yaml")
      ->required();
  app.add_option("--set", arguments.overrides, "KEY=VALUE laid over the run's configuration")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  return ParseCommandLine(app, argc, argv);
}

ManifestCamera CameraOf(const TaskConfig& task, const std::string& name, int width_px, int height_px) {
  const CameraFacts facts = DescribeCamera(task, name == kTaskCamera ? task.camera : name, width_px, height_px);
  return {.name = facts.name,
          .width_px = width_px,
          .height_px = height_px,
          .fx_px = facts.fx_px,
          .fy_px = facts.fy_px,
          .cx_px = facts.cx_px,
          .cy_px = facts.cy_px,
          .moves = facts.moves,
          .position_m = facts.position_m,
          .optical_to_base = facts.optical_to_base};
}

void AddCameras(const RunConfig& config, const Policy& policy, Manifest& manifest) {
  const PolicyShapes& shapes = policy.Shapes();
  if (policy.Network().UsesDepth()) {
    const std::string& name = config.render.depth.cameras.front();
    manifest.camera = CameraOf(config.task, name, shapes.width_px, shapes.height_px);
    manifest.camera.near_m = config.policy.image.near_m;
    manifest.camera.far_m = config.policy.image.far_m;
  }
  ManifestCamera* cameras[] = {&manifest.camera, &manifest.second_camera};
  for (size_t i = 0; policy.Network().UsesRgb() && i < config.render.rgb.cameras.size(); ++i) {
    *cameras[i] = CameraOf(config.task, config.render.rgb.cameras[i], shapes.rgb_width_px, shapes.rgb_height_px);
  }
}

Manifest ManifestOf(const RunConfig& config, const Policy& policy, const Graph& graph) {
  Manifest manifest;
  const PolicyShapes& shapes = policy.Shapes();
  manifest.policy.name = config.policy.name;
  for (const GraphValue& input : graph.inputs) manifest.policy.inputs.push_back(input.name);
  for (const GraphValue& output : graph.outputs) manifest.policy.outputs.push_back(output.name);
  manifest.policy.memory = static_cast<int>(policy.Network().ActorMemorySize());
  manifest.policy.actions = shapes.action;
  manifest.policy.aux = policy.Network().HasAux() ? shapes.aux : 0;
  AddCameras(config, policy, manifest);
  return manifest;
}

// The curriculum's level, [0, 1], at which the policy is evaluated.
double LevelOf(const CurriculumConfig& curriculum, const RunCounters& counters) {
  int level = counters.curriculum_level < 0 ? curriculum.start : counters.curriculum_level;
  if (curriculum.eval_level >= 0) level = curriculum.eval_level;
  return static_cast<double>(std::min(level, curriculum.levels)) / curriculum.levels;
}

// The ONNX and TorchScript files first, the manifest, which names their digests, last: a folder with a manifest is
// whole.
void WriteAll(const std::string& folder, const Graph& graph, const RunConfig& config, Manifest& manifest) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw InputError("command line", "--output", folder, "a folder that can be made (" + error.message() + ")");
  const std::string made_by = std::string("gripstream ") + kVersion;
  const std::string onnx = OnnxModel(graph, made_by);
  WriteFileAtomically(folder + "/policy.onnx", std::string_view(onnx));
  WriteTorchScript(graph, folder + "/policy.pt");
  WriteFileAtomically(folder + "/training.yaml", std::string_view(ToYaml(config)));
  manifest.origin.made_by = made_by;
  manifest.origin.revision = kGitRevision;
  manifest.origin.onnx_sha256 = Sha256Hex(onnx);
  manifest.origin.torchscript_sha256 = Sha256Hex(ReadText(folder + "/policy.pt"));
  WriteFileAtomically(folder + "/manifest.yaml", std::string_view(ToYaml(manifest)));
}

int Main(int argc, char** argv) {
  StartLog("export");
  Arguments arguments;
  if (!Parse(argc, argv, arguments)) return kExitOk;
  const auto [file, run_dir] = LocateCheckpoint(arguments.checkpoint);
  const RunConfig config = OpenRunFolder(run_dir, arguments.overrides);
  const TaskDescription task = DescribeTask(config);
  const PolicyShapes shapes = ShapesFromSpecs(task.record, static_cast<int>(task.action.Elements()));
  Policy policy(config.policy, shapes, config.run.seed);
  const Checkpoint checkpoint = LoadCheckpoint(file);
  RestorePolicy(checkpoint, file, policy);
  const Graph graph = policy.InferenceGraph();
  Manifest manifest = ManifestOf(config, policy, graph);
  manifest.origin.checkpoint = fs::path(file).filename();
  const RunCounters counters = CountersOf(checkpoint, file);
  const auto envs = EnvBatch::Make(config.task, {.threads = 1}, config.run.seed, 0, 1);
  DescribeTaskIn(manifest, config.task, *envs, LevelOf(config.task.curriculum, counters));
  manifest.origin.iteration = static_cast<int>(counters.iteration);
  manifest.origin.seed = config.run.seed;
  manifest.origin.parameters_sha256 = ParametersSha256(policy.Network().Parameters());
  WriteAll(arguments.output, graph, config, manifest);
  std::printf("%s: policy.onnx, policy.pt, manifest.yaml, training.yaml from %s\n", arguments.output.c_str(),
              file.c_str());
  return kExitOk;
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(gripstream::Main, argc, argv);
}
