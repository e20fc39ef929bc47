#include "launch/bench_classic.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "core/interrupt.h"
#include "core/log.h"
#include "launch/classic_task.h"
#include "launch/program_output.h"
#include "learner/ppo.h"
#include "policies/inference.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kSeeds = 5, kEnvs = 8, kHorizon = 256, kEvaluationEpisodes = 20;
constexpr double kStudent = 2.776;  // 97.5 % quantile of t with kSeeds - 1 degrees of freedom
constexpr double kLongestPeer_s = 3600;

struct Case {
  const char* name;
  int iterations;
};
// As tools/bench_classic.py is told.
constexpr Case kCases[] = {{"inverted_pendulum", 30}, {"half_cheetah", 50}};

std::string PeerPython() {
  return std::string(GRIPSTREAM_PEERS_DIR) + "/bin/python";
}

// gymnasium's models, as EnvPool brings them; empty: not installed.
std::string ModelFolder() {
  std::error_code error;
  for (const auto& python : fs::directory_iterator(std::string(GRIPSTREAM_PEERS_DIR) + "/lib", error)) {
    const fs::path folder = python.path() / "site-packages/envpool_assets/mujoco/assets_gym";
    if (fs::exists(folder, error)) return folder.string();
  }
  return "";
}

// Stable-Baselines3's defaults, but for the number of samples per rollout and the observations, which both normalise.
PolicyConfig Networks() {
  PolicyConfig config;
  config.name = "state_mlp";
  config.actor_hidden = config.critic_hidden = {64, 64};
  config.activation = "tanh";
  config.aux.enabled = false;
  config.init_std = 1;
  config.observation_clip = 10;
  config.inference_chunk = kEnvs;
  return config;
}

PpoConfig Hyperparameters() {
  PpoConfig config;
  config.horizon = kHorizon;
  config.minibatch = 64;
  config.epochs = 10;
  config.clip_value = false;
  config.value_coef = 1;  // of half the square: their 0.5 of the square
  config.entropy_coef = config.bounds_coef = 0;
  config.max_grad_norm = 0.5;
  config.lr = 3e-4;
  config.schedule.kind = "fixed";
  config.threads = 1;
  return config;
}

class Ours {
 public:
  Ours(const std::string& task, const std::string& models, uint64_t seed)
      : name_(task),
        models_(models),
        task_(ClassicModelOf(task), models, seed, kEnvs),
        policy_(Networks(), ShapesFromSpecs(task_.Specs(), task_.Actions()), seed),
        ppo_(Hyperparameters(), policy_, kEnvs, seed, 1'000'000, alone_),
        store_(task_.Specs(), kHorizon, kEnvs, task_.Actions()) {
    task_.Reset();
    task_.Write(store_, 0);
    ppo_.Prime(store_);
  }

  void Iterate() {
    for (int t = 0; t < kHorizon; ++t) {
      Act(policy_, store_, t, static_cast<uint64_t>(iteration_) * kHorizon + static_cast<uint64_t>(t), true);
      task_.Step(store_.Action()[t].data_ptr<float>());
      task_.Write(store_, t + 1);
    }
    ppo_.Update(store_, iteration_++);
    store_.BeginAfter(store_);
  }

  // Mean return of one episode in each of some environments that training has not seen.
  double Evaluate() const {
    ClassicTask fresh(ClassicModelOf(name_), models_, 4242, kEvaluationEpisodes);
    RolloutStore seen(fresh.Specs(), 1, kEvaluationEpisodes, fresh.Actions());
    std::vector<std::optional<double>> returns(kEvaluationEpisodes);
    fresh.Reset();
    fresh.Write(seen, 0);
    while (std::ranges::any_of(returns, [](const auto& value) { return !value; }) && !Interrupted()) {
      Act(policy_, seen, 0, 0, false);
      fresh.Step(seen.Action()[0].data_ptr<float>());
      fresh.Write(seen, 0);
      for (const ClassicTask::Ended& ended : fresh.TakeEnded()) {
        auto& first = returns[static_cast<size_t>(ended.env)];
        if (!first) first = ended.total_reward;
      }
    }
    double sum = 0;
    for (const auto& value : returns) sum += value.value_or(kNaN);
    return sum / kEvaluationEpisodes;
  }

 private:
  static void Act(const Policy& policy, RolloutStore& store, int t, uint64_t step, bool sample) {
    policy.Act(ObservationAt(store, t), {.step = step, .sample = sample},
               {.action = store.Action()[t],
                .mean = store.Mean()[t],
                .log_std = store.LogStd()[t],
                .log_prob = store.LogProb()[t],
                .value = store.Value()[t]});
  }

  std::string name_, models_;
  LearnerGroup alone_;
  ClassicTask task_;
  Policy policy_;
  Ppo ppo_;
  RolloutStore store_;
  int64_t iteration_ = 0;
};

double TheirReturn(const Case& which, int iterations, int seed, std::string& why) {
  const ProgramOutput output =
      RunProgram({PeerPython(), std::string(GRIPSTREAM_TOOLS_DIR) + "/bench_classic.py", which.name,
                  std::to_string(iterations * kHorizon * kEnvs), std::to_string(seed)},
                 Deadline::After(kLongestPeer_s));
  double value = kNaN;
  if (output.code != 0 || std::sscanf(output.LastLine().c_str(), "%lf", &value) != 1)
    why = "Stable-Baselines3 failed: " + output.LastLine();
  return value;
}

struct Mean {
  double mean = 0, half_width = 0;
};

Mean MeanOf(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, kStudent * std::sqrt(squares / (n - 1) / n)};
}

std::string Words(const Mean& mean) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.0f +- %.0f", mean.mean, mean.half_width);
  return text;
}

BenchRow Compare(const Case& which, const std::string& models, double scale) {
  const int iterations = std::max(1, static_cast<int>(std::lround(which.iterations * scale)));
  std::vector<double> ours, theirs;
  std::string why;
  for (int seed = 1; seed <= kSeeds && !Interrupted() && why.empty(); ++seed) {
    Ours learner(which.name, models, static_cast<uint64_t>(seed));
    for (int i = 0; i < iterations && !Interrupted(); ++i) learner.Iterate();
    ours.push_back(learner.Evaluate());
    theirs.push_back(TheirReturn(which, iterations, seed, why));
    LogInfo(which.name, ", seed ", seed, ": ours ", ours.back(), ", Stable-Baselines3 ", theirs.back());
  }
  BenchRow row{std::string("classic.") + which.name, kNaN, kNaN, "Stable-Baselines3", kNaN, 1.0, "return", why};
  if (!why.empty() || ours.size() < kSeeds) return row;
  const Mean we = MeanOf(ours), they = MeanOf(theirs);
  const bool as_good = we.mean + we.half_width >= they.mean - they.half_width;
  row.ours = we.mean, row.peer = they.mean;
  row.ratio = as_good ? std::max(1.0, we.mean / they.mean) : we.mean / they.mean;
  row.why = Words(we) + " against " + Words(they) + ", " + std::to_string(iterations * kHorizon * kEnvs) + " samples";
  return row;
}

}  // namespace

std::vector<BenchRow> BenchClassic(double scale) {
  const std::string models = ModelFolder();
  std::vector<BenchRow> rows;
  for (const Case& which : kCases) {
    if (models.empty()) {
      rows.push_back({std::string("classic.") + which.name, kNaN, kNaN, "Stable-Baselines3", kNaN, 1.0, "return",
                      "tools/bench_peers.sh has not been run"});
    } else {
      rows.push_back(Compare(which, models, scale));
    }
  }
  return rows;
}

}  // namespace gripstream
