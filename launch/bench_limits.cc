#include "launch/bench_limits.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <limits>

#include "core/clock.h"
#include "core/cpus.h"
#include "core/statistics.h"
#include "launch/roles.h"
#include "policies/network.h"
#include "policies/operations.h"

namespace gripstream {
namespace {

constexpr int kMatrix = 1024;

double ProductsPerSecond(double seconds) {
  at::set_num_threads(AvailableCpus());
  const at::Tensor a = at::rand({kMatrix, kMatrix}), b = at::rand({kMatrix, kMatrix});
  at::Tensor c = at::mm(a, b);
  std::vector<double> times;
  for (const double start = SteadySeconds(); times.size() < 3 || SteadySeconds() - start < seconds;) {
    const double begin = SteadySeconds();
    at::mm_out(c, a, b);
    times.push_back(SteadySeconds() - begin);
  }
  return 2.0 * kMatrix * kMatrix * kMatrix / Median(times);
}

BenchRow Figure(const std::string& name, double value, const std::string& unit) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return {name, value, kNan, "", kNan, kNan, unit, "a limit, not a comparison"};
}

}  // namespace

std::vector<BenchRow> BenchLimits(const RunConfig& config, double seconds) {
  const TaskDescription task = DescribeTask(config);
  const PolicyShapes shapes = ShapesFromSpecs(task.record, static_cast<int>(task.action.Elements()));
  // Colour encoders have convolutions of several kinds, which are not counted.
  if (config.policy.name == "rgb") {
    return {Figure("limits.matrix_products", ProductsPerSecond(seconds), "operations/s")};
  }
  const ActorCritic networks(config.policy, shapes, config.run.seed);
  const ParameterSet& parameters = networks.Parameters();
  const EncoderConfig& encoder = config.policy.encoder;
  return {Figure("limits.matrix_products", ProductsPerSecond(seconds), "operations/s"),
          Figure("limits.acting", ForwardOperations(parameters, encoder, shapes), "operations"),
          Figure("limits.training", TrainingOperations(parameters, encoder, shapes), "operations")};
}

}  // namespace gripstream
