#include "launch/bench_gradients.h"

#include <sys/socket.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include "core/clock.h"
#include "core/error.h"
#include "core/files.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "launch/bench_rows.h"
#include "launch/child.h"
#include "launch/role_plan.h"
#include "launch/slow_link.h"
#include "launch/temporary_folder.h"
#include "learner/group.h"
#include "learner/ppo.h"
#include "policies/inference.h"
#include "policies/initialise.h"
#include "replay/rollout.h"

namespace gripstream {
namespace {

constexpr int kHorizon = 4, kEnvs = 96, kAction = 22, kMinibatches = 4;  // of 192 samples, half on each learner
constexpr double kJoin_s = 60, kLongest_s = 1800;
constexpr int kLeastRounds = 3;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Case {
  const char* name;
  int features, width;
};
constexpr Case kCases[] = {{"the quick start's network", 128, 128}, {"a wide network", 256, 512}};

std::vector<TensorSpec> Specs() {
  return {{"obs.proprio", DType::kFloat32, {128}, "", 1.0},
          {"obs.depth", DType::kUint16, {48, 64}, "m", 1e-4},
          {"state", DType::kFloat32, {160}, "", 1.0},
          {"final_state", DType::kFloat32, {160}, "", 1.0},
          {"aux.object_position", DType::kFloat32, {3}, "m", 1.0},
          {"reward", DType::kFloat32, {}, "", 1.0},
          {"done", DType::kUint8, {}, "", 1.0}};
}

// A learner with a rollout of noise, whose updates are timed.
class Trainee {
 public:
  Trainee(const Case& which, const LearnerGroup& group, GradientDelay delay)
      : policy_(Networks(which), ShapesFromSpecs(Specs(), kAction), 1),
        ppo_(Update(), policy_, kEnvs, 1, 1'000'000, group, delay),
        store_(Specs(), kHorizon, kEnvs, kAction) {
    const RandomStream noise(7, "rollout");
    const auto rank = static_cast<uint32_t>(group.Rank());
    uint32_t index = 0;
    for (const char* name : {"obs.proprio", "state", "final_state", "aux.object_position", "reward"}) {
      torch::Tensor rows = store_.Record(name);
      rows.copy_(NormalTensor(noise.At(rank, index++), rows.sizes().vec(), 1.0));
    }
    store_.Record("obs.depth").copy_(NormalTensor(noise.At(rank, index), {kHorizon + 1, kEnvs, 48, 64}, 1000.0).abs());
    store_.Record("done").zero_();
    ppo_.Prime(store_);
    for (int t = 0; t < kHorizon; ++t) {
      policy_.Act({store_.Step("obs.proprio", t), store_.Step("obs.depth", t), store_.Step("state", t)},
                  {.first_env = rank * kEnvs, .step = static_cast<uint64_t>(t)},
                  {.action = store_.Action()[t],
                   .mean = store_.Mean()[t],
                   .log_std = store_.LogStd()[t],
                   .log_prob = store_.LogProb()[t],
                   .value = store_.Value()[t]});
    }
  }

  // Milliseconds per gradient step of one update.
  double Step_ms() { return ppo_.Update(store_, iteration_++).seconds * 1e3 / kMinibatches; }
  double Megabytes() const { return static_cast<double>(policy_.Network().Parameters().Count()) * 4e-6; }

 private:
  static PolicyConfig Networks(const Case& which) {
    PolicyConfig config;
    config.encoder.features = which.features;
    config.actor_hidden = config.critic_hidden = {which.width, which.width};
    config.inference_chunk = kEnvs;
    return config;
  }
  static PpoConfig Update() {
    PpoConfig config;
    config.horizon = kHorizon;
    config.minibatch = 2 * kHorizon * kEnvs / kMinibatches;
    config.epochs = 1;
    config.threads = 1;
    config.schedule.kind = "fixed";
    config.lr = 1e-5;
    return config;
  }

