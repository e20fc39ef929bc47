// Tests sim_server/acting/policy_actor.h.
#include "sim_server/acting/policy_actor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/error.h"
#include "policies/acted.h"
#include "policies/initialise.h"
#include "policies/published.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

constexpr int kEnvs = 8, kAction = 3, kProprio = 4, kState = 5;
constexpr uint32_t kFirstEnv = 16;
constexpr uint64_t kSeed = 5;

std::vector<TensorSpec> Specs() {
  return {{kProprioTensor, DType::kFloat32, {kProprio}, "", 1.0}, {kStateTensor, DType::kFloat32, {kState}, "", 1.0}};
}

PolicyConfig Config() {
  PolicyConfig config;
  config.name = "state_mlp";
  config.actor_hidden = config.critic_hidden = {8};
  config.inference_chunk = 4;
  return config;
}

Policy LearnersPolicy() {
  return Policy(Config(), ShapesFromSpecs(Specs(), kAction), kSeed + 1);
}

class Acting : public testing::Test {
 protected:
  Acting() : actor_(Config(), Specs(), kAction, kSeed, kEnvs, 1), layout_(AllSpecs(), kEnvs) {
    record_.resize(layout_.Bytes());
    Layout::Header(record_).env_begin = kFirstEnv;
    const RandomStream stream(1, "acting test");
    proprio_ = NormalTensor(stream.At(0, 0), {kEnvs, kProprio}, 1.0);
    state_ = NormalTensor(stream.At(1, 0), {kEnvs, kState}, 1.0);
    std::memcpy(&record_[layout_.Offset(0)], proprio_.const_data_ptr(), proprio_.nbytes());
    std::memcpy(&record_[layout_.Offset(1)], state_.const_data_ptr(), state_.nbytes());
  }
  std::vector<TensorSpec> AllSpecs() const {
    std::vector<TensorSpec> specs = Specs();
    for (const TensorSpec& spec : actor_.Specs()) specs.push_back(spec);
    return specs;
  }
  std::vector<float> Tensor(const char* name) const {
    const auto view = layout_.View<float>(std::span<const std::byte>(record_), name);
    return {view.begin(), view.end()};
  }

  PolicyActor actor_;
  Layout layout_;
  std::vector<std::byte> record_;
  torch::Tensor proprio_, state_;
};

std::vector<float> Values(const torch::Tensor& x) {
  return {x.const_data_ptr<float>(), x.const_data_ptr<float>() + x.numel()};
}

TEST_F(Acting, ChoosesAndReportsWhatTheLearnerWouldHaveChosenBitForBit) {
  const Policy policy(Config(), ShapesFromSpecs(Specs(), kAction), kSeed);
  Policy other = policy.Clone();
  other.UpdateNormalizers({.proprio = proprio_, .state = state_});
  actor_.TakePolicy(PackPolicy(other), 3);
  actor_.Observe(layout_, record_);
  const ActResult wanted{at::zeros({kEnvs, kAction}), at::zeros({kEnvs, kAction}), at::zeros({kEnvs, kAction}),
                         at::zeros({kEnvs}),          at::zeros({kEnvs}),          torch::Tensor()};
  other.Act({proprio_, {}, state_}, {.first_env = kFirstEnv, .step = 42}, wanted);
  const std::span<const float> actions = actor_.Act(3, 42);
  EXPECT_EQ(std::vector<float>(actions.begin(), actions.end()), Values(wanted.action));
  actor_.Write(layout_, record_);
  EXPECT_EQ(Tensor(kActedAction), Values(wanted.action));
  EXPECT_EQ(Tensor(kActedMean), Values(wanted.mean));
  EXPECT_EQ(Tensor(kActedLogStd), Values(wanted.log_std));
  EXPECT_EQ(Tensor(kActedLogProb), Values(wanted.log_prob));
  EXPECT_EQ(Tensor(kActedValue), Values(wanted.value));
}

TEST_F(Acting, ByAVersionThatItDoesNotHoldIsRefusedWithBothVersions) {
  actor_.Observe(layout_, record_);
  const auto why = [&](uint64_t version) -> std::string {
    try {
      actor_.Act(version, 0);
    } catch (const RunError& error) {
      return error.what();
    }
    return "not refused";
  };
  EXPECT_THAT(why(0), HasSubstr("none"));
  actor_.TakePolicy(PackPolicy(LearnersPolicy()), 7);
  EXPECT_THAT(why(8), testing::AllOf(HasSubstr("version 8"), HasSubstr("version 7")));
  EXPECT_EQ(why(7), "not refused");
}

TEST_F(Acting, ByAPolicyOfAnotherRunIsRefusedAndTheLastOneKept) {
  actor_.Observe(layout_, record_);
  actor_.TakePolicy(PackPolicy(LearnersPolicy()), 7);
  PolicyConfig wider = Config();
  wider.actor_hidden = {9};
  const Policy foreign(wider, ShapesFromSpecs(Specs(), kAction), kSeed);
  EXPECT_THROW(actor_.TakePolicy(PackPolicy(foreign), 8), RunError);
  EXPECT_NO_THROW(actor_.Act(7, 0));
}

}  // namespace
}  // namespace gripstream
