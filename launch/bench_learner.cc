#include "launch/bench_learner.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <string>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/statistics.h"
#include "launch/bench_trainee.h"
#include "launch/program_output.h"
#include "replay/rollout_size.h"

namespace gripstream {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kRounds = 3;  // of everybody in turn
constexpr int kProprio = 128, kState = 160, kActions = 22, kHorizon = 16, kMinibatch = 1024, kEpochs = 4;
constexpr int kBatches[] = {16, 64, 256, 1024};
constexpr double kPeerStart_s = 120;

// As tools/bench_learners.py has it too.
struct Case {
  const char* name;
  const char* title;
  int envs, height_px, width_px;
  double goal;
};
constexpr Case kCases[] = {{"mlp", "MLP 256-128 on 160 numbers", 256, 0, 0, 1.3},
                           {"cnn", "CNN on 64x48 depth, MLP critic", 128, 48, 64, 1.2}};

PolicyConfig Networks(const Case& which, int chunk) {
  PolicyConfig config;
  config.name = which.height_px > 0 ? "depth_cnn" : "state_mlp";
  config.actor_hidden = config.critic_hidden = {256, 128};
  config.aux.enabled = false;
  config.inference_chunk = chunk;
  return config;
}

PpoConfig Updates() {
  PpoConfig config;
  config.horizon = kHorizon;
  config.minibatch = kMinibatch;
  config.epochs = kEpochs;
  config.threads = 1;
  config.schedule.kind = "fixed";
  config.lr = 1e-5;
  return config;
}

std::vector<TensorSpec> Specs(const Case& which) {
  return NoiseSpecs(kProprio, kState, which.height_px, which.width_px);
}

// What a framework took in one round: samples/s of updates (all epochs), and milliseconds to act by batch size.
struct Round {
  double update = kNaN;
  std::map<int, double> act_ms;
};

// Of the process, which works on one thread: other programs hardly disturb it.
double ProcessorSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double TimePer(double seconds, const auto& work) {
  work();  // what is made once
  const double start = ProcessorSeconds();
  int times = 0;
  double taken = 0;
  do {
    work();
    ++times;
    taken = ProcessorSeconds() - start;
  } while (taken < seconds);
  return taken / times;
}

Round Ours(const Case& which, double seconds) {
  const LearnerGroup alone;
  Round round;
  BenchTrainee trainee(Networks(which, which.envs), Updates(), Specs(which), which.envs, kActions, alone);
  const double samples = kHorizon * which.envs * kEpochs;
  round.update = samples / TimePer(seconds, [&] { trainee.Update_s(); });
  for (const int batch : kBatches) {
    PpoConfig one = Updates();
    one.horizon = one.minibatch = 1;
    BenchTrainee actor(Networks(which, batch), one, Specs(which), batch, kActions, alone);
    round.act_ms[batch] = 1e3 * TimePer(seconds / std::size(kBatches), [&] { actor.Act(0); });
  }
  return round;
}

// Samples/s of what no PPO can do without on these networks: forward, backward and the optimiser, on inputs that are
// there already.
double Bare(const Case& which, double seconds) {
  const LearnerGroup alone;
  BenchTrainee trainee(Networks(which, which.envs), Updates(), Specs(which), which.envs, kActions, alone);
  Policy& policy = trainee.Trained();
  const RolloutStore& store = trainee.Store();
  const int micro = std::min(kMinibatch, Updates().micro_batch);
  std::vector<int64_t> rows(static_cast<size_t>(micro));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  const auto flat = [&](const char* name) { return store.Record(name).narrow(0, 0, kHorizon).flatten(0, 1); };
  Observation seen{.proprio = flat("obs.proprio"), .state = flat("state")};
  if (which.height_px > 0) seen.depth = flat("obs.depth");
  const NetworkInput input = policy.Gather(seen, rows);
  Adam adam(policy.Network().Parameters(), 0.9, 0.999, 1e-8);
  return kMinibatch / TimePer(seconds, [&] {
           adam.ZeroGradients();
           for (int begin = 0; begin < kMinibatch; begin += micro) {
             const torch::Tensor mean = policy.Network().Actor(input).mean;
             const torch::Tensor value = policy.Network().Critic(input).value;
             (mean.square().mean() + value.square().mean()).backward();
           }
           adam.Step(1e-5, 1.0);
         });
}

std::string PeerPython() {
  return std::string(GRIPSTREAM_PEERS_DIR) + "/bin/python";
}

// Empty, or why a framework was not measured.
std::string Theirs(const char* framework, const Case& which, double seconds, Round& round) {
  const ProgramOutput output = RunProgram({PeerPython(), std::string(GRIPSTREAM_TOOLS_DIR) + "/bench_learners.py",
                                           framework, which.name, std::to_string(seconds)},
                                          Deadline::After(kPeerStart_s + 20 * seconds));
  if (output.code == kNeverEnded) return "did not end in time";
  std::istringstream line(output.LastLine());
  if (output.code != 0 || !(line >> round.update)) return "failed: " + output.LastLine();
  for (int batch = 0; line >> batch >> round.act_ms[batch];) {
  }
  return "";
}

struct Peer {
  const char* name;
  const char* title;
  std::vector<Round> rounds{};
  std::string why{};
};

double MedianUpdate(const std::vector<Round>& rounds) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(round.update);
  return values.empty() ? kNaN : Median(values);
}

