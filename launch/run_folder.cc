#include "launch/run_folder.h"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/host.h"
#include "launch/version.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

std::string LocalTime(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[64];
  std::strftime(text, sizeof(text), format, &local);
  return text;
}

// runs/<stem>-<time>, with a number behind it when two runs start within a second.
std::string FreshFolder(const std::string& config_path) {
  const std::string base = "runs/" + fs::path(config_path).stem().string() + "-" + LocalTime("%Y%m%d-%H%M%S");
  std::string folder = base;
  for (int i = 2; fs::exists(folder); ++i) folder = base + "-" + std::to_string(i);
  return folder;
}

std::string Provenance(const RunConfig& config, const std::string& config_path,
                       const std::vector<std::string>& command_line) {
  const std::string host = HostName();
  const nlohmann::json json = {{"gripstream", kVersion},
                               {"git_revision", kGitRevision},
                               {"mujoco", kMujocoVersion},
                               {"libtorch", kTorchVersion},
                               {"compiler", kCompiler},
                               {"started", LocalTime("%Y-%m-%dT%H:%M:%S%z")},
                               {"host", host},
                               {"cpus", sysconf(_SC_NPROCESSORS_ONLN)},
                               {"seed", config.run.seed},
                               {"config", config_path},
                               {"command_line", command_line}};
  return json.dump(2) + "\n";
}

}  // namespace

void CreateRunFolder(RunConfig& config, const std::string& config_path, const std::vector<std::string>& command_line) {
  // The folder is used from other working directories too.
  for (std::string* file : {&config.task.model, &config.task.catalogue, &config.task.action.synergies,
                            &config.task.action.fabric_body, &config.task.meshes.folder, &config.task.library}) {
    if (!file->empty() && !file->starts_with("package:")) *file = fs::absolute(*file).lexically_normal().string();
  }
  if (config.run.dir.empty()) config.run.dir = FreshFolder(config_path);
  const fs::path folder = config.run.dir;
  std::error_code error;
  if (fs::exists(folder / "config.yaml", error)) {
    throw InputError(config_path, "run.dir", config.run.dir,
                     "a folder without a run in it; to go on with that run: --resume " + config.run.dir);
  }
  fs::create_directories(folder / "checkpoints", error);
  if (!error) fs::create_directories(folder / "logs", error);
  if (error) throw InputError(config_path, "run.dir", config.run.dir, "a folder that can be made: " + error.message());
  WriteFileAtomically((folder / "provenance.json").string(), Provenance(config, config_path, command_line));
  WriteFileAtomically((folder / "config.yaml").string(), ToYaml(config));
}

void RecordResume(const RunConfig& config, const std::vector<std::string>& command_line) {
  const std::string path = config.run.dir + "/provenance.json";
  nlohmann::ordered_json provenance;
  if (fs::exists(path)) provenance = nlohmann::ordered_json::parse(ReadText(path), nullptr, false);
  if (!provenance.is_object()) provenance = nlohmann::ordered_json::object();
  provenance["resumed"].push_back({{"gripstream", kVersion},
                                   {"git_revision", kGitRevision},
                                   {"started", LocalTime("%Y-%m-%dT%H:%M:%S%z")},
                                   {"command_line", command_line}});
  WriteFileAtomically(path, provenance.dump(2) + "\n");
  WriteFileAtomically(config.run.dir + "/config.yaml", ToYaml(config));
}

bool IsUnusedRunFolder(const std::string& run_dir) {
  std::error_code missing;
  const fs::directory_iterator checkpoints(fs::path(run_dir) / "checkpoints", missing);
  return missing || checkpoints == fs::directory_iterator();
}

void RemoveUnusedRunFolder(const std::string& run_dir) {
  const fs::path folder = run_dir;
  if (!IsUnusedRunFolder(run_dir)) return;
  for (const char* made :
       {"config.yaml", "provenance.json", "footprints.json", "metrics.csv", "logs", "checkpoints", "tensorboard"}) {
    fs::remove_all(folder / made);
  }
  std::error_code not_empty;  // a folder that was there before, with files of its own, stays
  fs::remove(folder, not_empty);
}

RunConfig OpenRunFolder(const std::string& run_dir, const std::vector<std::string>& overrides) {
  const std::string path = run_dir + "/config.yaml";
  if (!fs::exists(path)) throw InputError(run_dir, "is not a run folder: it has no config.yaml");
  RunConfig config = ReadRunConfig(path, overrides);
  config.run.dir = run_dir;  // the folder may have been moved since
  return config;
}

}  // namespace gripstream
