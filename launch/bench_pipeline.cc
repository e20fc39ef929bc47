#include "launch/bench_pipeline.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include "core/clock.h"
#include "core/cpus.h"
#include "core/error.h"
#include "core/files.h"
#include "core/statistics.h"
#include "launch/addresses.h"
#include "launch/child.h"
#include "launch/role_plan.h"
#include "launch/roles.h"
#include "launch/temporary_folder.h"
#include "learner/collector.h"
#include "learner/rollout_source.h"

namespace gripstream {
namespace {

constexpr double kWait_s = 60;
constexpr int kLeastRounds = 5;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The reach task at 60 policy steps a second, at which rendering and inference weigh more beside physics.
constexpr char kConfig[] =
    "sim: {processes: 1, envs: 256}\n"
    "physics: {threads: 1}\n"
    "render: {width: 64, height: 48}\n"
    "task: {name: reach, decimation: 2}\n"
    "wire: {transport: shm}\n"
    "policy: {name: depth_cnn}\n"
    "ppo: {horizon: 16, threads: 1}\n";

// A simulator on a core of its own, and what the learner holds of it.
class Pair {
 public:
  Pair(const std::string& mode, int simulator_cpu, int learner_cpu) : config_(Configure(mode)) {
    const TaskDescription task = DescribeTask(config_);
    specs_ = task.record;
    action_size_ = static_cast<int>(task.action.Elements());
    wire_ = ListenForSimulators(ListeningWire(config_, 0), {.run_id = RunId(config_),
                                                            .specs = specs_,
                                                            .config_hash = AgreementHash(config_),
                                                            .total_envs = config_.TotalEnvs()});
    PinThread(simulator_cpu);  // the simulator inherits it
    simulator_ = std::make_unique<Child>(
        "simulator", std::vector<std::string>{RoleProgram("gripstream-sim"), config_.run.dir, "--launched"});
    PinThread(learner_cpu);
    wire_->WaitForSimulators(1, Deadline::After(kWait_s));
    fleet_ = std::make_unique<Fleet>(*wire_, kWait_s);
    store_ = std::make_unique<RolloutStore>(specs_, config_.ppo.horizon, fleet_->Envs(), action_size_);
  }
  ~Pair() { wire_->Stop("measured", Deadline::After(kWait_s)); }

  const PolicyConfig& PolicyOf() const { return config_.policy; }
  PolicyShapes Shapes() const { return ShapesFromSpecs(specs_, action_size_); }
  int Samples() const { return config_.ppo.horizon * config_.TotalEnvs(); }

  // Seconds of one rollout as training collects it, from the same states every time.
  double Collect(const Policy& policy) {
    Restart();
    CollectTimes times;
    const double start = SteadySeconds();
    const bool whole = CollectRollout(
        *fleet_, *store_,
        [&](int) {
          return Acting{&policy, 0};
        },
        0, times);
    const double seconds = SteadySeconds() - start;
    if (!whole) throw RunError("interrupted");
    return seconds;
  }

  // The same of the simulator alone: the actions of the last rollout once more, each group's next ones as soon as it is
  // done.
  double Simulate() {
    Restart();
    CollectTimes times;
    const double start = SteadySeconds();
    for (int t = 0; t < store_->Horizon(); ++t) {
      for (int group = 0; group < fleet_->Groups(); ++group) {
        if (t > 0) fleet_->Receive(group, *store_, t, times);
        fleet_->Step(group, store_->Action()[t], 0);
      }
    }
    fleet_->ReceiveAll(*store_, store_->Horizon(), times);
    return SteadySeconds() - start;
  }

  // The same of inference alone, on the last rollout's observations.
  double Infer(const Policy& policy) {
    const torch::Tensor action = at::empty({fleet_->Envs(), action_size_});
    const torch::Tensor mean = at::empty_like(action), log_std = at::empty_like(action);
    const torch::Tensor log_prob = at::empty({fleet_->Envs()}), value = at::empty({fleet_->Envs()});
    const double start = SteadySeconds();
    for (int t = 0; t < store_->Horizon(); ++t) {
      for (int group = 0; group < fleet_->Groups(); ++group) {
        ActOn(*fleet_, group, policy, ObservationAt(*store_, t), {.step = static_cast<uint64_t>(t)},
              {action, mean, log_std, log_prob, value, torch::Tensor()});
      }
    }
    return SteadySeconds() - start;
  }

 private:
  void Restart() {
    CollectTimes ignored;
    fleet_->Reset({}, 0);
    fleet_->ReceiveAll(*store_, 0, ignored);
  }
  RunConfig Configure(const std::string& mode) const {
    RunConfig config = ReadRunConfigText(kConfig, "bench pipeline", {"runtime.mode=" + mode});
    config.run.dir = folder_.Path();
    WriteFileAtomically(folder_.Path() + "/config.yaml", ToYaml(config));
    return config;
  }

