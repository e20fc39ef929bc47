// Which GPU each role of a run sees.
//
//   the driver's list (NVML: touches no GPU) + CUDA_VISIBLE_DEVICES -> visible GPUs -> one per role
//
// The mask may be numbers, ranges (4-7), UUIDs, beginnings of UUIDs and MIG names, separated by commas. Numbers are
// turned into UUIDs where the driver tells them, so that every library of a role means the same GPU by them. Learners
// take the first GPUs and simulators share the others; where there are no more GPUs than learners, all share all. Plain
// functions; no thread rule.
#pragma once

#include <string>
#include <vector>

namespace gripstream {

struct DriverGpu {
  std::string uuid, name;
};
// In the order of the PCI bus, as nvidia-smi numbers them; none without a driver.
std::vector<DriverGpu> DriverGpus();

struct Gpu {
  std::string visible;   // what a role's CUDA_VISIBLE_DEVICES is set to
  std::string physical;  // for people: "GPU 5 (NVIDIA H200, GPU-8c1f...)"
};

// The GPUs that `mask` lets this process see; null: no mask, all of the driver's. `pci_order`: numbers count along the
// PCI bus (CUDA_DEVICE_ORDER=PCI_BUS_ID); otherwise CUDA puts faster ones first, and numbers are left as they are
// unless all GPUs are alike. Throws InputError for what is no mask, names a GPU twice, or one that the driver does not
// have.
std::vector<Gpu> VisibleGpus(const char* mask, bool pci_order, const std::vector<DriverGpu>& driver);
// The same of this process's environment and driver.
std::vector<Gpu> VisibleGpus();

// The position among `gpus` (at least 1) of each role's GPU, learners first.
std::vector<int> ShareOutGpus(int learners, int simulators, int gpus);

}  // namespace gripstream