double MedianAct(const std::vector<Round>& rounds, int batch) {
  std::vector<double> values;
  for (const Round& round : rounds) {
    if (round.act_ms.contains(batch)) values.push_back(round.act_ms.at(batch));
  }
  return values.empty() ? kNaN : Median(values);
}

// The buffer's bytes a sample beside the arithmetic of its layout.
BenchRow BufferRow(const Case& which) {
  const std::vector<TensorSpec> specs = Specs(which);
  const double samples = kHorizon * which.envs;
  const double real = static_cast<double>(RolloutStore(specs, kHorizon, which.envs, kActions).Bytes()) / samples;
  const double arithmetic =
      static_cast<double>(RolloutBytes(specs, kHorizon, kActions, ImageStorage::kAsRecorded)) / kHorizon;
  return {
      std::string(which.title) + ": buffer", real, arithmetic, "arithmetic", arithmetic / real, 1.0, "B/sample", ""};
}

void Measure(const Case& which, double seconds, std::vector<BenchRow>& rows) {
  std::vector<Round> ours;
  std::vector<double> bare;
  std::vector<Peer> peers = {{"sb3", "Stable-Baselines3"}, {"rsl_rl", "rsl_rl"}};
  const bool there = std::filesystem::exists(PeerPython());
  for (int i = 0; i < kRounds; ++i) {
    if (Interrupted()) throw RunError("interrupted");
    ours.push_back(Ours(which, seconds));
    bare.push_back(Bare(which, seconds));
    for (Peer& peer : peers) {
      if (!there) peer.why = "tools/bench_peers.sh installs it";
      if (!peer.why.empty()) continue;
      Round round;
      peer.why = Theirs(peer.name, which, seconds, round);
      if (peer.why.empty()) peer.rounds.push_back(round);
    }
  }
  const std::string title = which.title;
  const double update = MedianUpdate(ours), limit = Median(bare);
  rows.push_back({title + ": update", update, limit, "forward, backward, Adam", update / limit, 0.9, "samples/s", ""});
  for (const Peer& peer : peers) {
    const double theirs = MedianUpdate(peer.rounds);
    rows.push_back(
        {title + ": update", update, theirs, peer.title, update / theirs, which.goal, "samples/s", peer.why});
  }
  for (const int batch : kBatches) {
    for (const Peer& peer : peers) {
      const double act = MedianAct(ours, batch), theirs = MedianAct(peer.rounds, batch);
      rows.push_back({title + ": acting for " + std::to_string(batch), act, theirs, peer.title, theirs / act, kNaN,
                      "ms", peer.why});
    }
  }
  rows.push_back(BufferRow(which));
}

}  // namespace

std::vector<BenchRow> BenchLearner(double seconds) {
  std::vector<BenchRow> rows;
  for (const Case& which : kCases) Measure(which, seconds, rows);
  return rows;
}

}  // namespace gripstream
