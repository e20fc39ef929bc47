#include "learner/ppo.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/log.h"
#include "core/trace.h"
#include "learner/collector.h"
#include "learner/fused_loss.h"
#include "learner/gradient_norms.h"
#include "learner/ppo_loss.h"
#include "learner/torch_process.h"
#include "replay/returns.h"
#include "replay/sampler.h"

namespace gripstream {
namespace {

constexpr double kActionLimit = 1.1;  // means may lean a little beyond the clamp before BoundsLoss holds them back

torch::Tensor Flat(const torch::Tensor& x) {
  return x.flatten(0, 1);
}

std::span<const float> Floats(const torch::Tensor& x) {
  return {x.data_ptr<float>(), static_cast<size_t>(x.numel())};
}
std::span<float> MutableFloats(torch::Tensor& x) {
  return {x.data_ptr<float>(), static_cast<size_t>(x.numel())};
}

void AddTo(PpoMetrics& metrics, const FusedLossSums& sums) {
  metrics.policy_loss += sums.policy;
  metrics.entropy += sums.entropy;
  metrics.value_loss += sums.value;
  metrics.bounds_loss += sums.bounds;
  metrics.clip_fraction += sums.clip_fraction;
  metrics.action_std += sums.action_std;
}

}  // namespace

struct Ppo::Samples {
  Observation observation;
  torch::Tensor memory;                     // [T / L N, MemorySize()] before each sequence; undefined without memory
  torch::Tensor action, mean, log_std;      // [M, A]
  torch::Tensor log_prob, value;            // [M]
  torch::Tensor aux;                        // [M, aux] normalised; undefined without the head
  torch::Tensor advantage, target, weight;  // [M]; weight 0: faulted
  torch::Tensor all_weight;                 // [T N] of all learners
};

Ppo::Ppo(const PpoConfig& config, Policy& policy, int envs, uint64_t seed, int64_t iterations,
         const LearnerGroup& group, GradientDelay delay)
    : config_(config),
      policy_(policy),
      group_(group),
      envs_(envs),
      sequence_(config.SequenceOf(policy.MemorySize() > 0)),
      seed_(seed),
      adam_(policy.Network().Parameters()),
      gradient_sum_(group, policy.Network().Parameters(), adam_.Gradients(), kBucketNumbers),
      rate_(config, iterations) {
  const int64_t samples = static_cast<int64_t>(config.horizon) * envs * group.Size();
  if (samples % config.minibatch != 0) {
    throw InputError("configuration", "ppo.minibatch", std::to_string(config.minibatch),
                     "a divisor of horizon x environments = " + std::to_string(samples));
  }
  if (config.horizon % sequence_ != 0 || config.minibatch % sequence_ != 0) {
    throw InputError("configuration", "ppo.sequence", std::to_string(sequence_),
                     "a divisor of ppo.horizon = " + std::to_string(config.horizon) +
                         " and ppo.minibatch = " + std::to_string(config.minibatch));
  }
  if (delay != GradientDelay::kNone) delayed_.emplace(group, adam_, delay, kBucketNumbers);
  PrepareTorch(config.threads);
  if (config.lr_scaling != "none") {
    LogInfo("learning rates are multiplied by ", config.LearningRateScale(), " (ppo.lr_scaling ", config.lr_scaling,
            ", minibatch ", config.minibatch, " over ", config.lr_base_minibatch, ")");
  }
}

// One number per sample, [T n] of this learner -> [T N] of all, environments in order.
torch::Tensor Ppo::Everyones(const torch::Tensor& own) const {
  if (group_.Size() == 1) return own;
  return at::cat(group_.Gather(own.view({config_.horizon, envs_}), "samples"), 1).flatten();
}

torch::Tensor Ppo::OwnPart(const torch::Tensor& all) const {
  if (group_.Size() == 1) return all;
  return all.view({config_.horizon, -1}).narrow(1, int64_t{envs_} * group_.Rank(), envs_).contiguous().flatten();
}

// Which of all learners' sequences are held here, numbered as they are here. Sequence k N + n is steps [k L, (k + 1) L)
// of environment n.
std::vector<int64_t> Ppo::OwnSequences(std::span<const int64_t> all) const {
  const int64_t everyone = int64_t{envs_} * group_.Size(), first = int64_t{envs_} * group_.Rank();
  std::vector<int64_t> own;
  for (const int64_t sequence : all) {
    const int64_t env = sequence % everyone - first;
    if (env >= 0 && env < envs_) own.push_back(sequence / everyone * envs_ + env);
  }
  return own;
}

// The samples of these sequences, step after step: [L B] of samples that are numbered t N + n.
std::vector<int64_t> Ppo::RowsOf(std::span<const int64_t> sequences, int64_t envs) const {
  std::vector<int64_t> rows;
  rows.reserve(sequences.size() * static_cast<size_t>(sequence_));
  for (int64_t step = 0; step < sequence_; ++step) {
    for (const int64_t sequence : sequences) {
      rows.push_back((sequence / envs * sequence_ + step) * envs + sequence % envs);
    }
  }
  return rows;
}

// What a lost simulator has not sent is no observation, and what is carried is taken in the next rollout.
void Ppo::TakeRollout(const RolloutStore& store, const Samples& samples) {
  const torch::Tensor there = Flat(store.AfterAction("done")).lt(static_cast<int>(DoneKind::kLost));
  const bool all = there.all().item<bool>();
  const torch::Tensor rows = all ? torch::Tensor() : there.nonzero().flatten();
  const auto pick = [&](const torch::Tensor& x) {
    if (all || !x.defined()) return x;
    // LibTorch selects no rows of uint16.
    return x.scalar_type() == torch::kUInt16 ? x.view(torch::kInt16).index_select(0, rows).view(torch::kUInt16)
                                             : x.index_select(0, rows);
  };
  NormalizerRows seen{.proprio = pick(samples.observation.proprio),
                      .depth = pick(samples.observation.depth),
                      .state = pick(samples.observation.state),
                      .value = pick(samples.target)};
  if (policy_.Network().HasAux()) seen.aux = pick(Flat(store.Record(kAuxTensor).narrow(0, 0, store.Horizon())));
  MergeEverybodys(group_, seen, policy_);
}

void Ppo::Prime(const RolloutStore& store) {
  NormalizerRows rows{.proprio = store.Step(kProprioTensor, 0), .state = store.Step(kStateTensor, 0)};
  if (policy_.Network().UsesDepth()) rows.depth = store.Step(kDepthTensor, 0);
  if (policy_.Network().HasAux()) rows.aux = store.Step(kAuxTensor, 0);
  MergeEverybodys(group_, rows, policy_);
}

// Makes the current policy the one whose means, likelihoods, values and memories the store holds. Returns by how much
// more likely it would have taken each action than the one that did: log pi - log mu, [T, N]. Zero, to the bit, when it
// is the same. The memory after the last step stays: the next rollout, which may be under way, began with it.
torch::Tensor Ppo::Rejudge(RolloutStore& store) const {
  const torch::Tensor behaviour = store.LogProb().clone(), none;
  for (int t = 0; t < store.Horizon(); ++t) {
    policy_.Act(ObservationAt(store, t), {.memory = store.MemoryBefore(t), .taken = store.Action()[t]},
                {.mean = store.Mean()[t],
                 .log_std = store.LogStd()[t],
                 .log_prob = store.LogProb()[t],
                 .value = store.Value()[t],
                 .memory = t + 1 < store.Horizon() ? store.MemoryBefore(t + 1) : none});
  }
  return store.LogProb() - behaviour;
}

// Values of the last states of episodes that ran out of time, [T, N]; whatever elsewhere. A critic with memory has come
// as far as the step before: it is followed there from the last memory that was kept.
torch::Tensor Ppo::FinalValues(RolloutStore& store) const {
  const torch::Tensor values = at::zeros({store.Horizon(), envs_}, torch::kFloat32);
  torch::Tensor memory;
  int reached = 0;  // `memory` is that before this step
  for (int t = 0; t < store.Horizon(); ++t) {
    if (!store.Step("done", t + 1).eq(static_cast<int>(DoneKind::kTimedOut)).any().item<bool>()) continue;
    if (policy_.MemorySize() > 0) {
      const int kept = t / sequence_ * sequence_;
      if (!memory.defined() || reached < kept) {
        memory = store.MemoryBefore(kept).clone();
        reached = kept;
      }
      for (; reached <= t; ++reached) policy_.Values(ObservationAt(store, reached), memory, memory);
    }
    values.select(0, t).copy_(policy_.Values({.state = store.Step("final_state", t + 1)}, memory));
  }
  return values;
}

// `log_ratio` is that of Rejudge; undefined: the samples count as they are.
void Ppo::EstimateReturns(RolloutStore& store, const torch::Tensor& log_ratio, Samples& samples) const {
  const int horizon = store.Horizon();
  store.Value().select(0, horizon).copy_(policy_.Values(ObservationAt(store, horizon), store.MemoryBefore(horizon)));
  const torch::Tensor done = store.AfterAction("done"), reward = store.AfterAction("reward");
  const torch::Tensor final_value =
      config_.bootstrap_timeouts ? FinalValues(store) : at::zeros({horizon, envs_}, torch::kFloat32);
  const ReturnInputs inputs = {horizon,
                               envs_,
                               Floats(reward),
                               Floats(store.Value()),
                               {done.data_ptr<uint8_t>(), static_cast<size_t>(done.numel())},
                               Floats(final_value)};
  samples.advantage = at::empty({int64_t{horizon} * envs_}, torch::kFloat32);
  samples.target = at::empty_like(samples.advantage);
  const ReturnOptions options = {static_cast<float>(config_.gamma), static_cast<float>(config_.lambda),
                                 config_.bootstrap_timeouts};
  if (log_ratio.defined()) {
    VTrace(inputs, Floats(log_ratio), options,
           {static_cast<float>(config_.rho_clip), static_cast<float>(config_.c_clip)}, MutableFloats(samples.advantage),
           MutableFloats(samples.target));
  } else {
    Gae(inputs, options, MutableFloats(samples.advantage), MutableFloats(samples.target));
  }
  samples.weight = Flat(done).lt(static_cast<int>(DoneKind::kFaulted)).to(torch::kFloat32);
  samples.all_weight = Everyones(samples.weight);
  if (config_.normalise_advantages) {
    samples.advantage = OwnPart(Standardise(Everyones(samples.advantage), samples.all_weight));
  }
}

Ppo::Samples Ppo::Prepare(RolloutStore& store) const {
  const int64_t horizon = store.Horizon();
  const auto rows = [&](const char* name) { return Flat(store.Record(name).narrow(0, 0, horizon)); };
  const torch::Tensor log_ratio = config_.off_policy == "vtrace" ? Rejudge(store) : torch::Tensor();
  Samples samples;
  samples.observation.proprio = rows(kProprioTensor);
  samples.observation.state = rows(kStateTensor);
  samples.observation.done = rows("done");
  if (policy_.MemorySize() > 0) samples.memory = Flat(store.Memory().narrow(0, 0, horizon / sequence_));
  if (policy_.Network().UsesDepth()) samples.observation.depth = rows(kDepthTensor);
  if (policy_.Network().UsesRgb()) samples.observation.rgb = rows(kRgbTensor);
  if (policy_.Network().HasAux()) samples.aux = policy_.NormaliseAux(rows(kAuxTensor));
  samples.action = Flat(store.Action());
  samples.mean = Flat(store.Mean());
  samples.log_std = Flat(store.LogStd());
  samples.log_prob = Flat(store.LogProb());
  samples.value = Flat(store.Value().narrow(0, 0, horizon));
  EstimateReturns(store, log_ratio, samples);
  return samples;
}

PpoMetrics Ppo::Update(RolloutStore& store, int64_t iteration) {
  const TraceSpan span("update");
  const auto start = std::chrono::steady_clock::now();
  GS_CHECK(store.Horizon() == config_.horizon && store.Envs() == envs_, "a rollout of another size");
  Samples samples;
  {
    const TraceSpan preparing("estimate returns");
    const torch::NoGradGuard no_grad;
    samples = Prepare(store);
  }
  PpoMetrics metrics;
  rate_.BeginIteration(iteration);
  for (int epoch = 0; epoch < config_.epochs; ++epoch) {
    metrics.kl = RunEpoch(samples, iteration, epoch, metrics);
    rate_.EndEpoch(metrics.kl);
  }
  if (delayed_) metrics.grad_norm += delayed_->Flush(config_.max_grad_norm);
  RequireFinite(metrics.grad_norm, iteration, "last minibatch");
  if (!delayed_) metrics.module_norms = GradientNorms(policy_.Network().Parameters(), adam_.Gradients());
  Summarise(samples, metrics);
  TakeRollout(store, samples);
  metrics.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return metrics;
}

// Sums over gradient steps become means; what can be read off at the end is.
void Ppo::Summarise(const Samples& samples, PpoMetrics& metrics) const {
  const double steps = static_cast<double>(samples.all_weight.numel() / config_.minibatch * config_.epochs);
  const std::array<double*, 7> shared = {&metrics.policy_loss, &metrics.value_loss,    &metrics.bounds_loss,
                                         &metrics.aux_loss,    &metrics.clip_fraction, &metrics.entropy,
                                         &metrics.action_std};
  const torch::Tensor sums = at::empty({static_cast<int64_t>(shared.size())}, torch::kFloat64);
  for (size_t i = 0; i < shared.size(); ++i) sums.data_ptr<double>()[i] = *shared[i];
  group_.SumUp(sums, "losses");
  for (size_t i = 0; i < shared.size(); ++i) *shared[i] = sums.data_ptr<double>()[i] / steps;
  metrics.grad_norm /= steps;
  const torch::Tensor target = Everyones(samples.target), value = Everyones(samples.value);
  metrics.learning_rate = rate_.Value();
  metrics.return_mean = WeightedMean(target, samples.all_weight).item<double>();
  metrics.used_samples = samples.all_weight.sum().item<int64_t>();
  metrics.explained_variance = ExplainedVariance(value, target, samples.all_weight);
}

void Ppo::RequireFinite(double grad_norm, int64_t iteration, const std::string& where) const {
  if (std::isfinite(grad_norm)) return;
  throw RunError("training diverged: gradients are not finite at iteration " + std::to_string(iteration) + ", " +
                 where);
}

double Ppo::RunEpoch(const Samples& samples, int64_t iteration, int epoch, PpoMetrics& metrics) {
  const MinibatchSampler sampler(seed_, samples.all_weight.numel() / sequence_, config_.minibatch / sequence_);
  const std::vector<int64_t> order = sampler.Permutation(iteration, epoch);
  double kl = 0;
  for (int64_t k = 0; k < sampler.Minibatches(); ++k) {
    kl += TrainMinibatch(samples, sampler.Minibatch(order, k), metrics);
    RequireFinite(metrics.grad_norm, iteration, "epoch " + std::to_string(epoch) + ", minibatch " + std::to_string(k));
  }
  return group_.SumOf(kl, "divergence") / static_cast<double>(sampler.Minibatches());
}

// `all` are the minibatch's sequences, whoever holds them. Returns this learner's share of the divergence.
double Ppo::TrainMinibatch(const Samples& samples, std::span<const int64_t> all, PpoMetrics& metrics) {
  const TraceSpan span("minibatch");
  double weight = 0;
  for (const int64_t row : RowsOf(all, int64_t{envs_} * group_.Size())) {
    weight += samples.all_weight.data_ptr<float>()[row];
  }
  const std::vector<int64_t> own = OwnSequences(all);
  const std::span<const int64_t> sequences = own;
  if (delayed_) delayed_->BeforePasses(config_.max_grad_norm);
  adam_.ZeroGradients();
  double kl = 0;
  const size_t micro = static_cast<size_t>(std::max(1, config_.micro_batch / sequence_));
  for (size_t begin = 0; begin < sequences.size(); begin += micro) {
    if (!delayed_ && begin + micro >= sequences.size()) gradient_sum_.ExpectLastPass();
    kl += Accumulate(samples, sequences.subspan(begin, std::min(micro, sequences.size() - begin)), weight, metrics);
  }
  metrics.grad_norm += Step(static_cast<double>(own.size()) / static_cast<double>(all.size()));
  return kl;
}

// With the gradient that is complete now, of which `share` is this learner's, or with the one before it. Returns its
// norm.
double Ppo::Step(double share) {
  if (delayed_) return delayed_->AfterPasses(share, rate_.Value(), config_.max_grad_norm);
  gradient_sum_.Finish();
  return adam_.Step(rate_.Value(), config_.max_grad_norm);
}

// Adds the share of these sequences in the gradient of a minibatch whose samples weigh `weight` together. Returns their
// share of the divergence, as seen before the minibatch's own step.
double Ppo::Accumulate(const Samples& samples, std::span<const int64_t> sequences, double weight, PpoMetrics& metrics) {
  const auto index_of = [](std::span<const int64_t> numbers) {
    return at::from_blob(const_cast<int64_t*>(numbers.data()), {static_cast<int64_t>(numbers.size())}, torch::kInt64);
  };
  const std::vector<int64_t> rows = RowsOf(sequences, envs_);
  const torch::Tensor index = index_of(rows);
  const auto pick = [&](const torch::Tensor& x) { return x.index_select(0, index); };
  const torch::Tensor share = pick(samples.weight) / std::max(weight, 1.0);
  NetworkInput input = policy_.Gather(samples.observation, rows);
  if (samples.memory.defined()) input.memory = samples.memory.index_select(0, index_of(sequences));
  const ActorOutput actor = policy_.Network().Actor(input);
  const torch::Tensor value = policy_.Network().Critic(input).value;
  const FusedLoss loss = ComputeFusedLoss({.mean = actor.mean,
                                           .log_std = actor.log_std,
                                           .value = value,
                                           .action = pick(samples.action),
                                           .old_mean = pick(samples.mean),
                                           .old_log_std = pick(samples.log_std),
                                           .old_log_prob = pick(samples.log_prob),
                                           .old_value = policy_.NormaliseValue(pick(samples.value)),
                                           .target = policy_.NormaliseValue(pick(samples.target)),
                                           .advantage = pick(samples.advantage),
                                           .share = share},
                                          LossOptions());
  torch::autograd::variable_list outputs = {actor.mean, actor.log_std, value},
                                 gradients = {loss.d_mean, loss.d_log_std, loss.d_value};
  if (samples.aux.defined()) {
    outputs.push_back((AuxLoss(actor.aux, pick(samples.aux)) * share).sum());
    gradients.push_back(at::scalar_tensor(config_.aux_coef, outputs.back().options().requires_grad(false)));
    metrics.aux_loss += outputs.back().item<double>();
  }
  torch::autograd::backward(outputs, gradients);
  AddTo(metrics, loss.sums);
  return loss.sums.kl;
}

FusedLossOptions Ppo::LossOptions() const {
  return {.clip = config_.clip,
          .value_clip = config_.clip_value ? config_.clip : 0.0,
          .value_coef = config_.value_coef,
          .entropy_coef = config_.entropy_coef,
          .bounds_coef = config_.bounds_coef,
          .action_limit = kActionLimit};
}

Metrics Ppo::Learn(RolloutStore& store, int64_t iteration) {
  const PpoMetrics update = Update(store, iteration);
  Metrics metrics = {{"loss/policy", update.policy_loss},
                     {"loss/value", update.value_loss},
                     {"loss/entropy", update.entropy},
                     {"loss/bounds", update.bounds_loss},
                     {"loss/aux", update.aux_loss},
                     {"ppo/kl", update.kl},
                     {"ppo/clip_fraction", update.clip_fraction},
                     {"ppo/grad_norm", update.grad_norm},
                     {"ppo/explained_variance", update.explained_variance},
                     {"ppo/learning_rate", update.learning_rate},
                     {"ppo/action_std", update.action_std},
                     {"ppo/return_target", update.return_mean},
                     {"ppo/used_samples", static_cast<double>(update.used_samples)}};
  for (const auto& [module, norm] : update.module_norms) metrics.emplace_back("grad_norm/" + module, norm);
  return metrics;
}

std::vector<NamedTensor> Ppo::State() const {
  std::vector<NamedTensor> state = adam_.State();
  state.push_back({"optimiser.learning_rate", at::full({1}, rate_.Value(), torch::kFloat64)});
  return state;
}

void Ppo::SetState(const std::vector<NamedTensor>& state) {
  adam_.SetState(state);
  rate_.SetValue(TensorNamed(state, "optimiser.learning_rate").item<double>());
}

}  // namespace gripstream
