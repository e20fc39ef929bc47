// Tests launch/doctor.h on made-up machines.
#include "launch/doctor.h"

#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "launch/version.h"

namespace gripstream {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Verdict = Finding::Verdict;

// A machine with everything, from which tests take things away.
class MadeUpMachine : public Surroundings {
 public:
  std::set<std::string> missing_libraries;
  std::vector<std::string> gpus = {"H200"};
  std::string gpu_problem;
  bool device_files = true, driver = true, loopback = true, shared_memory = true;
  std::optional<uint64_t> shm_free = uint64_t{1} << 30;
  uint64_t memory = uint64_t{8} << 30;
  int cores = 8, open_files = 1024;
  std::string mujoco = kMujocoVersion;
  std::set<std::string> broken_programs;
  std::set<int> taken_ports;

  std::string WhyNotLoad(const std::string& library) override {
    return missing_libraries.contains(library) ? library + ": cannot open shared object file" : "";
  }
  std::vector<std::string> Gpus(std::string& problem) override {
    problem = gpu_problem;
    return gpus;
  }
  bool Exists(const std::string& path) override { return device_files && path.starts_with("/dev/nvidia"); }
  std::optional<std::string> FirstLine(const std::string&) override {
    return driver ? std::optional<std::string>("NVRM version: 590") : std::nullopt;
  }
  std::optional<uint64_t> FreeBytes(const std::string&) override { return shm_free; }
  uint64_t AvailableMemory() override { return memory; }
  int Cores() override { return cores; }
  int OpenFiles() override { return open_files; }
  std::string MujocoVersion() override { return mujoco; }
  std::string WhyNotStart(const std::string& program) override {
    return broken_programs.contains(program) ? "libtorch_cpu.so: cannot open shared object file" : "";
  }
  std::string WhyNotListen(int port) override {
    return !loopback ? "Cannot assign requested address" : taken_ports.contains(port) ? "Address already in use" : "";
  }
  std::string WhyNoSharedMemory() override { return shared_memory ? "" : "memfd_create: Function not implemented"; }

  // Nothing that only GPUs need.
  static MadeUpMachine WithoutGpu() {
    MadeUpMachine machine;
    machine.gpus.clear();
    machine.gpu_problem = "libcuda.so.1: cannot open shared object file";
    machine.device_files = machine.driver = false;
    machine.missing_libraries = {"libcudart.so.13", "libnccl.so.2", "libEGL.so.1", "libOSMesa.so.8"};
    return machine;
  }
};

std::vector<Finding> Of(const std::vector<Finding>& findings, Verdict verdict) {
  std::vector<Finding> chosen;
  for (const Finding& finding : findings) {
    if (finding.verdict == verdict) chosen.push_back(finding);
  }
  return chosen;
}

const RunConfig& Defaults() {
  static const RunConfig config;
  return config;
}

// The one failure that the change makes of a whole machine.
Finding OnlyFailure(const std::function<void(MadeUpMachine&)>& change, const RunConfig& config = Defaults()) {
  MadeUpMachine machine;
  change(machine);
  const std::vector<Finding> failures = Of(Diagnose(machine, config), Verdict::kFailed);
  EXPECT_EQ(failures.size(), 1u);
  if (failures.empty()) return {};
  EXPECT_THAT(failures.front().mend, Not(IsEmpty()));
  return failures.front();
}

TEST(Doctor, AMachineWithEverythingHasNothingToMend) {
  MadeUpMachine machine;
  const std::vector<Finding> findings = Diagnose(machine, Defaults());
  EXPECT_EQ(Of(findings, Verdict::kGood).size(), findings.size());
}

TEST(Doctor, WithoutAGpuTheDefaultsNeedNothingMore) {
  MadeUpMachine machine = MadeUpMachine::WithoutGpu();
  const std::vector<Finding> findings = Diagnose(machine, Defaults());
  EXPECT_THAT(Of(findings, Verdict::kFailed), IsEmpty());
  EXPECT_EQ(Of(findings, Verdict::kAbsent).size(), 5u);
}

TEST(Doctor, WhatTheConfigurationNeedsMustBeThere) {
  MadeUpMachine machine = MadeUpMachine::WithoutGpu();
  RunConfig config;
  config.wire.transport = "nccl";
  std::set<std::string> names;
  for (const Finding& finding : Of(Diagnose(machine, config), Verdict::kFailed)) names.insert(finding.what);
  EXPECT_EQ(names, (std::set<std::string>{"driver", "GPU", "CUDA runtime", "NCCL"}));
  RunConfig with_mujoco;
  with_mujoco.render.backend = "mujoco";
  const std::vector<Finding> failures = Of(Diagnose(machine, with_mujoco), Verdict::kFailed);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_THAT(failures[0].mend, HasSubstr("libegl1"));
  machine.missing_libraries.erase("libOSMesa.so.8");
  EXPECT_THAT(Of(Diagnose(machine, with_mujoco), Verdict::kFailed), IsEmpty());
}

TEST(Doctor, AGpuThatIsThereMustWork) {
  EXPECT_EQ(OnlyFailure([](MadeUpMachine& m) { m.driver = false; }).what, "driver");
  const Finding gpu = OnlyFailure([](MadeUpMachine& m) {
    m.gpus.clear();
    m.gpu_problem = "the CUDA driver answers with error 999";
  });
  EXPECT_EQ(gpu.what, "GPU");
  EXPECT_THAT(gpu.found, HasSubstr("999"));
  EXPECT_THAT(gpu.mend, HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST(Doctor, EveryOtherFailureNamesWhatMendsIt) {
  EXPECT_THAT(OnlyFailure([](MadeUpMachine& m) { m.broken_programs = {"gripstream-learner"}; }).mend,
              HasSubstr("tools/setup.sh"));
  EXPECT_THAT(OnlyFailure([](MadeUpMachine& m) { m.broken_programs = {"gripstream-sim"}; }).what,
              HasSubstr("simulator"));
  EXPECT_THAT(OnlyFailure([](MadeUpMachine& m) { m.mujoco = "3.2.0"; }).found, HasSubstr("library 3.2.0"));
  EXPECT_THAT(OnlyFailure([](MadeUpMachine& m) { m.shm_free = 1 << 20; }).mend, HasSubstr("--shm-size"));
  EXPECT_THAT(OnlyFailure([](MadeUpMachine& m) { m.shm_free.reset(); }).found, HasSubstr("not mounted"));
  EXPECT_THAT(OnlyFailure([](MadeUpMachine& m) { m.shared_memory = false; }).found, HasSubstr("memfd_create"));
  EXPECT_THAT(OnlyFailure([](MadeUpMachine& m) { m.loopback = false; }).mend, HasSubstr("ip link set lo up"));
  EXPECT_THAT(OnlyFailure([](MadeUpMachine& m) { m.cores = 1; }).mend, HasSubstr("--cpus-per-task"));
  EXPECT_THAT(OnlyFailure([](MadeUpMachine& m) { m.memory = 1 << 20; }).what, HasSubstr("memory"));
  EXPECT_THAT(OnlyFailure([](MadeUpMachine& m) { m.open_files = 64; }).mend, HasSubstr("ulimit"));
}

TEST(Doctor, TheRunsOwnPortIsTried) {
  RunConfig config;
  config.wire.transport = "zmq";
  config.wire.address = "tcp://127.0.0.1:5555";
  const Finding finding = OnlyFailure([](MadeUpMachine& m) { m.taken_ports = {5555}; }, config);
  EXPECT_EQ(finding.what, "port 5555");
  EXPECT_THAT(finding.found, HasSubstr("in use"));
}

}  // namespace
}  // namespace gripstream
