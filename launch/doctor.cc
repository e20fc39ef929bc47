#include "launch/doctor.h"

#include <cstdio>
#include <cstdlib>

#include "launch/version.h"

namespace gripstream {
namespace {

using Verdict = Finding::Verdict;

constexpr uint64_t kMegabyte = 1'000'000;
constexpr uint64_t kLeastShm_bytes = 64 * kMegabyte;
constexpr uint64_t kLeastMemory_bytes = 1000 * kMegabyte;
constexpr int kLeastOpenFiles = 256;
constexpr const char* kSetup = "run tools/setup.sh, then tools/build.sh";

Finding Good(const std::string& what, const std::string& found) {
  return {what, Verdict::kGood, found, ""};
}
Finding Failed(const std::string& what, const std::string& found, const std::string& mend) {
  return {what, Verdict::kFailed, found, mend};
}
// A failure when it is needed, else only absent.
Finding Missing(const std::string& what, bool needed, const std::string& found, const std::string& mend) {
  if (needed) return Failed(what, found, mend);
  return {what, Verdict::kAbsent, "not needed by this configuration (" + found + ")", ""};
}

std::string InMegabytes(uint64_t bytes) {
  return std::to_string(bytes / kMegabyte) + " MB";
}

bool NeedsGpu(const RunConfig& config) {
  return config.render.backend == "cuda" || config.wire.transport == "nccl";
}

Finding CheckDriver(Surroundings& machine, const RunConfig& config) {
  const bool device = machine.Exists("/dev/nvidiactl") || machine.Exists("/dev/nvidia0");
  const std::optional<std::string> version = machine.FirstLine("/proc/driver/nvidia/version");
  if (version) return Good("driver", *version);
  return Missing(
      "driver", NeedsGpu(config) || device, "no NVIDIA kernel driver is loaded",
      "install the NVIDIA driver (Debian: nvidia-driver) and reboot; in a container, start it with --gpus all");
}

Finding CheckGpu(Surroundings& machine, const RunConfig& config) {
  const bool device = machine.Exists("/dev/nvidiactl") || machine.Exists("/dev/nvidia0");
  std::string problem;
  const std::vector<std::string> gpus = machine.Gpus(problem);
  if (gpus.empty()) {
    return Missing("GPU", NeedsGpu(config) || device, problem.empty() ? "the driver counts none" : problem,
                   "check CUDA_VISIBLE_DEVICES and nvidia-smi; in a container, start it with --gpus all; without a GPU "
                   "set render.backend: cpu and wire.transport: shm");
  }
  std::string names;
  for (const std::string& gpu : gpus) names += (names.empty() ? "" : ", ") + gpu;
  return Good("GPU", names);
}

// A library by any of its names.
Finding CheckLibrary(Surroundings& machine, const std::string& what, const std::vector<std::string>& names, bool needed,
                     const std::string& mend) {
  std::string problems;
  for (const std::string& name : names) {
    const std::string problem = machine.WhyNotLoad(name);
    if (problem.empty()) return Good(what, name);
    problems += (problems.empty() ? "" : "; ") + problem;
  }
  return Missing(what, needed, problems, mend);
}

Finding CheckRole(Surroundings& machine, const std::string& what, const std::string& program, const std::string& good) {
  const std::string problem = machine.WhyNotStart(program);
  return problem.empty() ? Good(what, good) : Failed(what, problem, kSetup);
}

Finding CheckMujoco(Surroundings& machine) {
  const std::string version = machine.MujocoVersion();
  if (version == kMujocoVersion) return Good("MuJoCo", version);
  return Failed("MuJoCo", "library " + version + ", built against " + kMujocoVersion, kSetup);
}

Finding CheckShm(Surroundings& machine) {
  const std::string problem = machine.WhyNoSharedMemory();
  if (!problem.empty()) {
    return Failed("shared memory", problem, "raise the memory limit, or set wire.transport: zmq");
  }
  const std::optional<uint64_t> free = machine.FreeBytes("/dev/shm");
  const char* mend = "mount a larger one (mount -o remount,size=1G /dev/shm; docker run --shm-size=1g)";
  if (!free) return Failed("/dev/shm", "not mounted", mend);
  if (*free < kLeastShm_bytes) return Failed("/dev/shm", InMegabytes(*free) + " free", mend);
  return Good("/dev/shm", InMegabytes(*free) + " free");
}

Finding CheckPort(Surroundings& machine, const RunConfig& config) {
  const std::string& address = config.wire.address;
  const int port = address.starts_with("tcp://") ? std::atoi(address.c_str() + address.rfind(':') + 1) : 0;
  const std::string problem = machine.WhyNotListen(port);
  const std::string what = port == 0 ? "loopback ports" : "port " + std::to_string(port);
  if (problem.empty()) return Good(what, "free");
  return Failed(what, problem,
                port == 0 ? "bring the loopback interface up (ip link set lo up)"
                          : "end who listens there (ss -ltnp), or choose another wire.address");
}

Finding CheckCores(Surroundings& machine, const RunConfig& config) {
  const int cores = machine.Cores(), wanted = config.sim.processes + 1;
  const std::string found = std::to_string(cores) + " for " + std::to_string(wanted) + " roles";
  if (cores >= 2) return Good("cores", found);
  return Failed("cores", found, "give the process at least 2 (taskset, cgroup or Slurm's --cpus-per-task)");
}

Finding CheckMemory(Surroundings& machine) {
  const uint64_t bytes = machine.AvailableMemory();
  if (bytes >= kLeastMemory_bytes) return Good("memory", InMegabytes(bytes) + " available");
  return Failed("memory", InMegabytes(bytes) + " available", "end other programs, or raise the cgroup's memory limit");
}

Finding CheckOpenFiles(Surroundings& machine) {
  const int limit = machine.OpenFiles();
  if (limit >= kLeastOpenFiles) return Good("open files", std::to_string(limit) + " allowed");
  return Failed("open files", std::to_string(limit) + " allowed", "ulimit -n 1024");
}

}  // namespace

int PrintFindings(const std::vector<Finding>& findings) {
  int failures = 0;
  for (const Finding& finding : findings) {
    const bool failed = finding.verdict == Verdict::kFailed;
    const char* word = failed ? "FAIL" : finding.verdict == Verdict::kGood ? "ok" : "-";
    std::printf("%-4s  %-18s %s\n", word, finding.what.c_str(), finding.found.c_str());
    if (failed) std::printf("      %-18s -> %s\n", "", finding.mend.c_str());
    failures += failed;
  }
  if (failures > 0) std::printf("%d to mend\n", failures);
  return failures;
}

std::vector<Finding> Diagnose(Surroundings& machine, const RunConfig& config) {
  const bool nccl = config.wire.transport == "nccl", own_renderer = config.render.backend == "mujoco";
  std::vector<Finding> findings;
  findings.push_back(Good("gripstream", std::string(kVersion) + " (" + kGitRevision + ")"));
  findings.push_back(CheckDriver(machine, config));
  findings.push_back(CheckGpu(machine, config));
  findings.push_back(CheckLibrary(machine, "CUDA runtime", {"libcudart.so.13"}, nccl,
                                  "install the CUDA 13 runtime (Debian repository of NVIDIA: cuda-cudart-13-0)"));
  findings.push_back(
      CheckLibrary(machine, "NCCL", {"libnccl.so.2"}, nccl, "install libnccl2, or set wire.transport: zmq"));
  findings.push_back(CheckRole(machine, "LibTorch", "gripstream-learner", kTorchVersion));
  findings.push_back(CheckRole(machine, "simulator program", "gripstream-sim", "starts"));
  findings.push_back(CheckMujoco(machine));
  findings.push_back(CheckLibrary(machine, "EGL or OSMesa", {"libEGL.so.1", "libOSMesa.so.8"}, own_renderer,
                                  "install libegl1 (GPU) or libosmesa6 (CPU), or set render.backend: cpu"));
  findings.push_back(CheckShm(machine));
  findings.push_back(CheckPort(machine, config));
  findings.push_back(CheckCores(machine, config));
  findings.push_back(CheckMemory(machine));
  findings.push_back(CheckOpenFiles(machine));
  return findings;
}

}  // namespace gripstream
