#include "launch/bench_gradients.h"

#include <sys/socket.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include "core/clock.h"
#include "core/error.h"
#include "core/files.h"
#include "core/statistics.h"
#include "launch/bench_rows.h"
#include "launch/bench_trainee.h"
#include "launch/child.h"
#include "launch/role_plan.h"
#include "launch/slow_link.h"
#include "launch/temporary_folder.h"
#include "learner/group.h"

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

PolicyConfig Networks(const Case& which) {
  PolicyConfig config;
  config.encoder.features = which.features;
  config.actor_hidden = config.critic_hidden = {which.width, which.width};
  config.inference_chunk = kEnvs;
  return config;
}

PpoConfig Updates() {
  PpoConfig config;
  config.horizon = kHorizon;
  config.minibatch = 2 * kHorizon * kEnvs / kMinibatches;
  config.epochs = 1;
  config.threads = 1;
  config.schedule.kind = "fixed";
  config.lr = 1e-5;
  return config;
}

BenchRow Measure(const Case& which, const LearnerGroup& group, double seconds, const std::string& link) {
  const std::vector<TensorSpec> specs = NoiseSpecs(128, 160, 48, 64);
  const auto trainee = [&](GradientDelay delay) {
    return BenchTrainee(Networks(which), Updates(), specs, kEnvs, kAction, group, delay);
  };
  BenchTrainee exact = trainee(GradientDelay::kNone), delayed = trainee(GradientDelay::kPredicted);
  const auto step_ms = [](BenchTrainee& learner) { return learner.Update_s() * 1e3 / kMinibatches; };
  std::vector<double> exact_ms, delayed_ms;
  const double start = SteadySeconds();
  for (bool more = true; more;) {
    exact_ms.push_back(step_ms(exact));
    delayed_ms.push_back(step_ms(delayed));
    const bool enough = exact_ms.size() > kLeastRounds && SteadySeconds() - start > 2 * seconds;
    more = group.Any(group.Leads() && !enough, "whether to go on");
  }
  const double ours = Median(delayed_ms), peer = Median(exact_ms);
  char name[120];
  std::snprintf(name, sizeof(name), "%s, %.1f MB, %s", which.name,
                static_cast<double>(exact.Trained().Network().Parameters().Count()) * 4e-6, link.c_str());
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
