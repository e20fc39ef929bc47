// Tests launch/main.cc: whatever is wrong with the input is said in one line, with exit code 2, before anything is
// made.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kTiny = std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/tiny.yaml";

class BadInput : public testing::Test {
 protected:
  // Exit code 2 and exactly one line of text that holds each of `parts`; no run folder.
  void ExpectRefused(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    const Ended ended = RunGripstream(arguments, 30);
    EXPECT_EQ(ended.code, 2) << ended.output;
    for (const std::string& part : parts) EXPECT_THAT(ended.output, HasSubstr(part));
    EXPECT_EQ(ended.output.rfind("gripstream: "), 0u) << ended.output;
    EXPECT_EQ(std::count(ended.output.begin(), ended.output.end(), '\n'), 1) << ended.output;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
  }
  void ExpectTrainRefused(const std::vector<std::string>& overrides, const std::vector<std::string>& parts) {
    ExpectRefused(TinyRun(folder_ / "run", overrides), parts);
  }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  ScratchFolder folder_;
};

TEST_F(BadInput, OnTheCommandLine) {
  ExpectRefused({}, {"command line"});
  ExpectRefused({"frobnicate"}, {"command line", "frobnicate"});
  ExpectRefused({"train"}, {"command line", "configuration or --resume"});
  ExpectRefused({"train", "no/such.yaml"}, {"no/such.yaml", "cannot be read"});
  ExpectRefused({"bench", "everything"}, {"bench", "everything", "physics"});
}

TEST_F(BadInput, InTheConfiguration) {
  ExpectTrainRefused({"sim.evns=3"}, {"--set", "sim.evns", "did you mean 'sim.envs'"});
  ExpectTrainRefused({"sim.envs=many"}, {"--set", "sim.envs", "many", "integer"});
  ExpectTrainRefused({"render.width=0"}, {"render.width", "'0'", "1 to 4096"});
  ExpectTrainRefused({"wire.transport=pigeon"}, {"wire.transport", "pigeon", "inproc shm zmq"});
  ExpectTrainRefused({"ppo.minibatch=33"}, {"ppo.minibatch", "33", "divisor"});
  ExpectTrainRefused({"wire.transport=inproc", "sim.processes=2", "sim.envs=8"}, {"sim.processes", "inproc"});
  ExpectTrainRefused({"runtime.mode=double_buffered", "sim.envs=24"},
                     {"sim.envs", "24", "2 x policy.inference_chunk = 16", "double_buffered"});
  ExpectTrainRefused({"runtime.mode=async", "sim.envs=24"}, {"sim.envs", "24", "2 x policy.inference_chunk", "async"});
  ExpectTrainRefused({"learner.processes=2", "sim.processes=3"}, {"sim.processes", "'3'", "multiple", "= 2"});
  ExpectTrainRefused({"learner.processes=2", "sim.processes=2", "sim.envs=12"},
                     {"sim.envs", "'12'", "policy.inference_chunk = 8"});
  ExpectTrainRefused({"runtime.mode=data_parallel", "learner.processes=2", "sim.processes=4"},
                     {"sim.processes", "'4'", "learner.processes = 2", "data_parallel"});
  ExpectTrainRefused({"learner.gradient_delay=plain"}, {"learner.gradient_delay", "plain", "learner.processes 1"});
  ExpectTrainRefused({"learner.gradient_delay=some"}, {"learner.gradient_delay", "some", "none plain predicted"});
  ExpectTrainRefused({"task.meshes.folder=no/such"}, {"task.meshes.folder", "no/such"});
  ExpectTrainRefused({"task.meshes.density=0"}, {"task.meshes.density", "'0'"});
  ExpectTrainRefused({"task.binding.servo_stiffness=[1, 2]"}, {"task.binding.servo_stiffness", "2 numbers"});
  ExpectTrainRefused({"task.model=package:no_such_package/a.xml"}, {"package:no_such_package", "not installed"});
  ExpectTrainRefused({"runtime.max_staleness=1"}, {"runtime.max_staleness", "'1'", "async"});
  const std::string twice = Write("twice.yaml", "run: {seed: 1}\nrun: {seed: 2}\n");
  ExpectRefused({"train", twice}, {twice, "'run' is given twice"});
  const std::string endless = Write("endless.yaml", "sim: &s\n  foo: *s\n");
  ExpectRefused({"train", endless}, {endless, "levels deep"});
  const std::string two = Write("two.yaml", "run: {seed: 1}\n---\nrun: {seed: 2}\n");
  ExpectRefused({"train", two}, {two, "several YAML documents"});
  ExpectTrainRefused({"sim="}, {"--set", "sim=", "a value"});
  const std::string broken = Write("broken.yaml", "run: [1\n");
  ExpectRefused({"train", broken}, {broken, "not valid YAML"});
}

TEST_F(BadInput, WhatThisVersionCannotDoIsNamed) {
  ExpectTrainRefused({"runtime.inference=simulator"}, {"runtime.inference", "simulator", "learner"});
  ExpectTrainRefused({"physics.backend=mjwarp"}, {"physics.backend", "mjwarp"});
  if (!std::filesystem::exists("/dev/nvidiactl")) {  // with a GPU at hand it is no bad input
    ExpectTrainRefused({"render.backend=cuda"}, {"render.backend", "cuda"});
  }
  ExpectTrainRefused({"wire.transport=nccl"}, {"wire.transport", "nccl"});
}

