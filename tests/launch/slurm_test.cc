// Tests launch/slurm_job.h with a Slurm of its own: munged, slurmctld and slurmd on loopback, as this test's children.
#include <gmock/gmock.h>

#include <memory>

#include "core/host.h"
#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kTiny = std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/tiny.yaml";

class Slurm : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch"}) {
      if (!std::filesystem::exists(program)) GTEST_SKIP() << program << " is not installed (tools/setup.sh --tests)";
    }
    if (geteuid() != 0) GTEST_SKIP() << "slurmd needs root";
    WriteConfiguration();
    daemons_.push_back(std::make_unique<Command>(
        std::vector<std::string>{"/usr/sbin/munged", "--foreground", "--force", "--socket=" + (slurm_ / "munge.socket"),
                                 "--key-file=" + (slurm_ / "munge.key"), "--pid-file=" + (slurm_ / "munge.pid"),
                                 "--log-file=" + (slurm_ / "munge.log"), "--seed-file=" + (slurm_ / "munge.seed")}));
    const Deadline deadline = Deadline::After(20);
    while (!std::filesystem::exists(slurm_ / "munge.socket") && !deadline.Passed()) usleep(10000);
    for (const char* daemon : {"/usr/sbin/slurmctld", "/usr/sbin/slurmd"}) {
      daemons_.push_back(
          std::make_unique<Command>(std::vector<std::string>{daemon, "-D", "-f", slurm_ / "slurm.conf"}));
    }
    setenv("SLURM_CONF", (slurm_ / "slurm.conf").c_str(), 1);
    if (!IsIdle()) GTEST_SKIP() << "no Slurm comes up here; its last words:\n" << LastWords();
  }

  void TearDown() override {
    unsetenv("SLURM_CONF");
    while (!daemons_.empty()) {
      kill(daemons_.back()->Pid(), SIGTERM);
      daemons_.back()->Wait(20);
      daemons_.pop_back();
    }
  }

  void WriteConfiguration() const {
    std::filesystem::permissions(slurm_.Path(), std::filesystem::perms(0755));  // munged insists
    std::ofstream(slurm_ / "munge.key") << std::string(128, 'k');
    std::filesystem::permissions(slurm_ / "munge.key", std::filesystem::perms(0600));
    std::filesystem::create_directory(slurm_ / "state");
    std::filesystem::create_directory(slurm_ / "spool");
    const std::string host = HostName().substr(0, HostName().find('.'));
    const int port = 20000 + getpid() % 20000;
    std::ofstream out(slurm_ / "slurm.conf");
    out << "ClusterName=test\nSlurmctldHost=" << host << "(127.0.0.1)\nAuthType=auth/munge\nCredType=cred/munge\n"
        << "AuthInfo=socket=" << slurm_ / "munge.socket"
        << "\nSlurmUser=root\nSlurmctldPort=" << port << "\nSlurmdPort=" << port + 1
        << "\nSlurmctldPidFile=" << slurm_ / "slurmctld.pid"
        << "\nSlurmdPidFile=" << slurm_ / "slurmd.pid"
        << "\nSlurmdSpoolDir=" << slurm_ / "spool"
        << "\nStateSaveLocation=" << slurm_ / "state"
        << "\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
        << "JobAcctGatherType=jobacct_gather/none\nSchedulerType=sched/builtin\nSelectType=select/cons_tres\n"
        << "SelectTypeParameters=CR_Core\nSlurmdParameters=config_overrides\nMpiDefault=none\nReturnToService=2\n"
        << "MailProg=/bin/true\nKillWait=10\nNodeName=" << host << " NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN\n"
        << "PartitionName=all Nodes=" << host << " Default=YES State=UP\n";
  }

  static bool IsIdle() {
    for (const Deadline deadline = Deadline::After(30); !deadline.Passed(); usleep(100000)) {
      Command info({"/usr/bin/sinfo", "--noheader", "--format=%t"});
      info.Wait(20);
      if (info.Output().starts_with("idle")) return true;
    }
    return false;
  }

  std::string LastWords() {
    std::string words;
    for (const auto& daemon : daemons_) {
      daemon->WaitForOutput("nobody says this", 0.2);
      words += daemon->Output().substr(daemon->Output().size() - std::min<size_t>(daemon->Output().size(), 500)) + "\n";
    }
    return words;
  }

  Ended LaunchJob(std::vector<std::string> arguments, const std::vector<std::string>& settings) const {
    arguments.insert(arguments.begin(), {"launch", kTiny, "--engine", "slurm", "--set", "run.dir=" + run_});
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    return RunGripstream(arguments, 180);
  }
  // What the job has said so far.
  std::string JobLog() const {
    std::string text;
    for (const auto& entry : std::filesystem::directory_iterator(run_ + "/logs")) {
      if (!entry.path().filename().string().starts_with("slurm-")) continue;
      std::ifstream in(entry.path());
      text.append(std::istreambuf_iterator<char>(in), {});
    }
    return text;
  }

  ScratchFolder slurm_, folder_;
  std::string run_ = folder_ / "run";
  std::vector<std::unique_ptr<Command>> daemons_;
};

