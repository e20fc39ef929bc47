// Tests distill/distiller.h on the toy reach task: a teacher of the true state, a student that sees.
#include "distill/distiller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/learner/toy_trainer.h"

namespace gripstream {
namespace {

constexpr int kEnvs = 32;

PolicyConfig StateTeacher() {
  PolicyConfig config = SmallPolicy();
  config.name = "state_mlp";
  return config;
}

PolicyConfig WithMemory(PolicyConfig config) {
  config.actor_rnn = {.kind = "gru", .units = 12};
  return config;
}

PolicyShapes Shapes() {
  return ShapesFromSpecs(ToyReach::Specs(), ToyReach::kAction);
}

DistillConfig Settings(int sequence = 4) {
  DistillConfig config;
  config.sequence = sequence;
  config.micro_batch = 1000;
  config.lr = 3e-3;
  return config;
}

// The student acts, the teacher is asked, as TrainingRun does it.
struct ToyDistillation {
  Policy student;
  Distiller distiller;
  RolloutStore store;
  ToyReach task;
  int64_t iteration = 0;
  DistillMetrics last;

  ToyDistillation(const DistillConfig& config, Teacher teacher, const PolicyConfig& networks)
      : student(networks, Shapes(), 1),
        distiller(config, std::move(teacher), student, kEnvs, 1, ToyTrainer::Alone()),
        store(ToyReach::Specs(), config.sequence, kEnvs, ToyReach::kAction,
              {student.MemorySize(), distiller.Sequence()}),
        task(1, kEnvs) {
    task.Reset();
    task.Write(store, 0);
    distiller.Prime(store);
  }
  void Collect() {
    for (int t = 0; t < store.Horizon(); ++t) {
      student.Act(ToyTrainer::ObservationAt(store, t),
                  {.step = static_cast<uint64_t>(iteration * store.Horizon() + t), .memory = store.MemoryBefore(t)},
                  {.action = store.Action()[t], .memory = store.MemoryBefore(t + 1)});
      task.Step(store.Action()[t].data_ptr<float>());
      task.Write(store, t + 1);
    }
  }
  void Train(int iterations) {
    for (int i = 0; i < iterations; ++i) {
      Collect();
      last = distiller.Update(store, iteration++);
      store.BeginAfter(store);
    }
  }
  std::string Digest() const { return ParametersSha256(student.Network().Parameters()); }
};

// A teacher that has seen its observations.
Teacher UntrainedTeacher(const PolicyConfig& config = StateTeacher()) {
  PpoConfig ppo;
  ppo.horizon = 6;
  ppo.minibatch = 96;
  ppo.sequence = 6;
  ppo.threads = 1;
  ToyTrainer trainer(5, kEnvs, ppo, config);
  return {.policy = trainer.policy.Clone(), .name = "toy"};
}

TEST(Distiller, AStudentThatIsItsTeacherHasNothingToLearn) {
  const Teacher teacher = UntrainedTeacher();
  ToyDistillation run(Settings(), {.policy = teacher.policy.Clone(), .name = "toy"}, StateTeacher());
  run.student.SetState(teacher.policy.State());
  run.Collect();
  const DistillMetrics metrics = run.distiller.Update(run.store, 0);
  EXPECT_NEAR(metrics.action_loss, 0.0, 1e-5);
  EXPECT_NEAR(metrics.std_loss, 0.0, 1e-5);
  EXPECT_NEAR(metrics.action_error, 0.0, 1e-6);
}

TEST(Distiller, AStudentComesToDoWhatItsTeacherDoes) {
  PpoConfig ppo;
  ppo.horizon = 16;
  ppo.minibatch = 512;
  ppo.gamma = 0.9;
  ppo.entropy_coef = 0;
  ppo.threads = 1;
  PolicyConfig knowing;
  knowing.name = "state_mlp";
  ToyTrainer teacher(1, 256, ppo, knowing);
  teacher.Train(25);
  ASSERT_GT(teacher.Evaluate(false), 0.7);
  PolicyConfig seeing;  // from the image
  seeing.aux.feed_actor = true;
  ToyDistillation run(Settings(2), {.policy = teacher.policy.Clone(), .name = "toy"}, seeing);
  run.Train(1);
  const double first = run.last.action_error;
  run.Train(500);  // 32,000 samples
  EXPECT_LT(run.last.action_error, 0.5 * first);
  EXPECT_LT(run.last.aux_loss, 0.1);
}

TEST(Distiller, LossesAreWhatTheFormulasSay) {
  const Teacher teacher = UntrainedTeacher();
  DistillConfig config = Settings(1);
  config.sigma_floor = 0.5;  // above the teacher's 0.3
  ToyDistillation run(config, {.policy = teacher.policy.Clone(), .name = "toy"}, SmallPolicy());
  run.Collect();
  torch::Tensor mine = at::zeros({kEnvs, 3}), mine_std = at::zeros({kEnvs, 3}), theirs = at::zeros({kEnvs, 3}),
                theirs_std = at::zeros({kEnvs, 3}), aux = at::zeros({kEnvs, 3});
  const Observation seen = ToyTrainer::ObservationAt(run.store, 0);
  run.student.Act(seen, {.sample = false}, {.mean = mine, .log_std = mine_std, .aux = aux});
  teacher.policy.Act(seen, {.sample = false}, {.mean = theirs, .log_std = theirs_std});
  const auto norm = [](const torch::Tensor& x) { return x.to(torch::kFloat64).norm(2, 1).mean().item<double>(); };
  const DistillMetrics metrics = run.distiller.Update(run.store, 0);
  EXPECT_NEAR(metrics.action_loss, norm((mine - theirs) / 0.5), 1e-4);
  EXPECT_NEAR(metrics.std_loss, norm(mine_std.exp() - theirs_std.exp()), 1e-4);
  EXPECT_NEAR(metrics.aux_loss, norm(aux - run.store.Step("aux.object_position", 0)), 1e-4);
  EXPECT_NEAR(metrics.action_error, (mine - theirs).abs().mean().item<double>(), 1e-5);
}

TEST(Distiller, MicroBatchesAddUpToTheBatch) {
  DistillConfig split = Settings();
  split.micro_batch = 10;  // does not divide it
  const Teacher teacher = UntrainedTeacher();
  ToyDistillation a(Settings(), {.policy = teacher.policy.Clone(), .name = "toy"}, WithMemory(SmallPolicy()));
  ToyDistillation b(split, {.policy = teacher.policy.Clone(), .name = "toy"}, WithMemory(SmallPolicy()));
  a.Train(1);
  b.Train(1);
  EXPECT_NEAR(a.last.grad_norm, b.last.grad_norm, 1e-5 * a.last.grad_norm);
  EXPECT_NEAR(a.last.action_loss, b.last.action_loss, 1e-5 * a.last.action_loss);
}

TEST(Distiller, TwiceNUpdatesEqualNSaveLoadNMoreWithBothMemories) {
  const auto teacher = [] { return UntrainedTeacher(WithMemory(StateTeacher())); };
  const PolicyConfig networks = WithMemory(SmallPolicy());
  ToyDistillation whole(Settings(), teacher(), networks), first(Settings(), teacher(), networks);
  whole.Train(6);
  first.Train(3);
  ToyDistillation second(Settings(), teacher(), networks);
  second.student.SetState(first.student.State());
  second.distiller.SetState(first.distiller.State());
  second.distiller.Memory().copy_(first.distiller.Memory());
  second.task = first.task;
  second.task.Write(second.store, 0);
  second.store.MemoryBefore(0).copy_(first.store.MemoryBefore(0));
  second.iteration = 3;
  second.Train(3);
  EXPECT_EQ(second.Digest(), whole.Digest());
}

TEST(Distiller, ATeacherThatFaresOtherwiseThanInItsOwnRunStopsTheRun) {
  const auto check = [](Teacher teacher, double here) {
    Policy student(SmallPolicy(), Shapes(), 1);
    Distiller distiller(Settings(), std::move(teacher), student, kEnvs, 1, ToyTrainer::Alone());
    distiller.Check([here](const Policy&) {
      EvaluationResult result;
      result.episodes = 10;
      result.return_mean = here;
      return result;
    });
  };
  Teacher judged = UntrainedTeacher();
  judged.judged = true;
  judged.recorded_return = 2.0;
  EXPECT_NO_THROW(check({.policy = judged.policy.Clone(), .name = "toy", .judged = true, .recorded_return = 2.0}, 1.9));
  EXPECT_NO_THROW(check(UntrainedTeacher(), -7.0));  // nothing to compare with
  try {
    check(std::move(judged), 1.0);
    FAIL() << "nothing was thrown";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("toy"));
    EXPECT_THAT(error.what(), testing::HasSubstr("2.0"));
  }
}

}  // namespace
}  // namespace gripstream