TEST_F(BadInput, InTheModel) {
  ExpectTrainRefused({"task.model=no/such.xml"}, {"no/such.xml"});
  const std::string malformed = Write("malformed.xml", "<mujoco><worldbody><geom type='potato'/></worldbody></mujoco>");
  ExpectTrainRefused({"task.model=" + malformed}, {malformed, "potato"});
  ExpectTrainRefused({"task.binding.actuators=[iiwa7_act_1, iiwa7_act_9]"}, {"iiwa7_act_9", "iiwa7_act_"});
  ExpectTrainRefused({"task.camera=dept"}, {"dept", "depth"});
  ExpectTrainRefused({"render.rgb.cameras=[stereo_left, stereo_rigt]"},
                     {"render.rgb.cameras", "stereo_rigt", "did you mean 'stereo_right'"});
  ExpectTrainRefused({"render.depth.cameras=[depth, task.camera]"}, {"render.depth.cameras", "every camera once"});
  ExpectTrainRefused({"task.binding.palm_site=plam"}, {"plam", "palm"});
  ExpectTrainRefused({"task.objects=[cube_55]"}, {"cube_55", "cube_5"});
}

TEST_F(BadInput, ARunFolderInUseIsNotOverwritten) {
  std::filesystem::create_directories(folder_ / "old");
  Write("old/config.yaml", "run: {seed: 5}\n");
  ExpectRefused({"train", kTiny, "--set", "run.dir=" + (folder_ / "old")}, {"run.dir", folder_ / "old", "--resume"});
  std::ifstream in(folder_ / "old/config.yaml");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "run: {seed: 5}\n");
}

// The networks are the learner's to judge, after the run folder has been named: still one line, and no folder stays.
TEST_F(BadInput, NetworksThatDoNotFitAreRefusedByTheLearner) {
  const auto expect_refused = [&](const std::vector<std::string>& overrides, const std::string& key) {
    const Ended ended = RunGripstream(TinyRun(folder_ / "run", overrides), 30);
    EXPECT_EQ(ended.code, 2) << ended.output;
    const std::string error = ended.output.substr(std::min(ended.output.find("gripstream: "), ended.output.size()));
    EXPECT_THAT(error, HasSubstr(key));
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << error;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
  };
  expect_refused({"render.width=3", "render.height=3"}, "policy.encoder.kernels");
  expect_refused({"policy.image.near_m=3"}, "policy.image");
  expect_refused({"render.depth.cameras=[]"}, "render.depth.cameras");
  expect_refused({"render.depth.cameras=[depth, stereo_left]"}, "exactly one camera in render.depth.cameras");
}

TEST_F(BadInput, ResumeAndEvalNeedARun) {
  std::filesystem::create_directories(folder_ / "empty");
  ExpectRefused({"train", "--resume", folder_ / "empty"}, {folder_ / "empty", "config.yaml"});
  ExpectRefused({"eval", folder_ / "nothing"}, {folder_ / "nothing"});
}

// A port that another program listens on.
TEST_F(BadInput, AnAddressInUseIsNamedAndLeavesNoFolder) {
  const int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  socklen_t size = sizeof(address);
  getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string text = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const Ended ended = RunGripstream(TinyRun(folder_ / "run", {"wire.transport=zmq", "wire.address=" + text}), 30);
  EXPECT_EQ(ended.code, 2) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("wire.address"), HasSubstr(text), HasSubstr("in use")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
  close(taken);
}

class BadCheckpoint : public BadInput {
 protected:
  void SetUp() override {
    const Ended ended = RunGripstream(TinyRun(folder_ / "good"));
    ASSERT_EQ(ended.code, 0) << ended.output;
  }
  std::string Checkpoint() const { return folder_ / "good/checkpoints/iteration_000002.safetensors"; }
  void ExpectEvalRefused(const std::vector<std::string>& parts) {
    const Ended ended = RunGripstream({"eval", Checkpoint()}, 30);
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(Checkpoint()));
    for (const std::string& part : parts) EXPECT_THAT(ended.output, HasSubstr(part));
  }
};

TEST_F(BadCheckpoint, TruncatedForeignOrOfAnotherNetworkIsRefused) {
  std::filesystem::resize_file(Checkpoint(), std::filesystem::file_size(Checkpoint()) - 100);
  ExpectEvalRefused({});
  std::ofstream(Checkpoint()) << "PK\x03\x04 this is somebody else's file";
  ExpectEvalRefused({});
}

TEST_F(BadCheckpoint, AnotherNumberOfEnvironmentsIsRefusedInOneLineAndLeavesTheRunAsItWas) {
  const auto read_config = [&] {
    std::ifstream in(folder_ / "good/config.yaml");
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string before = read_config();
  const Ended ended = RunGripstream({"train", "--resume", folder_ / "good", "--set", "sim.envs=32"}, 30);
  EXPECT_EQ(ended.code, 2) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr(Checkpoint()), HasSubstr("16 environments")));
  EXPECT_EQ(read_config(), before);
}

TEST_F(BadCheckpoint, AnotherNetworkIsNamedByItsFirstDifference) {
  const Ended ended = RunGripstream({"eval", Checkpoint(), "--set", "policy.actor_hidden=[17]"}, 30);
  EXPECT_EQ(ended.code, 2) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr(Checkpoint()), HasSubstr("actor"), HasSubstr("17")));
}

}  // namespace
}  // namespace gripstream
