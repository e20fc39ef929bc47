#include "learner/run_checkpoint.h"

#include <torch/torch.h>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr char kEnvState[] = "env_state", kEnvLost[] = "env_lost", kEnvMemory[] = "env_memory";
constexpr int64_t kMostIterations = 1 << 30;  // of train.iterations
constexpr double kPerMillion = 1e6;           // counters are whole numbers: fractions are kept in millionths

int64_t ToMillionths(double value) {
  return static_cast<int64_t>(value * kPerMillion);
}

std::vector<NamedTensor> Matching(const Checkpoint& checkpoint, const std::string& path,
                                  const std::vector<NamedTensor>& expected) {
  std::vector<NamedTensor> found;
  for (const NamedTensor& tensor : expected) found.push_back({tensor.name, checkpoint.Tensor(tensor.name, path)});
  return found;
}

// [all, ...]; refuses another number of environments.
torch::Tensor EnvRows(const Checkpoint& checkpoint, const std::string& path, const std::string& name, int all) {
  const torch::Tensor rows = checkpoint.Tensor(name, path);
  if (rows.dim() != 2 || rows.size(0) != all) {
    throw InputError(path, name, rows.dim() ? std::to_string(rows.size(0)) + " environments" : "nothing",
                     "sim.processes x sim.envs = " + std::to_string(all) + " environments, as the run was saved");
  }
  return rows;
}

}  // namespace

Checkpoint MakeCheckpoint(const LearnerRoleOptions& options, const RunCounters& counters, const Policy& policy,
                          const Algorithm& algorithm, const EnvTensors& envs) {
  Checkpoint checkpoint;
  checkpoint.tensors = policy.State();
  for (NamedTensor& tensor : algorithm.State()) checkpoint.tensors.push_back(std::move(tensor));
  checkpoint.tensors.push_back({kEnvState, envs.state});
  if (envs.memory.defined()) checkpoint.tensors.push_back({kEnvMemory, envs.memory});
  if (envs.lost.any().item<bool>()) checkpoint.tensors.push_back({kEnvLost, envs.lost});
  checkpoint.counters = {{"iteration", counters.iteration},
                         {"env_steps", counters.env_steps},
                         {"wall_microseconds", ToMillionths(counters.wall_s)},
                         {"best_success_ppm", ToMillionths(counters.best_success)},
                         {"curriculum_level", counters.curriculum_level},
                         {"curriculum_steps", counters.curriculum_steps},
                         {"at_start_episodes", counters.at_start.episodes},
                         {"at_start_successes", counters.at_start.successes}};
  checkpoint.texts = {{"config", options.config_text}, {"seed", std::to_string(options.seed)}};
  return checkpoint;
}

void RestorePolicy(const Checkpoint& checkpoint, const std::string& path, Policy& policy) {
  const std::vector<NamedTensor> expected = policy.State();
  RequireSameTensors(checkpoint, path, expected);
  policy.SetState(Matching(checkpoint, path, expected));
}

RunCounters CountersOf(const Checkpoint& checkpoint, const std::string& path) {
  const auto fraction = [&](const char* name) {
    return static_cast<double>(checkpoint.Counter(name, path)) / kPerMillion;
  };
  RunCounters counters;
  counters.iteration = checkpoint.Counter("iteration", path);
  if (counters.iteration < 0 || counters.iteration > kMostIterations) {
    throw InputError(path, "counters.iteration", std::to_string(counters.iteration),
                     "0 to " + std::to_string(kMostIterations));
  }
  counters.env_steps = checkpoint.Counter("env_steps", path);
  counters.wall_s = fraction("wall_microseconds");
  counters.best_success = fraction("best_success_ppm");
  if (checkpoint.counters.contains("curriculum_level")) {
    counters.curriculum_level = static_cast<int>(checkpoint.Counter("curriculum_level", path));
    counters.curriculum_steps = checkpoint.Counter("curriculum_steps", path);
  }
  counters.at_start.episodes = static_cast<int>(checkpoint.Counter("at_start_episodes", path));
  counters.at_start.successes = static_cast<int>(checkpoint.Counter("at_start_successes", path));
  return counters;
}

void RestoreTraining(const Checkpoint& checkpoint, const std::string& path, Policy& policy, Algorithm& algorithm) {
  const std::vector<NamedTensor> optimizer = algorithm.State();
  std::vector<NamedTensor> expected = policy.State();
  expected.insert(expected.end(), optimizer.begin(), optimizer.end());
  RequireSameTensors(checkpoint, path, expected);
  policy.SetState(Matching(checkpoint, path, policy.State()));
  algorithm.SetState(Matching(checkpoint, path, optimizer));
}

EnvStates EnvStatesOf(const Checkpoint& checkpoint, const std::string& path, int all, int first, int envs) {
  const torch::Tensor own = EnvRows(checkpoint, path, kEnvState, all).narrow(0, first, envs).contiguous();
  const auto* bytes = reinterpret_cast<const std::byte*>(own.const_data_ptr<uint8_t>());
  EnvStates found{{bytes, bytes + own.numel()}, std::vector<uint8_t>(static_cast<size_t>(envs), 0)};
  for (const NamedTensor& tensor : checkpoint.tensors) {
    if (tensor.name != kEnvLost) continue;
    if (tensor.value.numel() != all || tensor.value.scalar_type() != torch::kUInt8) {
      throw InputError(path, kEnvLost, std::to_string(tensor.value.numel()), std::to_string(all) + " bytes");
    }
    std::copy_n(tensor.value.const_data_ptr<uint8_t>() + first, envs, found.lost.begin());
  }
  return found;
}

torch::Tensor MemoriesOf(const Checkpoint& checkpoint, const std::string& path, int all, int first, int envs,
                         int64_t size) {
  const torch::Tensor rows = EnvRows(checkpoint, path, kEnvMemory, all);
  if (rows.size(1) != size) {
    throw InputError(path, kEnvMemory, std::to_string(rows.size(1)) + " numbers an environment",
                     std::to_string(size) + ", as the policy's memory has");
  }
  return rows.narrow(0, first, envs).contiguous();
}

}  // namespace gripstream
