// gripstream describe: the layout of a configuration's record and action, as both ends of the wire see it; of an MJCF
// file, the names that a configuration may use.
#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "envs/model_offer.h"
#include "launch/commands.h"
#include "launch/roles.h"
#include "launch/run_folder.h"
#include "wire/layout.h"

namespace gripstream {
namespace {

// Whose images the record holds, in order.
void PrintCameras(const RunConfig& config) {
  const CamerasConfig& render = config.render;
  const std::pair<const char*, const ModalityConfig*> kinds[] = {{"obs.depth", &render.depth},
                                                                 {"obs.rgb", &render.rgb},
                                                                 {"obs.segmentation", &render.segmentation},
                                                                 {"obs.bodies", &render.bodies},
                                                                 {"obs.normals", &render.normals}};
  for (const auto& [tensor, kind] : kinds) {
    if (kind->cameras.empty()) continue;
    std::printf("cameras of %s:", tensor);
    for (const std::string& name : kind->cameras) {
      std::printf(" %s", (name == kTaskCamera ? config.task.camera : name).c_str());
    }
    std::printf("\n");
  }
}

}  // namespace

int DescribeCommand(const std::string& config_path, const std::vector<std::string>& overrides) {
  if (config_path.ends_with(".xml") || config_path.ends_with(".mjcf")) {
    std::fputs(DescribeOffer(config_path).c_str(), stdout);
    return kExitOk;
  }
  const RunConfig config = std::filesystem::is_directory(config_path) ? OpenRunFolder(config_path, overrides)
                                                                      : ReadRunConfig(config_path, overrides);
  const TaskDescription task = DescribeTask(config);
  size_t env_bytes = 0;
  std::printf("record, per environment:\n");
  for (const TensorSpec& spec : RecordOf(config, task)) {
    std::printf("  %-60s %8zu bytes\n", spec.ToString().c_str(), spec.Bytes());
    env_bytes += spec.Bytes();
  }
  std::printf("  %-60s %8zu bytes\n", "together", env_bytes);
  PrintCameras(config);
  std::printf("action:\n  %s\n", task.action.ToString().c_str());
  const auto print_fields = [](const char* tensor, const std::vector<ObservationField>& fields) {
    std::printf("%s consists of:\n", tensor);
    int at = 0;
    for (const ObservationField& field : fields) {
      std::printf("  %4d..%-4d %-24s %s\n", at, at + field.size, field.name.c_str(), field.unit.c_str());
      at += field.size;
    }
  };
  print_fields("obs.proprio", task.proprio);
  print_fields("state", task.state);
  if (!task.metrics.empty()) std::printf("metrics:");
  for (const std::string& metric : task.metrics) std::printf(" %s", metric.c_str());
  if (!task.metrics.empty()) std::printf("\n");
  std::printf("reward terms:");
  for (const std::string& term : task.reward_terms) std::printf(" %s", term.c_str());
  std::printf("\nrecord of one simulator (%d environments): %.3f MB, layout hash %016llx\n", config.sim.envs,
              static_cast<double>(Layout(task.record, config.sim.envs).Bytes()) / 1e6,
              static_cast<unsigned long long>(Layout(task.record, 1).Hash()));
  return 0;
}

}  // namespace gripstream
