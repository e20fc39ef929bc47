#include "learner/training_run.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/clock.h"
#include "core/error.h"
#include "core/files.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/process_memory.h"
#include "core/trace.h"
#include "learner/run_checkpoint.h"
#include "replay/tensor_memory.h"

namespace gripstream {
namespace {

constexpr int kGoodIterationsToStop = 3;

// What policy and algorithm remember after the rollout, but for episodes that have ended; undefined: nothing.
torch::Tensor MemoryAfter(const RolloutStore& store, const Algorithm& algorithm) {
  std::vector<torch::Tensor> parts;
  for (const torch::Tensor& part : {store.MemoryBefore(store.Horizon()), algorithm.Memory()}) {
    if (part.defined()) parts.push_back(part * store.Step("done", store.Horizon()).eq(0).unsqueeze(1));
  }
  return parts.empty() ? torch::Tensor() : at::cat(parts, 1);
}

std::unique_ptr<Algorithm> MakeAlgorithmOf(const LearnerRoleOptions& options, Policy& policy, int envs,
                                           const LearnerGroup& group) {
  if (options.make_algorithm) return options.make_algorithm(policy, envs, group);
  return std::make_unique<Ppo>(options.ppo, policy, envs, options.seed, options.train.iterations, group,
                               options.gradient_delay);
}

template <class T>
void Append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

TrainingRun::TrainingRun(LearnerEnd& wire, const LearnerGroup& group, const LearnerRoleOptions& options)
    : options_(options),
      group_(group),
      fleet_(wire, options.patience_s, options.losses),
      policy_(options.policy, ShapesFromSpecs(options.specs, options.action_size), options.seed),
      algorithm_(MakeAlgorithmOf(options, policy_, fleet_.Envs(), group)),
      episodes_(fleet_.Envs(), options.reward_terms, options.metric_names),
      gate_(options.curriculum),
      checkpoints_(options.run_dir + "/checkpoints", options.train.keep_checkpoints),
      evaluation_(PlanOf(options, options.run_dir + "/evaluation.png")) {
  LogInfo("policy parameters:\n", policy_.Network().Parameters().Describe());
  MakeSource();
}

void TrainingRun::MakeSource() {
  const TurnOptions& turns = options_.turns;
  std::vector<RolloutStore> stores;
  for (int i = 0; i <= turns.max_staleness; ++i) {
    stores.emplace_back(options_.specs, algorithm_->Horizon(), fleet_.Envs(), options_.action_size,
                        MemoryShape{policy_.MemorySize(), algorithm_->Sequence()}, options_.images);
    buffer_.bytes += static_cast<double>(stores.back().Bytes());
  }
  LogInfo("rollout stores: ", stores.size(), " of ", stores.front().Bytes(), " bytes for ", algorithm_->Horizon(),
          " steps of ", fleet_.Envs(), " environments");
  if (turns.asynchronous) {
    source_ = std::make_unique<AsynchronousSource>(
        fleet_, policy_, std::move(stores),
        AsynchronousOptions{turns.max_staleness, turns.deterministic, options_.patience_s, turns.close_fraction});
  } else {
    source_ = std::make_unique<SynchronousSource>(fleet_, policy_, std::move(stores.front()));
  }
}

void TrainingRun::LogMemory(const char* when) const {
  const std::vector<MemoryUse> real = {{"network", static_cast<double>(policy_.Bytes())},
                                       {"optimiser", static_cast<double>(algorithm_->Bytes())},
                                       buffer_,
                                       update_peak_,
                                       evaluation_peak_};
  LogInfo("memory ", when, options_.memory.parts.empty() ? ", real, of " : ", planned and real, of ", fleet_.Envs(),
          " environments:\n", MemoryTable(options_.memory, fleet_.Envs(), real), "  ", DescribeOwnMemory());
}

double TrainingRun::WallSeconds() const {
  return wall_before_s_ + SecondsSince(started_);
}

int TrainingRun::Run() {
  started_ = std::chrono::steady_clock::now();
  const bool resumed = !options_.checkpoint.empty();
  if (resumed) {
    Resume();
  } else {
    StartAnew();
  }
  if (group_.Leads()) metrics_.emplace(options_.run_dir, resumed ? iteration_ : -1);
  LogMemory("at the start");
  TrainUntilDone();
  progress_.Finish();
  if (saved_iteration_ != iteration_) SaveCheckpoint();
  FinishResults();
  LogMemory("at the end");
  if (group_.Leads()) WriteOutcome();
  if (saved_iteration_ != iteration_) throw RunError(options_.run_dir + ": the last checkpoint could not be written");
  return interrupted_ ? kExitFailed : kExitOk;
}

void TrainingRun::FinishResults() {
  results_.parameters_sha256 = ParametersSha256(policy_.Network().Parameters());
  results_.env_steps = EnvSteps();
  results_.iterations = iteration_;
  results_.wall_s = WallSeconds();
  const FleetLosses losses = AllLosses();
  results_.lost_simulators = losses.simulators;
  results_.replacements = losses.replacements;
  const TensorPeak peak;
  if (!interrupted_) EvaluateForResults(fleet_, group_, evaluation_, policy_, results_);
  evaluation_peak_.bytes = static_cast<double>(peak.Bytes());
  interrupted_ = group_.Any(Interrupted(), "the end of the run");
  results_.status = interrupted_ ? "interrupted" : "completed";
  results_.stop_reason = StopReason();
}

// What the policy saw and did in the evaluation, beside the curves.
void TrainingRun::ShowSheetInTensorBoard() {
  // Another machine's simulator may not have written it yet, or not where this learner sees it.
  std::error_code missing;
  if (results_.sheet.empty() || !std::filesystem::exists(results_.sheet, missing)) return;
  const std::vector<std::byte> png = ReadBytes(results_.sheet);
  constexpr size_t kWidth = 16, kHeight = 20;  // big-endian numbers, in the first chunk of every PNG
  if (png.size() < kHeight + 4) return;
  const auto number = [&](size_t at) {
    int value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<int>(png[at + i]);
    return value;
  };
  metrics_->Events().WriteImage(iteration_, "evaluation/episodes",
                                {reinterpret_cast<const char*>(png.data()), png.size()}, number(kWidth),
                                number(kHeight));
}

void TrainingRun::WriteOutcome() {
  ShowSheetInTensorBoard();
  WriteResults(options_.run_dir + "/results.json", results_, options_.object_names);
  std::printf("%s", FormatOutcome(results_, options_.run_dir, options_.object_names).c_str());
  if (interrupted_) std::printf("to go on: gripstream train --resume %s\n", options_.run_dir.c_str());
}

bool TrainingRun::Begin(const std::function<void()>& command) {
  CollectTimes ignored;
  while (fleet_.AwaitAll()) {
    const int64_t losses = fleet_.Losses().simulators;
    command();
    fleet_.ReceiveAll(source_->First(iteration_), 0, ignored);
    if (fleet_.Losses().simulators == losses) return true;
  }
  return false;
}

void TrainingRun::StartAnew() {
  policy_.Network().LoadTrunk(options_.policy);
  // Simulators that have served an earlier learner are at another level, perhaps.
  fleet_.SetCurriculumLevel(gate_.Level());
  algorithm_->Check([&](const Policy& any) { return EvaluateOnce(fleet_, group_, evaluation_, any, Play::kAsItIs); });
  const auto begin = [this] { fleet_.Reset({}, 0); };
  if (group_.Any(!Begin(begin), "the first observations")) return;
  algorithm_->Prime(source_->First(0));
  if (!options_.eval.at_start || options_.eval.episodes == 0) return;
  results_.at_start = EvaluateOnce(fleet_, group_, evaluation_, policy_, Play::kAsItIs);
  if (group_.Leads()) std::printf("before training: %s\n", FormatSuccess(results_.at_start).c_str());
  std::fflush(stdout);
  Begin(begin);  // evaluation has left the environments in its own episodes
}

void TrainingRun::TrainUntilDone() {
  first_iteration_ = iteration_;
  source_->Begin(iteration_);
  while (iteration_ < options_.train.iterations && !MustStop()) {
    source_->AllowUpTo(NextStandstill());
    if (!Iterate()) break;
    if (iteration_ % options_.train.checkpoint_every == 0) SaveCheckpoint();
  }
  StopCollection();
}

// Collection ahead of the learner stops where a checkpoint is due, so that the environments it holds are those of its
// own iteration.
int64_t TrainingRun::NextStandstill() const {
  const int64_t every = options_.train.checkpoint_every;
  return std::min<int64_t>((iteration_ / every + 1) * every, options_.train.iterations);
}

void TrainingRun::StopCollection() {
  interrupted_ = group_.Any(Interrupted(), "the end of training");
  const int ahead = source_->Stop();
  if (ahead > 0) LogInfo("training ends with ", ahead, " rollouts that nothing was learned from");
}

bool TrainingRun::MustStop() const {
  const bool out_of_time = group_.Leads() && OutOfTime();  // clocks differ
  return group_.Any(Interrupted() || out_of_time || IsGoodEnough(), "whether to stop");
}

bool TrainingRun::OutOfTime() const {
  return options_.train.max_wall_s > 0 && WallSeconds() >= options_.train.max_wall_s;
}

bool TrainingRun::IsGoodEnough() const {
  return options_.train.stop_success > 0 && good_iterations_ >= kGoodIterationsToStop;
}

std::string TrainingRun::StopReason() const {
  if (iteration_ >= options_.train.iterations) return "train.iterations reached";
  if (IsGoodEnough()) return "train.stop_success reached";
  return OutOfTime() ? "train.max_wall_s reached" : "";
}

bool TrainingRun::Iterate() {
  const auto start = std::chrono::steady_clock::now();
  const Rollout* rollout = source_->Next();
  if (group_.Any(rollout == nullptr, "the rollout")) return false;
  IterationTimes times{.rollout = *rollout};
  const Staleness staleness = StalenessOf(*rollout->store, iteration_);
  episodes_.TakeRollout(*rollout->store, group_);
  results_.faults += episodes_.Faults();
  results_.lost_samples += episodes_.Lost();
  const auto learning = std::chrono::steady_clock::now();
  const TensorPeak peak;
  const Metrics update = algorithm_->Learn(*rollout->store, iteration_);
  update_peak_.bytes = std::max(update_peak_.bytes, static_cast<double>(peak.Bytes()));
  times.update_s = SecondsSince(learning);
  memory_ = MemoryAfter(*rollout->store, *algorithm_);
  source_->Learned();
  ++iteration_;
  times.total_s = SecondsSince(start);
  AdvanceCurriculum();
  good_iterations_ = episodes_.SuccessRate() >= options_.train.stop_success ? good_iterations_ + 1 : 0;
  LogIteration(update, times, staleness);
  ShowProgress(times);
  return true;
}

void TrainingRun::AdvanceCurriculum() {
  if (!gate_.Take(episodes_.MetricMean("in_region"), algorithm_->Horizon())) return;
  fleet_.SetCurriculumLevel(gate_.Level());
  LogInfo("curriculum level ", gate_.Level(), " from iteration ", iteration_);
}

Metrics TrainingRun::CurriculumMetrics() const {
  if (!options_.describe_level) return {};
  Metrics metrics = {{"curriculum/level", static_cast<double>(gate_.Level())}};
  for (const auto& [name, value] : options_.describe_level(gate_.Level()))
    metrics.emplace_back("curriculum/" + name, value);
  return metrics;
}

// Of all learners together.
FleetLosses TrainingRun::AllLosses() const {
  FleetLosses all = fleet_.Losses();
  if (group_.Size() == 1) return all;
  const torch::Tensor sums = at::empty({3}, torch::kFloat64);
  double* sum = sums.data_ptr<double>();
  sum[0] = static_cast<double>(all.simulators), sum[1] = static_cast<double>(all.replacements), sum[2] = all.absent_s;
  group_.SumUp(sums, "losses of simulators");
  return {static_cast<int64_t>(sum[0]), static_cast<int64_t>(sum[1]), sum[2]};
}

Metrics TrainingRun::LossMetrics() const {
  const FleetLosses losses = AllLosses();
  return {{"lost/simulators", static_cast<double>(losses.simulators)},
          {"lost/replaced", static_cast<double>(losses.replacements)},
          {"lost/samples", static_cast<double>(results_.lost_samples)},
          {"lost/absent_s", losses.absent_s}};
}

void TrainingRun::LogIteration(const Metrics& update, const IterationTimes& times, const Staleness& staleness) {
  Metrics metrics = {{"run/env_steps", static_cast<double>(EnvSteps())},
                     {"run/wall_s", WallSeconds()},
                     {"run/steps_per_s", static_cast<double>(StepsPerIteration()) / times.total_s},
                     {"run/staleness_mean", staleness.mean},
                     {"run/staleness_max", static_cast<double>(staleness.max)},
                     {"run/carried_envs", static_cast<double>(times.rollout.carried_envs)}};
  Append(metrics, episodes_.AsMetrics());
  Append(metrics, update);
  Append(metrics, times.AsMetrics());
  Append(metrics, CurriculumMetrics());
  Append(metrics, LossMetrics());
  if (metrics_) metrics_->Write(iteration_, metrics);
}

void TrainingRun::ShowProgress(const IterationTimes& times) {
  if (!group_.Leads()) return;
  if (!progress_.Due() && iteration_ != options_.train.iterations) return;
  const double done_here = static_cast<double>(iteration_ - first_iteration_);
  const double per_iteration_s = SecondsSince(started_) / done_here;
  double eta_s = per_iteration_s * static_cast<double>(options_.train.iterations - iteration_);
  if (options_.train.max_wall_s > 0) eta_s = std::min(eta_s, options_.train.max_wall_s - WallSeconds());
  progress_.Show(FormatProgress({.iteration = iteration_,
                                 .iterations = options_.train.iterations,
                                 .env_steps = static_cast<double>(EnvSteps()),
                                 .env_steps_per_s = static_cast<double>(StepsPerIteration()) / times.total_s,
                                 .any_episode = episodes_.AnyEnded(),
                                 .episode_return = episodes_.ReturnMean(),
                                 .success = episodes_.SuccessRate(),
                                 .eta_s = eta_s},
                                times));
}

// Learners that have learned the same have the same bits.
void TrainingRun::RequireSameParameters() const {
  std::string digest = ParametersSha256(policy_.Network().Parameters());
  const torch::Tensor own = at::from_blob(digest.data(), {static_cast<int64_t>(digest.size())}, torch::kUInt8);
  for (const torch::Tensor& other : group_.Gather(own, "digests of parameters")) {
    GS_CHECK(at::equal(own, other),
             "the learners' parameters have come apart at iteration " + std::to_string(iteration_));
  }
}

std::optional<Checkpoint> TrainingRun::GatherCheckpoint() {
  EnvStates own = fleet_.SaveStates();
  const int64_t bytes = static_cast<int64_t>(own.bytes.size()) / fleet_.Envs();
  if (group_.Any(bytes == 0, "whether any simulator is left")) {
    LogWarning("checkpoint of iteration ", iteration_, " not written: no simulator is left to save its environments");
    return std::nullopt;
  }
  const std::vector<torch::Tensor> states = group_.GatherToLeader(
      at::from_blob(own.bytes.data(), {fleet_.Envs(), bytes}, torch::kUInt8), "states of environments");
  const std::vector<torch::Tensor> lost = group_.GatherToLeader(
      at::from_blob(own.lost.data(), {fleet_.Envs()}, torch::kUInt8), "which environments are lost");
  std::vector<torch::Tensor> memories;
  if (memory_.defined()) memories = group_.GatherToLeader(memory_, "memories");
  if (!group_.Leads()) return Checkpoint{};
  const RunCounters counters{.iteration = iteration_,
                             .env_steps = EnvSteps(),
                             .wall_s = WallSeconds(),
                             .best_success = best_success_,
                             .curriculum_level = gate_.Level(),
                             .curriculum_steps = gate_.StepsSinceChange(),
                             .at_start = results_.at_start};
  EnvTensors envs{.state = at::cat(states), .lost = at::cat(lost)};
  if (memory_.defined()) envs.memory = at::cat(memories);
  return MakeCheckpoint(options_, counters, policy_, *algorithm_, envs);
}

void TrainingRun::SaveCheckpoint() {
  const TraceSpan span("checkpoint");
  RequireSameParameters();
  const bool best = episodes_.Episodes() > 0 && episodes_.SuccessRate() >= best_success_;
  if (best) best_success_ = episodes_.SuccessRate();
  const std::optional<Checkpoint> checkpoint = GatherCheckpoint();
  if (!checkpoint) return;
  if (!group_.Leads()) {
    saved_iteration_ = iteration_;
    return;
  }
  try {
    const std::string path = checkpoints_.Save(*checkpoint, iteration_);
    if (best) checkpoints_.MarkBest(path);
    saved_iteration_ = iteration_;
  } catch (const RunError& error) {
    // A full disk must not cost the training: the last good checkpoint is still there, and the next try may succeed.
    LogWarning("checkpoint of iteration ", iteration_, " not written: ", error.what());
  }
}

void TrainingRun::Resume() {
  const std::string& path = options_.checkpoint;
  const Checkpoint checkpoint = LoadCheckpoint(path);
  RestoreTraining(checkpoint, path, policy_, *algorithm_);
  const RunCounters counters = CountersOf(checkpoint, path);
  iteration_ = saved_iteration_ = counters.iteration;
  wall_before_s_ = counters.wall_s;
  best_success_ = counters.best_success;
  if (counters.curriculum_level >= 0) gate_.Restore(counters.curriculum_level, counters.curriculum_steps);
  results_.at_start = counters.at_start;
  fleet_.SetCurriculumLevel(gate_.Level());
  LoadEnvironments(checkpoint);
  const torch::Tensor others = algorithm_->Memory();
  const int64_t own = policy_.MemorySize(), all = own + (others.defined() ? others.size(1) : 0);
  if (all == 0) return;
  memory_ = MemoriesOf(checkpoint, path, AllEnvs(), fleet_.FirstEnv(), fleet_.Envs(), all);
  if (own > 0) source_->First(iteration_).MemoryBefore(0).copy_(memory_.narrow(1, 0, own));
  if (others.defined()) others.copy_(memory_.narrow(1, own, all - own));
}

// Environments whose simulators were lost when the checkpoint was made begin episodes that nobody has played yet.
void TrainingRun::LoadEnvironments(const Checkpoint& checkpoint) {
  EnvStates states = EnvStatesOf(checkpoint, options_.checkpoint, AllEnvs(), fleet_.FirstEnv(), fleet_.Envs());
  if (states.AnyLost()) {
    LogInfo(std::count(states.lost.begin(), states.lost.end(), 1),
            " environments begin new episodes: their simulators were lost when the checkpoint was made");
    EpisodeRequest request;
    request.first_episode = static_cast<uint32_t>(iteration_ * algorithm_->Horizon()) + 1;
    if (!Begin([&] { fleet_.Reset(request, static_cast<uint64_t>(iteration_)); })) return;
    states.TakeLostFrom(fleet_.SaveStates());
  }
  Begin([&] { fleet_.LoadStates(states.bytes, static_cast<uint64_t>(iteration_)); });
}

}  // namespace gripstream