  TemporaryFolder folder_;
  RunConfig config_;
  std::vector<TensorSpec> specs_;
  int action_size_ = 0;
  std::unique_ptr<LearnerEnd> wire_;
  std::unique_ptr<Child> simulator_;
  std::unique_ptr<Fleet> fleet_;
  std::unique_ptr<RolloutStore> store_;
};

// Medians over alternating rollouts, in seconds.
struct Figures {
  double lockstep_s, overlapped_s, simulation_s, inference_s;
  double Slower() const { return std::max(simulation_s, inference_s); }
};

class Bench {
 public:
  Bench(double seconds, int simulator_cpu, int learner_cpu)
      : seconds_(seconds),
        lockstep_("lockstep", simulator_cpu, learner_cpu),
        overlapped_("double_buffered", simulator_cpu, learner_cpu) {}

  std::vector<BenchRow> Rows() {
    const int small = overlapped_.PolicyOf().encoder.channels.front();
    const int balanced = BalancedChannels(small);
    std::vector<BenchRow> rows;
    Add(rows, "simulation slower", small, false);
    Add(rows, "balanced", balanced, true);
    Add(rows, "inference slower", 2 * balanced, false);
    return rows;
  }

 private:
  // A network whose time grows with its filters, first layer and second.
  Policy PolicyWith(int channels) const {
    PolicyConfig config = overlapped_.PolicyOf();
    config.encoder.channels = {channels, 2 * channels};
    return Policy(config, overlapped_.Shapes(), 1);
  }

  // With as many filters inference takes as long as simulation. Grows until it is beyond, then between the two.
  int BalancedChannels(int channels) {
    overlapped_.Collect(PolicyWith(channels));
    const auto simulation_s = [&] { return MedianOf([&] { return overlapped_.Simulate(); }); };
    const auto inference_s = [&](int c) {
      const Policy policy = PolicyWith(c);
      return MedianOf([&] { return overlapped_.Infer(policy); });
    };
    const double wanted_s = simulation_s();
    int low = channels, high = channels;
    double low_s = inference_s(low), high_s = low_s;
    while (high_s < wanted_s && high < 1024) low = high, low_s = high_s, high_s = inference_s(high *= 2);
    if (high == low) return low;
    const double part = (wanted_s - low_s) / (high_s - low_s);
    return low + static_cast<int>(std::lround(part * (high - low)));
  }

  static double MedianOf(const std::function<double()>& once) {
    std::vector<double> seconds;
    for (int i = 0; i < 3; ++i) seconds.push_back(once());
    return Median(seconds);
  }

  Figures Measure(const Policy& policy) {
    std::vector<double> lockstep, overlapped, simulation, inference;
    overlapped_.Collect(policy), lockstep_.Collect(policy);  // warm-up
    double spent_s = 0;
    for (int round = 0; round < kLeastRounds || spent_s < 4 * seconds_; ++round) {
      const double start = SteadySeconds();
      lockstep.push_back(lockstep_.Collect(policy));
      overlapped.push_back(overlapped_.Collect(policy));
      simulation.push_back(overlapped_.Simulate());
      inference.push_back(overlapped_.Infer(policy));
      spent_s += SteadySeconds() - start;
    }
    return {Median(lockstep), Median(overlapped), Median(simulation), Median(inference)};
  }

  void Add(std::vector<BenchRow>& rows, const std::string& name, int channels, bool balanced) {
    const Figures figures = Measure(PolicyWith(channels));
    const double samples = overlapped_.Samples(), ours = samples / figures.overlapped_s;
    char alone[160];
    std::snprintf(alone, sizeof(alone), "slower alone: simulation %.0f, inference %.0f (filters %d, %d)",
                  samples / figures.simulation_s, samples / figures.inference_s, channels, 2 * channels);
    rows.push_back({"pipeline." + name, ours, samples / figures.Slower(), alone,
                    figures.Slower() / figures.overlapped_s, 0.9, "steps/s", ""});
    const double at_best = (figures.simulation_s + figures.inference_s) / figures.Slower();
    char lockstep[80];
    std::snprintf(lockstep, sizeof(lockstep), "lock-step; at best %.2f", at_best);
    rows.push_back({"pipeline." + name + " beside lock-step", ours, samples / figures.lockstep_s, lockstep,
                    figures.lockstep_s / figures.overlapped_s, balanced ? 1.5 : 1.0, "steps/s", ""});
  }

  double seconds_;
  Pair lockstep_, overlapped_;
};

}  // namespace

std::vector<BenchRow> BenchPipeline(double seconds) {
  const std::vector<int> cpus = AllowedCpus();
  if (cpus.size() < 2) return {{"pipeline", kNan, kNan, "", kNan, 0.9, "steps/s", "needs two CPUs"}};
  at::set_num_threads(1);
  return Bench(seconds, cpus[0], cpus[1]).Rows();
}

}  // namespace gripstream
