// Tests learner/group.h and learner/gradient_sum.h.
#include "learner/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "learner/gradient_sum.h"
#include "policies/distribution.h"
#include "policies/initialise.h"
#include "tests/learner/composed_loss.h"
#include "tests/learner/learners.h"

namespace gripstream {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

TEST(LearnerGroup, AloneIsTheIdentity) {
  const LearnerGroup alone;
  const torch::Tensor x = at::arange(4, torch::kFloat32);
  alone.SumUp(x, "test");
  EXPECT_TRUE(at::equal(x, at::arange(4, torch::kFloat32)));
  EXPECT_TRUE(at::equal(alone.Gather(x, "test").at(0), x));
  EXPECT_TRUE(alone.Leads());
  EXPECT_FALSE(alone.Any(false, "test"));
}

TEST(LearnerGroup, SumsGathersAndAgrees) {
  RunLearners(3, [](const LearnerGroup& group) {
    const double rank = group.Rank();
    const torch::Tensor x = at::full({1000}, rank + 1, torch::kFloat64);
    group.SumUp(x, "test");
    EXPECT_TRUE(x.eq(6).all().item<bool>());
    EXPECT_EQ(group.SumOf(rank, "test"), 3);
    const auto all = group.Gather(at::full({2}, group.Rank(), torch::kInt64), "test");
    ASSERT_EQ(all.size(), 3u);
    for (int64_t r = 0; r < 3; ++r) EXPECT_EQ(all[static_cast<size_t>(r)][1].item<int64_t>(), r);
    EXPECT_EQ(group.GatherToLeader(at::full({2}, group.Rank(), torch::kUInt8), "test").size(), group.Leads() ? 3u : 0u);
    EXPECT_TRUE(group.Any(group.Rank() == 2, "test"));
    EXPECT_FALSE(group.Any(false, "test"));
  });
}

TEST(LearnerGroup, SumsHaveTheSameBitsEverywhere) {
  std::vector<torch::Tensor> sums(3);
  RunLearners(3, [&](const LearnerGroup& group) {
    const auto rank = static_cast<uint32_t>(group.Rank());
    torch::Tensor x = NormalTensor(RandomStream(1, "sum").At(rank, 0), {4001}, 1.0);
    group.SumUp(x, "test");
    sums[rank] = x;
  });
  EXPECT_TRUE(at::equal(sums[0], sums[1]));
  EXPECT_TRUE(at::equal(sums[0], sums[2]));
}

TEST(LearnerGroup, SeveralSumsMayBeUnderWay) {
  RunLearners(2, [](const LearnerGroup& group) {
    std::vector<torch::Tensor> tensors;
    std::vector<LearnerGroup::Sum> sums;
    for (int i = 0; i < 8; ++i) {
      tensors.push_back(at::full({10000}, i + group.Rank(), torch::kFloat32));
      sums.push_back(group.BeginSum(tensors.back(), "test"));
    }
    for (LearnerGroup::Sum& sum : sums) sum.Finish();
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(tensors[static_cast<size_t>(i)].eq(2 * i + 1).all().item<bool>());
  });
}

TEST(LearnerGroup, ALeftoverRendezvousOfADeadRunIsNoObstacle) {
  const std::string rendezvous = FreshRendezvous();
  std::ofstream(rendezvous) << "127.0.0.1 1 999-999\n";  // nobody listens at port 1
  std::jthread other([&] { LearnerGroup(MemberOptions(1, 2, rendezvous)).Any(false, "test"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it reads the leftover first
  {
    const LearnerGroup group(MemberOptions(0, 2, rendezvous));
    group.Any(false, "test");
    other.join();
  }
  EXPECT_FALSE(std::filesystem::exists(rendezvous));
}

std::string WhatIsThrown(const std::function<void()>& body) {
  try {
    body();
  } catch (const RunError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(LearnerGroup, WhoDoesNotComeIsNamed) {
  GroupOptions first = MemberOptions(0, 3, FreshRendezvous());
  first.join_s = 0.5;
  EXPECT_THAT(WhatIsThrown([&] { LearnerGroup{first}; }),
              AllOf(HasSubstr("learner 1, learner 2"), HasSubstr("join_s")));
  first.rank = 1;
  EXPECT_THAT(WhatIsThrown([&] { LearnerGroup{first}; }), AllOf(HasSubstr("learner 0"), HasSubstr("join_s")));
}

// The last of `size` learners is a process of its own that joins and then sleeps; the others are in this one.
class WithOneThatIsLost : public testing::Test {
 protected:
  // What the learners that are left throw after `signal` has struck the last one.
  std::vector<std::string> Lose(int signal_number) {
    const std::string rendezvous = FreshRendezvous();
    const pid_t child = fork();
    if (child == 0) {
      const LearnerGroup group(MemberOptions(2, 3, rendezvous));
      group.Any(false, "all here");
      for (;;) pause();
    }
    std::vector<std::string> thrown(2);
    {
      std::vector<std::jthread> threads;
      for (int rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
          thrown[static_cast<size_t>(rank)] = WhatIsThrown([&] {
            GroupOptions options = MemberOptions(rank, 3, rendezvous);
            options.deadline_s = 1.5;
            const LearnerGroup group(options);
            group.Any(false, "all here");
            if (rank == 0) kill(child, signal_number);
            for (int i = 0; i < 1000; ++i) group.Any(false, "the test's question");
          });
        });
      }
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    who_ = "learner 2 (pid " + std::to_string(child);
    return thrown;
  }
  std::string who_;
};

TEST_F(WithOneThatIsLost, TheOthersNameALearnerThatIsKilled) {
  for (const std::string& message : Lose(SIGKILL)) {
    // Who waits for a third one that saw the connection break hears of it by silence.
    EXPECT_THAT(message, AllOf(HasSubstr(who_), AnyOf(HasSubstr("gone"), HasSubstr("silent"))));
  }
}

TEST_F(WithOneThatIsLost, TheOthersNameALearnerThatIsStopped) {
  for (const std::string& message : Lose(SIGSTOP)) {
    EXPECT_THAT(message, AllOf(HasSubstr(who_), HasSubstr("silent"), HasSubstr("wire.deadline_s")));
  }
}

// A small network in float64 with the terms of PPO's loss, whose batch may be shared out.
struct Gradient {
  static constexpr int64_t kSamples = 60, kInputs = 7, kActions = 3;
  torch::ScalarType type;
  torch::Tensor input, action, old_log_prob, advantage, weight;

  explicit Gradient(torch::ScalarType scalar) : type(scalar) {
    const RandomStream stream(5, "gradient");
    const auto normal = [&](uint32_t index, std::vector<int64_t> shape) {
      return NormalTensor(stream.At(index, 0), shape, 1.0).to(torch::kFloat64).to(type);
    };
    input = normal(0, {kSamples, kInputs});
    action = normal(1, {kSamples, kActions});
    old_log_prob = normal(2, {kSamples}) - 4.0;
    advantage = normal(3, {kSamples});
    weight = normal(4, {kSamples}).gt(-1.0).to(type);  // some samples are faulted
  }

  // Of samples [begin, begin + count), summed over `group`.
  torch::Tensor Of(int64_t begin, int64_t count, const LearnerGroup& group) const {
    const RandomStream stream(6, "parameters");
    std::vector<torch::Tensor> parameters = {
        NormalTensor(stream.At(0, 0), {16, kInputs}, 0.3).to(type).requires_grad_(true),
        NormalTensor(stream.At(1, 0), {kActions, 16}, 0.3).to(type).requires_grad_(true),
        at::full({kActions}, -0.5, type).requires_grad_(true)};
    const auto part = [&](const torch::Tensor& x) { return x.narrow(0, begin, count); };
    const torch::Tensor mean = part(input).matmul(parameters[0].t()).tanh().matmul(parameters[1].t());
    const torch::Tensor log_prob = GaussianLogProb(mean, parameters[2], part(action));
    const torch::Tensor loss = ClippedSurrogateLoss(log_prob, part(old_log_prob), part(advantage), 0.2);
    (loss * part(weight) / weight.sum()).sum().backward();
    std::vector<torch::Tensor> gradients;
    for (const torch::Tensor& parameter : parameters) gradients.push_back(parameter.grad().flatten());
    const torch::Tensor flat = at::cat(gradients);
    group.SumUp(flat, "test");
    return flat;
  }

  double RelativeError(int learners) const {
    const torch::Tensor whole = Of(0, kSamples, LearnerGroup());
    double error = 0;
    RunLearners(learners, [&](const LearnerGroup& group) {
      const int64_t share = kSamples / learners;
      const torch::Tensor sum = Of(group.Rank() * share, share, group);
      if (group.Leads()) error = ((sum - whole).norm() / whole.norm()).item<double>();
    });
    return error;
  }
};

TEST(SharedGradient, IsThatOfTheWholeBatch) {
  for (const int learners : {2, 3, 4}) {
    EXPECT_LT(Gradient(torch::kFloat64).RelativeError(learners), 1e-10) << learners;
    EXPECT_LT(Gradient(torch::kFloat32).RelativeError(learners), 1e-5) << learners;
  }
}

TEST(GradientSum, BeginsBucketsWhileTheBackwardPassGoesOn) {
  constexpr int64_t kWidth = 40;
  RunLearners(2, [](const LearnerGroup& group) {
    ParameterSet parameters;
    for (int i = 0; i < 6; ++i) {
      const auto index = static_cast<uint32_t>(i);
      parameters.Add(std::to_string(i), NormalTensor(RandomStream(2, "layers").At(index, 0), {kWidth, kWidth}, 0.2));
    }
    const ParameterSet::Flat flat = parameters.Flatten();
    GradientSum sum(group, parameters, flat.gradients, 2 * kWidth * kWidth);
    EXPECT_EQ(sum.Buckets(), 3);
    const auto pass = [&](int64_t seed) {
      torch::Tensor x = NormalTensor(RandomStream(3, "input").At(static_cast<uint32_t>(seed), 0), {8, kWidth}, 1.0);
      for (const NamedTensor& layer : parameters.All()) x = x.matmul(layer.value).tanh();
      x.square().sum().backward();
    };
    // Two passes of each learner; only the last one's gradients are complete.
    pass(10 * group.Rank());
    sum.ExpectLastPass();
    pass(10 * group.Rank() + 1);
    sum.Finish();
    EXPECT_EQ(sum.BegunBeforeFinish(), 3);
    const torch::Tensor together = flat.gradients.clone();
    flat.gradients.zero_();
    for (const int64_t seed : {0, 1, 10, 11}) pass(seed);
    EXPECT_TRUE(at::allclose(together, flat.gradients, 1e-4, 1e-5));
    // A learner that holds no sample of a minibatch still takes part.
    flat.gradients.zero_();
    if (group.Leads()) {
      sum.ExpectLastPass();
      pass(0);
    }
    sum.Finish();
    EXPECT_EQ(sum.BegunBeforeFinish(), group.Leads() ? 3 : 0);
    EXPECT_GT(flat.gradients.norm().item<float>(), 0.0f);
  });
}

}  // namespace
}  // namespace gripstream
