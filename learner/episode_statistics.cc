#include "learner/episode_statistics.h"

#include <algorithm>

#include "core/done_kind.h"

namespace gripstream {

EpisodeStatistics::EpisodeStatistics(int envs, std::vector<std::string> reward_terms,
                                     std::vector<std::string> metric_names)
    : reward_terms_(std::move(reward_terms)),
      metric_names_(std::move(metric_names)),
      running_return_(static_cast<size_t>(envs)),
      running_length_(static_cast<size_t>(envs)),
      term_means_(reward_terms_.size()),
      metric_means_(metric_names_.size()) {}

void EpisodeStatistics::ForgetRunning() {
  std::fill(running_return_.begin(), running_return_.end(), 0.0);
  std::fill(running_length_.begin(), running_length_.end(), 0);
}

void EpisodeStatistics::TakeStep(const RolloutStore& store, int t) {
  const auto* reward = store.Step("reward", t).const_data_ptr<float>();
  const auto* done = store.Step("done", t).const_data_ptr<uint8_t>();
  const auto* success = store.Step("success", t).const_data_ptr<uint8_t>();
  for (size_t i = 0; i < running_return_.size(); ++i) {
    const auto kind = static_cast<DoneKind>(done[i]);
    if (kind == DoneKind::kCarried) continue;
    running_return_[i] += reward[i];
    ++running_length_[i];
    if (kind == DoneKind::kRunning) continue;
    if (kind == DoneKind::kLost) {
      ++lost_;
    } else if (kind == DoneKind::kFaulted) {
      ++faults_;
    } else {
      ++episodes_;
      successes_ += success[i] != 0;
      timeouts_ += kind == DoneKind::kTimedOut;
      return_sum_ += running_return_[i];
      length_sum_ += running_length_[i];
    }
    running_return_[i] = 0;
    running_length_[i] = 0;
  }
}

// Counts become those of all learners, the means those over all environments.
void EpisodeStatistics::AddUp(const LearnerGroup& group) {
  if (group.Size() == 1) return;
  std::vector<double> numbers = {double(episodes_), double(successes_), double(timeouts_), double(faults_),
                                 double(lost_),     return_sum_,        length_sum_};
  numbers.insert(numbers.end(), term_means_.begin(), term_means_.end());
  numbers.insert(numbers.end(), metric_means_.begin(), metric_means_.end());
  group.SumUp(at::from_blob(numbers.data(), {static_cast<int64_t>(numbers.size())}, torch::kFloat64),
              "episode statistics");
  episodes_ = static_cast<int>(numbers[0]), successes_ = static_cast<int>(numbers[1]);
  timeouts_ = static_cast<int>(numbers[2]), faults_ = static_cast<int>(numbers[3]);
  lost_ = static_cast<int>(numbers[4]);
  return_sum_ = numbers[5], length_sum_ = numbers[6];
  const size_t terms = term_means_.size();
  for (size_t i = 0; i < terms; ++i) term_means_[i] = numbers[7 + i] / group.Size();
  for (size_t i = 0; i < metric_means_.size(); ++i) metric_means_[i] = numbers[7 + terms + i] / group.Size();
}

// Per component, over steps and environments that there are; where there are none, the means stay.
void EpisodeStatistics::TakeMeans(const RolloutStore& store, const std::string& tensor, std::vector<double>& means) {
  if (means.empty()) return;
  const torch::Tensor all = store.AfterAction(tensor);
  const torch::Tensor lost = store.AfterAction("done").ge(static_cast<int>(DoneKind::kLost));
  const int64_t samples = lost.numel(), there = samples - lost.sum().item<int64_t>();
  if (there == 0) return;
  torch::Tensor mean = all.mean({0, 1}).to(torch::kFloat64);
  if (there < samples) {
    // What is lost holds zeros, or what a newcomer's first record said of nothing.
    mean = all.masked_fill(lost.unsqueeze(-1), 0).sum({0, 1}).to(torch::kFloat64) / static_cast<double>(there);
  }
  for (size_t i = 0; i < means.size(); ++i) means[i] = mean.const_data_ptr<double>()[i];
}

double EpisodeStatistics::MetricMean(const std::string& name) const {
  for (size_t i = 0; i < metric_names_.size(); ++i) {
    if (metric_names_[i] == name) return metric_means_[i];
  }
  return 0;
}

void EpisodeStatistics::TakeRollout(const RolloutStore& store, const LearnerGroup& group) {
  episodes_ = successes_ = timeouts_ = faults_ = lost_ = 0;
  return_sum_ = length_sum_ = 0;
  for (int t = 1; t <= store.Horizon(); ++t) TakeStep(store, t);
  TakeMeans(store, "reward_terms", term_means_);
  TakeMeans(store, "metrics", metric_means_);
  AddUp(group);
  if (episodes_ == 0) return;  // long episodes: the last known figures stay
  any_ended_ = true;
  success_rate_ = static_cast<double>(successes_) / episodes_;
  return_mean_ = return_sum_ / episodes_;
  length_mean_ = length_sum_ / episodes_;
}

Metrics EpisodeStatistics::AsMetrics() const {
  Metrics metrics = {{"episode/success", success_rate_},
                     {"episode/return", return_mean_},
                     {"episode/length", length_mean_},
                     {"episode/ended", static_cast<double>(episodes_)},
                     {"episode/timeouts", static_cast<double>(timeouts_)},
                     {"episode/faults", static_cast<double>(faults_)}};
  for (size_t i = 0; i < reward_terms_.size(); ++i) metrics.emplace_back("reward/" + reward_terms_[i], term_means_[i]);
  for (size_t i = 0; i < metric_names_.size(); ++i)
    metrics.emplace_back("metric/" + metric_names_[i], metric_means_[i]);
  return metrics;
}

}  // namespace gripstream