  Policy policy_;
  Ppo ppo_;
  RolloutStore store_;
  int64_t iteration_ = 0;
};

BenchRow Measure(const Case& which, const LearnerGroup& group, double seconds, const std::string& link) {
  Trainee exact(which, group, GradientDelay::kNone), delayed(which, group, GradientDelay::kPredicted);
  std::vector<double> exact_ms, delayed_ms;
  const double start = SteadySeconds();
  for (bool more = true; more;) {
    exact_ms.push_back(exact.Step_ms());
    delayed_ms.push_back(delayed.Step_ms());
    const bool enough = exact_ms.size() > kLeastRounds && SteadySeconds() - start > 2 * seconds;
    more = group.Any(group.Leads() && !enough, "whether to go on");
  }
  const double ours = Median(delayed_ms), peer = Median(exact_ms);
  char name[120];
  std::snprintf(name, sizeof(name), "%s, %.1f MB, %s", which.name, exact.Megabytes(), link.c_str());
  return {name, ours, peer, "exact gradients", peer / ours, 1.0, "ms a step", ""};
}

std::vector<BenchRow> NotMeasured(const std::string& why) {
  return {{"delayed gradients over 1 Gbit/s, 1 ms", kNaN, kNaN, "exact gradients", kNaN, 1.0, "ms a step", why}};
}

// The wire end that a learner passes on.
UniqueFd TakeEnd(int listener) {
  UniqueFd connection, end;
  for (const Deadline deadline = Deadline::After(kJoin_s); !connection;) {
    if (!WaitReadable(listener, deadline)) throw RunError("a learner of the benchmark does not come");
    connection = AcceptUnix(listener);
  }
  std::byte byte;
  size_t bytes = 0;
  if (!WaitReadable(connection.Get(), Deadline::After(kJoin_s)) ||
      ReceivePacket(connection.Get(), {&byte, 1}, bytes, end) != PacketResult::kDone || !end) {
    throw RunError("a learner of the benchmark passes no wire on");
  }
  return end;
}

}  // namespace

void BenchGradientsLearner(int rank, const std::string& folder, double seconds) {
  std::vector<BenchRow> rows;
  const UniqueFd relay = ConnectUnix(folder + "/relay", Deadline::After(kJoin_s));
  {
    const UniqueFd end = EnterSlowNetwork(rank);
    const std::byte byte{};
    if (SendPacket(relay.Get(), {&byte, 1}, end.Get()) != PacketResult::kDone) throw RunError("the relay has gone");
  }
  const LearnerGroup group(GroupOptions{
      .rank = rank, .size = 2, .rendezvous = folder + "/rendezvous", .network = kSlowNetwork, .join_s = kJoin_s});
  for (const Case& which : kCases) rows.push_back(Measure(which, group, seconds, "1 Gbit/s, 1 ms"));
  if (rank == 0) WriteFileAtomically(folder + "/rows.json", ToJson(rows));
  group.Any(false, "the end of the benchmark");
}

std::vector<BenchRow> BenchGradients(double seconds) {
  if (const std::string why = WhyNoSlowLink(); !why.empty()) return NotMeasured(why);
  const TemporaryFolder folder;
  const UniqueFd listener = ListenUnix(folder.Path() + "/relay", SOCK_SEQPACKET);
  std::vector<Child> learners;
  for (const char* rank : {"0", "1"}) {
    learners.emplace_back(std::string("learner ") + rank,
                          std::vector<std::string>{RoleProgram("gripstream-bench"), "gradients", "--seconds",
                                                   std::to_string(seconds), "--json", folder.Path(), "--rank", rank});
  }
  UniqueFd first = TakeEnd(listener.Get()), second = TakeEnd(listener.Get());
  const SlowLink link(std::move(first), std::move(second), {});
  const Deadline deadline = Deadline::After(kLongest_s);
  for (Child& learner : learners) {
    if (learner.EndBy(deadline) != kExitOk)
      throw RunError("the benchmark's " + learner.Name() + " failed: " + learner.HowItEnded());
  }
  return RowsFromJson(ReadText(folder.Path() + "/rows.json"));
}

}  // namespace gripstream
