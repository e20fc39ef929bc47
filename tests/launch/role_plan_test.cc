// Tests launch/role_plan.h, launch/slurm_job.h and launch/addresses.h.
#include "launch/role_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "launch/addresses.h"
#include "launch/slurm_job.h"
#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

RunConfig Config(const std::vector<std::string>& overrides) {
  return ReadRunConfigText("{}", "test", overrides);
}

const std::vector<Gpu> kFour = {
    {"GPU-a", "GPU 4 (a)"}, {"GPU-b", "GPU 5 (b)"}, {"GPU-c", "GPU 6 (c)"}, {"GPU-d", "GPU 7 (d)"}};

TEST(RolePlan, GivesEachRoleItsGpuAlone) {
  const RolePlan plan = PlanRoles(Config({"sim.processes=3"}), "RUN", {}, {}, kFour);
  ASSERT_EQ(plan.learners.size(), 1u);
  ASSERT_EQ(plan.simulators.size(), 3u);
  EXPECT_THAT(plan.learners[0].environment, ElementsAre("CUDA_VISIBLE_DEVICES=GPU-a"));
  EXPECT_THAT(plan.simulators[2].environment, ElementsAre("CUDA_VISIBLE_DEVICES=GPU-d"));
  EXPECT_EQ(plan.simulators[1].gpu, "GPU 6 (c)");
  EXPECT_TRUE(PlanRoles(Config({}), "RUN", {}, {}, {}).learners[0].environment.empty());
}

TEST(RolePlan, SaysWhichProgramPlaysWhichRole) {
  const RolePlan plan =
      PlanRoles(Config({"sim.processes=2", "learner.processes=2"}), "RUN", {"--resume", "c p"}, {"run.seed=3"}, {});
  EXPECT_EQ(plan.learners[1].name, "learner 1");
  EXPECT_THAT(ShellCommand(plan.learners[1]),
              EndsWith("gripstream-learner RUN --resume 'c p' --rank 1 --set run.seed=3"));
  EXPECT_THAT(ShellCommand(plan.simulators[1]), EndsWith("gripstream-sim RUN --index 1 --set run.seed=3"));
  const RolePlan parallel = PlanRoles(Config({"sim.processes=2", "runtime.mode=data_parallel"}), "RUN", {}, {}, {});
  EXPECT_EQ(parallel.Processes(), 2u);
  EXPECT_THAT(parallel.learners[0].argv[0], EndsWith("gripstream-single"));
}

TEST(RolePlan, QuotesForTheShell) {
  EXPECT_EQ(ShellWord("--gpus=1"), "--gpus=1");
  EXPECT_EQ(ShellWord("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(ShellWord(""), "''");
}

TEST(SlurmScript, HasAStepPerRoleWithItsOptions) {
  const RunConfig config = Config(
      {"sim.processes=2", "launch.slurm.job=[--partition=gpu, --time=1:00:00]", "launch.slurm.learner=[--gpus=1]"});
  const std::string script = SlurmScript(config, PlanRoles(config, "/r/u n", {}, {}, {}), "/r/u n");
  EXPECT_THAT(script, testing::StartsWith("#!/bin/bash\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --ntasks=3\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --partition=gpu\n#SBATCH --time=1:00:00\n"));
  EXPECT_THAT(script, HasSubstr("begin learner srun --ntasks=1 --nodes=1 --exact --job-name=learner --gpus=1 "));
  EXPECT_THAT(script, HasSubstr("gripstream-sim '/r/u n' --index 1\n"));
  EXPECT_THAT(script, HasSubstr("SLURM_JOB_NUM_NODES > 1"));
  const RunConfig wide = Config({"wire.transport=zmq", "wire.address=tcp://10.0.0.0/24"});
  EXPECT_THAT(SlurmScript(wide, PlanRoles(wide, "/r", {}, {}, {}), "/r"), Not(HasSubstr("SLURM_JOB_NUM_NODES > 1")));
}

TEST(Addresses, OfLearnersAreNamesOrNeighbouringPorts) {
  RunConfig config = Config({"run.dir=/tmp/some run", "learner.processes=2", "sim.processes=2"});
  const std::string name = ListeningWire(config, 0).address;
  EXPECT_THAT(name, testing::StartsWith("@gripstream-"));
  EXPECT_EQ(ListeningWire(config, 1).address, name + "-1");
  EXPECT_EQ(ConnectingWire(config, 1, Deadline::After(0)).address, name + "-1");
  config.wire.address = "tcp://127.0.0.1:5000";
  EXPECT_EQ(ListeningWire(config, 1).address, "tcp://127.0.0.1:5001");
}

TEST(Addresses, InANetworkAreAnnouncedInTheRunFolderUntilTheLearnerEnds) {
  const ScratchFolder scratch;
  const RunConfig config =
      Config({"run.dir=" + scratch.Path(), "wire.transport=zmq", "wire.address=tcp://127.0.0.0/8"});
  EXPECT_EQ(WireNetwork(config.wire), "127.0.0.0/8");
  EXPECT_EQ(ListeningWire(config, 0).address, "tcp://127.0.0.1:0");
  {
    const AnnouncedAddress announced(config, 0, "tcp://127.0.0.1:1");
    std::ifstream in(scratch / "learner_0.address");
    std::string line;
    std::getline(in, line);
    EXPECT_EQ(line, "tcp://127.0.0.1:1");
    // Nobody listens there.
    try {
      ConnectingWire(config, 0, Deadline::After(0.2));
      FAIL() << "found a learner";
    } catch (const RunError& error) {
      EXPECT_THAT(error.what(),
                  testing::AllOf(HasSubstr("learner 0"), HasSubstr("wire.join_s"), HasSubstr("127.0.0.1:1")));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "learner_0.address"));
  EXPECT_THROW(ConnectingWire(config, 0, Deadline::After(0)), RunError);
}

TEST(Addresses, RefuseWhatIsNoNetwork) {
  EXPECT_THROW(Config({"wire.transport=zmq", "wire.address=tcp://10.0.0.0/40"}), InputError);
  EXPECT_THROW(Config({"learner.processes=2", "sim.processes=2", "learner.trusted_network=10.0.0.1"}), InputError);
  EXPECT_THROW(Config({"learner.trusted_network=10.0.0.0/24"}), InputError);  // for one learner
}

}  // namespace
}  // namespace gripstream
