#include "distill/distiller.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/trace.h"
#include "learner/collector.h"
#include "learner/report.h"
#include "learner/torch_process.h"

namespace gripstream {
namespace {

constexpr double kNormEpsilon = 1e-12;  // under the root, so that an error of 0 has a gradient

// Norm over components: [R, C] -> [R].
torch::Tensor Norm(const torch::Tensor& x) {
  return (x.square().sum(-1) + kNormEpsilon).sqrt();
}

}  // namespace

struct Distiller::Labels {
  torch::Tensor mean, std;  // [T, N, A]
};

Distiller::Distiller(const DistillConfig& config, Teacher teacher, Policy& student, int envs, int threads,
                     const LearnerGroup& group)
    : config_(config),
      teacher_(std::move(teacher)),
      student_(student),
      group_(group),
      envs_(envs),
      adam_(student.Network().Parameters()),
      gradient_sum_(group, student.Network().Parameters(), adam_.Gradients(), kBucketNumbers) {
  PrepareTorch(threads);
  const int64_t remembered = teacher_.policy.MemorySize();
  if (remembered > 0) teacher_memory_ = at::zeros({envs, remembered}, torch::kFloat32);
}

void Distiller::Check(const std::function<EvaluationResult(const Policy&)>& evaluate) {
  const EvaluationResult result = evaluate(teacher_.policy);
  LogInfo("teacher ", teacher_.name, ": ", FormatSuccess(result), ", return ", result.return_mean);
  if (!teacher_.judged) {
    LogWarning("its own run has no evaluation of this very checkpoint to compare with");
    return;
  }
  const double off = std::abs(result.return_mean - teacher_.recorded_return);
  if (off <= config_.teacher_tolerance * std::max(std::abs(teacher_.recorded_return), 1e-3)) return;
  throw RunError("the teacher " + teacher_.name + " has a return of " + std::to_string(result.return_mean) +
                 " here, but " + std::to_string(teacher_.recorded_return) +
                 " in its own run: does it see the same task, cameras and noise? (distill.teacher_tolerance = " +
                 std::to_string(config_.teacher_tolerance) + ")");
}

void Distiller::TakeIntoNormalizers(const RolloutStore& store, int64_t rows) {
  const ActorCritic& network = student_.Network();
  const auto part = [&](const char* name) { return store.Record(name).narrow(0, 0, rows); };
  NormalizerRows seen{.proprio = part(kProprioTensor), .state = part(kStateTensor)};
  if (network.UsesDepth()) seen.depth = part(kDepthTensor);
  if (network.HasAux()) seen.aux = part(kAuxTensor);
  MergeEverybodys(group_, seen, student_);
}

void Distiller::Prime(const RolloutStore& store) {
  TakeIntoNormalizers(store, 1);
}

// What the teacher would have done at each step of the rollout.
Distiller::Labels Distiller::Ask(const RolloutStore& store) {
  const TraceSpan span("ask the teacher");
  Labels labels{at::empty_like(store.Mean()), at::empty_like(store.LogStd())};
  for (int t = 0; t < store.Horizon(); ++t) {
    teacher_.policy.Act(ObservationAt(store, t), {.sample = false, .memory = teacher_memory_},
                        {.mean = labels.mean[t], .log_std = labels.std[t], .memory = teacher_memory_});
  }
  labels.std.exp_();
  return labels;
}

DistillMetrics Distiller::Update(RolloutStore& store, int64_t iteration) {
  const TraceSpan span("update");
  GS_CHECK(store.Horizon() == config_.sequence && store.Envs() == envs_, "a rollout of another size");
  const Labels labels = Ask(store);
  DistillMetrics metrics;
  adam_.ZeroGradients();
  for (int64_t begin = 0; begin < envs_; begin += config_.micro_batch) {
    const int64_t count = std::min<int64_t>(config_.micro_batch, envs_ - begin);
    if (begin + count == envs_) gradient_sum_.ExpectLastPass();
    Accumulate(store, labels, begin, count, metrics);
  }
  gradient_sum_.Finish();
  metrics.grad_norm = adam_.Step(config_.lr, config_.max_grad_norm);
  if (!std::isfinite(metrics.grad_norm)) {
    throw RunError("distillation diverged: gradients are not finite at iteration " + std::to_string(iteration));
  }
  TakeIntoNormalizers(store, store.Horizon());
  const std::array<double*, 4> shared = {&metrics.action_loss, &metrics.std_loss, &metrics.aux_loss,
                                         &metrics.action_error};
  for (double* value : shared) *value = group_.SumOf(*value, "losses");
  return metrics;
}

// Adds these environments' share of the gradient of the mean over all learners' samples.
void Distiller::Accumulate(const RolloutStore& store, const Labels& labels, int64_t begin, int64_t count,
                           DistillMetrics& metrics) {
  const int64_t steps = store.Horizon();
  std::vector<int64_t> rows;
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t env = begin; env < begin + count; ++env) rows.push_back(t * envs_ + env);
  }
  const auto flat = [&](const char* name) { return store.Record(name).narrow(0, 0, steps).flatten(0, 1); };
  const auto part = [&](const torch::Tensor& x) { return x.narrow(1, begin, count).flatten(0, 1); };
  const ActorCritic& network = student_.Network();
  Observation seen{.proprio = flat(kProprioTensor), .state = flat(kStateTensor), .done = flat("done")};
  if (network.UsesDepth()) seen.depth = flat(kDepthTensor);
  if (network.UsesRgb()) seen.rgb = flat(kRgbTensor);
  NetworkInput input = student_.Gather(seen, rows);
  if (student_.MemorySize() > 0) input.memory = store.MemoryBefore(0).narrow(0, begin, count);
  const ActorOutput actor = network.Actor(input);

  const double share = 1.0 / static_cast<double>(steps * envs_ * group_.Size());
  const torch::Tensor error = actor.mean - part(labels.mean), std = part(labels.std);
  const auto add = [&](const torch::Tensor& per_sample, double coefficient, double& metric) {
    const torch::Tensor mean = per_sample.sum() * share;
    metric += mean.item<double>();
    return coefficient * mean;
  };
  torch::Tensor loss = add(Norm(error / std.clamp_min(config_.sigma_floor)), 1.0, metrics.action_loss);
  loss = loss + add(Norm(actor.log_std.exp() - std), config_.std_coef, metrics.std_loss);
  if (network.HasAux()) {
    const torch::Tensor target = part(store.Record(kAuxTensor).narrow(0, 0, steps));
    loss = loss + add(Norm(student_.DenormaliseAux(actor.aux) - target), config_.aux_coef, metrics.aux_loss);
  }
  loss.backward();
  metrics.action_error += error.detach().abs().mean(-1).sum().item<double>() * share;
}

Metrics Distiller::Learn(RolloutStore& store, int64_t iteration) {
  const DistillMetrics update = Update(store, iteration);
  return {{"distill/action_loss", update.action_loss},
          {"distill/std_loss", update.std_loss},
          {"distill/aux_loss", update.aux_loss},
          {"distill/action_error", update.action_error},
          {"distill/grad_norm", update.grad_norm}};
}

std::vector<NamedTensor> Distiller::State() const {
  return adam_.State();
}

void Distiller::SetState(const std::vector<NamedTensor>& state) {
  adam_.SetState(state);
}

torch::Tensor Distiller::Memory() const {
  return teacher_memory_;
}

}  // namespace gripstream