TEST_F(Slurm, RunsAStepPerRoleAndLearnsWhatTrainDoes) {
  const Ended job = LaunchJob({"--wait"}, {"sim.processes=2", "launch.slurm.job=[--time=5]"});
  EXPECT_EQ(job.code, 0) << job.output << JobLog();
  const Ended trained = RunGripstream(TinyRun(folder_ / "trained", {"sim.processes=2"}));
  EXPECT_EQ(trained.code, 0) << trained.output;
  EXPECT_EQ(ReadJson(run_ + "/results.json")["parameters_sha256"],
            ReadJson(folder_ / "trained/results.json")["parameters_sha256"]);
  EXPECT_TRUE(AllGone(run_, 10));
}

TEST_F(Slurm, SubmitsAndLeavesTheRestToTheQueue) {
  const Ended job = LaunchJob({}, {"train.iterations=1000000", "train.checkpoint_every=1", "wire.transport=zmq"});
  ASSERT_EQ(job.code, 0) << job.output;
  EXPECT_THAT(job.output, AllOf(HasSubstr("job "), HasSubstr("scancel")));
  const Deadline deadline = Deadline::After(120);
  while (!std::filesystem::exists(run_ + "/checkpoints/iteration_000002.safetensors") && !deadline.Passed())
    usleep(20000);
  // scancel ends the run as Ctrl-C does: with results.
  EXPECT_EQ(Command({"/usr/bin/scancel", "--name=gripstream"}).Wait(20), 0);
  while (!std::filesystem::exists(run_ + "/results.json") && !deadline.Passed()) usleep(20000);
  ASSERT_TRUE(std::filesystem::exists(run_ + "/results.json")) << JobLog();
  EXPECT_EQ(ReadJson(run_ + "/results.json")["status"], "interrupted");
  EXPECT_TRUE(AllGone(run_, 20));
}

TEST_F(Slurm, NamesARoleThatNeverStarts) {
  // The second simulator's step asks for more processors than there are.
  const Ended job =
      LaunchJob({"--wait"}, {"sim.processes=2", "wire.join_s=8", "launch.slurm.simulator=[--cpus-per-task=2]",
                             "launch.slurm.job=[--cpus-per-task=1]"});
  EXPECT_EQ(job.code, 1) << job.output;
  EXPECT_THAT(JobLog(), HasSubstr("1 of 2 simulators joined in time; missing: environments"));
}

TEST_F(Slurm, ReportsWhatSbatchRefuses) {
  const Ended job = LaunchJob({}, {"launch.slurm.job=[--partition=nowhere]"});
  EXPECT_EQ(job.code, 1) << job.output;
  EXPECT_THAT(job.output, AllOf(HasSubstr("Slurm refuses the job"), HasSubstr("partition")));
}

TEST_F(Slurm, DryRunPrintsTheScriptAndAsksTheController) {
  const Ended dry = LaunchJob({"--dry-run"}, {});
  EXPECT_EQ(dry.code, 0) << dry.output;
  EXPECT_THAT(dry.output, AllOf(HasSubstr("#SBATCH --ntasks=2"), HasSubstr("begin 'simulator 0' srun"),
                                HasSubstr("ok    Slurm"), HasSubstr("idle")));
  EXPECT_FALSE(std::filesystem::exists(run_));
}

}  // namespace
}  // namespace gripstream
