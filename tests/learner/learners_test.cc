// Tests learner/ppo.h with several learners that share one batch, on the toy reach task.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "tests/learner/learners.h"
#include "tests/learner/toy_trainer.h"

namespace gripstream {
namespace {

constexpr int kEnvs = 48, kHorizon = 6;

PpoConfig SmallPpo(int minibatch) {
  PpoConfig config;
  config.horizon = kHorizon;
  config.minibatch = minibatch;
  config.micro_batch = 20;
  config.epochs = 2;
  config.threads = 1;
  return config;
}

struct Result {
  PpoMetrics metrics;
  double normaliser_count = 0;
  std::string digest;
  std::vector<torch::Tensor> parameters, normalisers;
};

Result Trained(const PpoConfig& config, int iterations, const LearnerGroup& group) {
  ToyTrainer trainer(1, kEnvs / group.Size(), config, SmallPolicy(), group);
  trainer.Train(iterations);
  Result result{trainer.last, trainer.policy.NormalizerCount(), trainer.Digest(), {}, {}};
  for (const NamedTensor& tensor : trainer.policy.State()) {
    auto& list = tensor.name.starts_with("policy.") ? result.parameters : result.normalisers;
    list.push_back(tensor.value.clone());
  }
  return result;
}

double RelativeDifference(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]).to(torch::kFloat64).square().sum().item<double>();
    norm += a[i].to(torch::kFloat64).square().sum().item<double>();
  }
  return std::sqrt(difference / norm);
}

std::vector<Result> TrainedTogether(const PpoConfig& config, int iterations, int learners) {
  std::vector<Result> results(static_cast<size_t>(learners));
  RunLearners(learners, [&](const LearnerGroup& group) {
    results[static_cast<size_t>(group.Rank())] = Trained(config, iterations, group);
  });
  return results;
}

TEST(Learners, ShareOneBatchWithTheResultOfASingleLearner) {
  for (const int minibatch : {kEnvs * kHorizon, 96}) {  // the whole batch, and a third of it
    const PpoConfig config = SmallPpo(minibatch);
    const Result alone = Trained(config, 1, LearnerGroup());
    for (const int learners : {2, 3}) {
      for (const Result& result : TrainedTogether(config, 1, learners)) {
        EXPECT_LT(RelativeDifference(alone.parameters, result.parameters), 1e-5) << learners << " of " << minibatch;
        EXPECT_LT(RelativeDifference(alone.normalisers, result.normalisers), 1e-10);
        EXPECT_NEAR(result.metrics.grad_norm, alone.metrics.grad_norm, 1e-5 * alone.metrics.grad_norm);
        EXPECT_NEAR(result.metrics.value_loss, alone.metrics.value_loss, 1e-5 * alone.metrics.value_loss);
        EXPECT_NEAR(result.metrics.kl, alone.metrics.kl, 1e-6);
        EXPECT_NEAR(result.metrics.explained_variance, alone.metrics.explained_variance, 1e-4);
        EXPECT_EQ(result.metrics.used_samples, alone.metrics.used_samples);
        EXPECT_EQ(result.metrics.learning_rate, alone.metrics.learning_rate);
        EXPECT_EQ(result.normaliser_count, alone.normaliser_count);
      }
    }
  }
}

TEST(Learners, TheFirstGradientIsThatOfASingleLearner) {
  PpoConfig config = SmallPpo(kEnvs * kHorizon);
  config.epochs = 1;
  config.max_grad_norm = 0;
  const Result alone = Trained(config, 1, LearnerGroup());
  for (const Result& result : TrainedTogether(config, 1, 3)) {
    EXPECT_NEAR(result.metrics.grad_norm, alone.metrics.grad_norm, 1e-5 * alone.metrics.grad_norm);
  }
}

TEST(Learners, KeepTheSameBits) {
  const std::vector<Result> results = TrainedTogether(SmallPpo(32), 3, 3);
  EXPECT_EQ(results[1].digest, results[0].digest);
  EXPECT_EQ(results[2].digest, results[0].digest);
}

TEST(Learners, CorrectByVTraceTogetherToo) {
  PpoConfig config = SmallPpo(48);
  config.off_policy = "vtrace";
  const Result alone = Trained(config, 1, LearnerGroup());
  for (const Result& result : TrainedTogether(config, 1, 2)) {
    EXPECT_LT(RelativeDifference(alone.parameters, result.parameters), 1e-5);
  }
}

TEST(Learners, RefuseAMinibatchThatDoesNotDivideTheWholeBatch) {
  RunLearners(2, [](const LearnerGroup& group) { EXPECT_THROW(Trained(SmallPpo(50), 1, group), InputError); });
}

}  // namespace
}  // namespace gripstream
