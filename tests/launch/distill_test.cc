// Tests distillation with the real command: a depth teacher, a stereo student, one record for both.
#include <gmock/gmock.h>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

class Distill : public testing::Test {
 protected:
  void SetUp() override {
    const Ended trained = RunGripstream(
        TinyRun(folder_ / "teacher", {"policy.actor_rnn.kind=gru", "policy.actor_rnn.units=6", "ppo.sequence=4"}));
    ASSERT_EQ(trained.code, 0) << trained.output;
  }
  // A student of colours from two cameras, beside the depth that the teacher needs.
  std::vector<std::string> Student(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"distill.teacher=" + (folder_ / "teacher"),
                                    "policy.name=rgb",
                                    "policy.actor_rnn.kind=lstm",
                                    "policy.actor_rnn.units=6",
                                    "render.rgb.cameras=[stereo_left, stereo_right]",
                                    "policy.inference_chunk=4",
                                    "distill.sequence=2",
                                    "train.iterations=4",
                                    "eval.blank_image=false"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  nlohmann::json Run(const std::string& name, const std::vector<std::string>& overrides) {
    const Ended ended = RunGripstream(TinyRun(folder_ / name, overrides));
    EXPECT_EQ(ended.code, 0) << ended.output;
    return ReadJson(folder_ / (name + "/results.json"));
  }
  std::string Refusal(const std::vector<std::string>& overrides) {
    const Ended ended = RunGripstream(TinyRun(folder_ / "refused", overrides));
    EXPECT_EQ(ended.code, 2) << ended.output;
    return ended.output;
  }
  ScratchFolder folder_;
};

TEST_F(Distill, AStudentIsTheSameOnEverySplitAndAfterAResume) {
  const std::string whole = Run("whole", Student())["parameters_sha256"];
  EXPECT_EQ(Run("split", Student({"sim.processes=2", "sim.envs=8"}))["parameters_sha256"], whole);
  EXPECT_EQ(Run("zmq", Student({"wire.transport=zmq", "runtime.mode=double_buffered"}))["parameters_sha256"], whole);
  Run("parts", Student({"train.iterations=2"}));
  const Ended ended = RunGripstream({"train", "--resume", folder_ / "parts", "--set", "train.iterations=4"});
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(ReadJson(folder_ / "parts/results.json")["parameters_sha256"], whole);
}

TEST_F(Distill, TheCommandTakesTheTeacherAndTheStudentEvaluatesAndExportsLikeAnyPolicy) {
  std::vector<std::string> arguments = TinyRun(folder_ / "student", Student());
  arguments[0] = "distill";
  arguments.insert(arguments.end(), {"--teacher", folder_ / "teacher"});
  const Ended ended = RunGripstream(arguments);
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(RunGripstream({"eval", folder_ / "student"}).code, 0);
  EXPECT_EQ(RunGripstream({"export", folder_ / "student", "-o", folder_ / "out"}).code, 0);
}

TEST_F(Distill, ATeacherThatDoesNotFitIsRefusedByName) {
  EXPECT_THAT(Refusal(Student({"distill.teacher=" + (folder_ / "nowhere")})), HasSubstr("nowhere"));
  EXPECT_THAT(Refusal(Student({"render.width=40"})), HasSubstr("obs.depth"));
  EXPECT_THAT(Refusal(Student({"task.action.map=joint_targets"})), HasSubstr("distill.teacher"));
  EXPECT_THAT(Refusal(Student({"distill.sigma_floor=0"})), HasSubstr("distill.sigma_floor"));
  EXPECT_THAT(Refusal(Student({"runtime.on_loss=replace"})), HasSubstr("runtime.on_loss"));
}

TEST_F(Distill, ATeacherThatSeesAnotherTaskStopsTheRunBeforeTheStudentLearns) {
  const Ended ended = RunGripstream(
      TinyRun(folder_ / "other", Student({"task.spawn_center=[-0.45, 0.3]", "distill.teacher_tolerance=0.001"})));
  EXPECT_EQ(ended.code, 1) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("in its own run"));
}

TEST_F(Distill, ATeacherWhoseOwnRunNeverEvaluatedItIsTakenUnjudged) {
  nlohmann::json results = ReadJson(folder_ / "teacher/results.json");
  results["episodes"] = 0;
  results["return"] = 1e9;  // nothing here would be like it
  std::ofstream(folder_ / "teacher/results.json") << results.dump();
  Run("student", Student({"train.iterations=1"}));
}

}  // namespace
}  // namespace gripstream
