#include "envs/bench_env.h"

#include <functional>
#include <numeric>

#include "core/clock.h"
#include "core/statistics.h"
#include "envs/action_files.h"
#include "envs/bench_parts.h"
#include "envs/shipped_files.h"

namespace gripstream {
namespace {

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double ThreadSecondsOf(const std::function<void()>& body) {
  const double start = ThreadSeconds();
  body();
  return ThreadSeconds() - start;
}

// Seconds of a policy step of one environment in the action map alone, under actions that keep it moving, several
// together as a batch has them.
double ActionMapSeconds(const TaskConfig& task, const RobotBinding& robot, int steps) {
  constexpr size_t kTogether = 16;
  const std::unique_ptr<ActionMap> map = MakeActionMap(ReadActionSetup(task, robot), robot);
  const size_t size = static_cast<size_t>(map->MemorySize()), joints = robot.qpos.size();
  std::vector<double> memory(kTogether * size), targets(kTogether * joints);
  std::vector<ActionRow> rows;
  for (size_t i = 0; i < kTogether; ++i) {
    rows.push_back({std::span(memory).subspan(i * size, size), std::span(targets).subspan(i * joints, joints)});
    map->Begin(robot.home, std::vector<double>(robot.home.size()), {}, rows[i].memory);
  }
  const double tick_s = static_cast<double>(task.control_decimation) / task.physics_hz;
  std::vector<float> action(static_cast<size_t>(map->Size()));
  const double seconds = ThreadSecondsOf([&] {
    for (int step = 0; step < steps; ++step) {
      for (size_t i = 0; i < kTogether; ++i) {
        Rng rng = RandomStream(kBenchSeed, "bench map").At(static_cast<uint32_t>(i), static_cast<uint64_t>(step));
        for (float& value : action) value = rng.Uniform(-1, 1);
        map->Accept(action, rows[i].memory);
      }
      for (int tick = 0; tick < task.decimation / task.control_decimation; ++tick) map->TickAll(tick_s, rows);
    }
  });
  return seconds / steps / static_cast<double>(kTogether);
}

// The same for mj_step, from the states that the environments are in.
double PhysicsSeconds(EnvBatch& envs, int decimation) {
  const std::unique_ptr<mjData, void (*)(mjData*)> data(mj_makeData(envs.PhysicsModel(0)), mj_deleteData);
  std::vector<mjtNum> state(static_cast<size_t>(envs.Physics().StateSize()));
  double seconds = 0;
  for (int env = 0; env < envs.Envs(); ++env) {
    const mjModel* model = envs.PhysicsModel(env);
    envs.Physics().ReadState(env, state.data());
    mj_setState(model, data.get(), state.data(), mjSTATE_INTEGRATION);
    seconds += ThreadSecondsOf([&] {
      for (int step = 0; step < decimation; ++step) mj_step(model, data.get());
    });
  }
  return seconds / envs.Envs();
}

BenchRow FabricShare(EnvBatch& envs, const TaskConfig& task) {
  constexpr double kLimit = 0.2;
  constexpr int kRounds = 11;
  std::vector<double> shares;
  for (int round = 0; round < kRounds; ++round) {
    const double physics_s = PhysicsSeconds(envs, task.decimation);
    shares.push_back(ActionMapSeconds(task, envs.Robot(), envs.Envs()) / physics_s);
  }
  const double share = Median(shares);
  return {"env.fabric_share", share, kLimit, "limit", kLimit / share, 1.0, "of mj_step", ""};
}

}  // namespace

TaskConfig BenchGraspTask() {
  TaskConfig task;
  task.name = "grasp";
  task.decimation = 2;
  task.episode_s = 10;
  task.action.map = "fabric";
  task.action.fabric_body = ShippedFile("fabric_body.yaml");
  task.action.palm_low = {-1.2, -0.7, 0, -3.1416, -0.7854, 2.3562};
  task.action.palm_high = {0, 0.7, 1, -1.5708, 0.7854, 3.927};
  task.randomise.enabled = true;
  task.curriculum.start = task.curriculum.levels;
  return task;
}

std::vector<BenchRow> BenchEnv(const BenchEnvOptions& options) {
  const TaskConfig task = BenchGraspTask();
  PhysicsConfig physics;
  physics.threads = options.threads;
  const std::unique_ptr<EnvBatch> envs = EnvBatch::Make(task, physics, kBenchSeed, 0, options.envs);
  envs->Reset({});
  for (int step = 0; step < options.steps / 2; ++step) envs->Step(BenchActions(*envs, step).data());
  const StepTimes times = TimePolicySteps(*envs, task.decimation, options.steps, options.threads);
  std::vector<double> ratios;
  for (size_t i = 0; i < times.ours_s.size(); ++i) ratios.push_back(times.raw_s[i] / times.ours_s[i]);
  const double work = static_cast<double>(options.envs) * options.steps;
  return {{"env.grasp", work / Sum(times.ours_s), work / Sum(times.raw_s), "mjb_step", Median(ratios), 0.75,
           "policy steps/s", ""},
          FabricShare(*envs, task)};
}

}  // namespace gripstream
