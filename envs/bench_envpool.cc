#include "envs/bench_envpool.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>

#include "core/rng.h"
#include "core/statistics.h"
#include "envs/bench_parts.h"
#include "envs/catalogue.h"
#include "envs/physics.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

constexpr int kFrameSkip = 5;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Of the whole process, so that it does not matter on which thread the batch works.
double ProcessorSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

fs::path PeerPython() {
  return fs::path(GRIPSTREAM_PEERS_DIR) / "bin/python";
}

// The model that EnvPool steps, or an empty path.
fs::path CheetahModel() {
  std::error_code error;
  for (const auto& python : fs::directory_iterator(fs::path(GRIPSTREAM_PEERS_DIR) / "lib", error)) {
    const fs::path model = python.path() / "site-packages/envpool_assets/mujoco/assets_gym/half_cheetah.xml";
    if (fs::exists(model, error)) return model;
  }
  return {};
}

// Steps per second of EnvPool's processor time; NaN when its program fails.
double EnvpoolSteps(const BenchEnvpoolOptions& options) {
  const std::string command = "'" + PeerPython().string() + "' '" + GRIPSTREAM_TOOLS_DIR + "/bench_envpool.py' " +
                              std::to_string(options.envs) + " " + std::to_string(options.steps) + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> program(popen(command.c_str(), "r"), pclose);
  double steps = 0;
  const bool read = program != nullptr && std::fscanf(program.get(), "%lf", &steps) == 1;
  return read && steps > 0 ? steps : kNone;
}

// The same environment on our batch: what HalfCheetah observes and rewards, in double precision as there.
double OurSteps(const mjModel* model, const BenchEnvpoolOptions& options) {
  const std::unique_ptr<BatchPhysics> physics = MakeMujocoPhysics(model, options.envs, 1);
  const auto envs = static_cast<size_t>(options.envs), actuators = static_cast<size_t>(model->nu);
  const auto observed = static_cast<size_t>(model->nq - 1 + model->nv);
  std::vector<double> actions(envs * actuators), observations(envs * observed), rewards(envs), place(envs);
  Rng rng = RandomStream(kBenchSeed, "bench cheetah").At(0, 0);
  const auto step = [&] {
    for (double& action : actions) action = static_cast<double>(rng.Uniform(-1, 1));
    physics->Step(
        1, kFrameSkip,
        [&](int env, int, const SimView& sim) {
          const auto e = static_cast<size_t>(env);
          place[e] = sim.qpos[0];
          std::copy_n(&actions[e * actuators], actuators, sim.ctrl);
        },
        [&](int env, const SimView& sim) {
          const auto e = static_cast<size_t>(env);
          double* row = &observations[e * observed];
          row = std::copy_n(sim.qpos + 1, model->nq - 1, row);
          std::copy_n(sim.qvel, model->nv, row);
          double cost = 0;
          for (size_t a = 0; a < actuators; ++a) cost += actions[e * actuators + a] * actions[e * actuators + a];
          rewards[e] = (sim.qpos[0] - place[e]) / (kFrameSkip * model->opt.timestep) - 0.1 * cost;
        });
  };
  for (int i = 0; i < 10; ++i) step();
  const double start = ProcessorSeconds();
  for (int i = 0; i < options.steps; ++i) step();
  return options.envs * options.steps / (ProcessorSeconds() - start);
}

// As MuJoCo's testspeed has it: one simulation, random controls, physics steps per second.
double RawSteps(const mjModel* model, int steps) {
  const std::unique_ptr<mjData, void (*)(mjData*)> data(mj_makeData(model), mj_deleteData);
  Rng rng = RandomStream(kBenchSeed, "bench cheetah").At(0, 0);
  const double start = ProcessorSeconds();
  for (int i = 0; i < steps; ++i) {
    for (int a = 0; a < model->nu && i % kFrameSkip == 0; ++a) data->ctrl[a] = static_cast<double>(rng.Uniform(-1, 1));
    mj_step(model, data.get());
  }
  return steps / (ProcessorSeconds() - start);
}

BenchRow Missing(const std::string& name, const std::string& peer) {
  return {name, kNone, kNone, peer, kNone, 1.0, "steps/s a core", "tools/bench_peers.sh has not been run"};
}

}  // namespace

std::vector<BenchRow> BenchEnvpool(const BenchEnvpoolOptions& options) {
  const fs::path path = CheetahModel();
  if (path.empty() || !fs::exists(PeerPython()))
    return {Missing("env.half_cheetah", "EnvPool"), Missing("env.half_cheetah_physics", "mj_step")};
  const SpecPtr spec = ParseModel(path.string());
  const std::unique_ptr<mjModel, void (*)(mjModel*)> model(CompileModel(spec.get(), path.string()), mj_deleteModel);
  std::vector<double> ours, peer, raw, to_peer, to_raw;
  for (int round = 0; round < options.rounds; ++round) {
    ours.push_back(OurSteps(model.get(), options));
    peer.push_back(EnvpoolSteps(options));
    raw.push_back(RawSteps(model.get(), options.envs * options.steps));
    to_peer.push_back(ours.back() / peer.back());
    to_raw.push_back(kFrameSkip * ours.back() / raw.back());
  }
  const double at_peer = Median(peer);
  return {{"env.half_cheetah", Median(ours), at_peer, "EnvPool", Median(to_peer), 1.0, "steps/s a core",
           std::isnan(at_peer) ? "EnvPool's program failed" : ""},
          {"env.half_cheetah_physics", kFrameSkip * Median(ours), Median(raw), "mj_step", Median(to_raw), 0.75,
           "physics steps/s a core", ""}};
}

}  // namespace gripstream
