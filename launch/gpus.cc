#include "launch/gpus.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr char kMask[] = "CUDA_VISIBLE_DEVICES";
constexpr int kMostGpus = 1024;

[[noreturn]] void Refuse(const std::string& value, const std::string& expected) {
  throw InputError("environment", kMask, value, expected);
}

bool IsNumber(const std::string& text) {
  return !text.empty() && text.size() <= 4 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "4-7" -> 4 5 6 7; anything else as it is.
std::vector<std::string> Expand(const std::string& item) {
  const size_t dash = item.find('-');
  const std::string first = item.substr(0, dash);
  if (dash == std::string::npos || !IsNumber(first)) return {item};
  const std::string last = item.substr(dash + 1);
  if (!IsNumber(last) || std::atoi(last.c_str()) < std::atoi(first.c_str()) || std::atoi(last.c_str()) >= kMostGpus) {
    Refuse(item, "a range such as 4-7");
  }
  std::vector<std::string> items;
  for (int i = std::atoi(first.c_str()); i <= std::atoi(last.c_str()); ++i) items.push_back(std::to_string(i));
  return items;
}

// As CUDA does, -1 ends the list.
std::vector<std::string> Items(const std::string& mask) {
  std::vector<std::string> items;
  std::istringstream in(mask);
  for (std::string item; std::getline(in, item, ',');) {
    std::erase(item, ' ');
    if (item == "-1" || item == "NoDevFiles") break;
    if (item.empty()) Refuse(mask, "numbers, ranges or UUIDs separated by commas");
    for (std::string& one : Expand(item)) items.push_back(std::move(one));
  }
  return items;
}

Gpu Described(size_t index, const std::vector<DriverGpu>& driver) {
  const DriverGpu& gpu = driver[index];
  return {gpu.uuid, "GPU " + std::to_string(index) + " (" + gpu.name + ", " + gpu.uuid + ")"};
}

Gpu ByNumber(const std::string& item, bool order_known, const std::vector<DriverGpu>& driver) {
  const size_t number = static_cast<size_t>(std::atoi(item.c_str()));
  if (driver.empty()) return {std::to_string(number), "GPU " + std::to_string(number)};
  if (number >= driver.size()) Refuse(item, "0 to " + std::to_string(driver.size() - 1) + ", the GPUs of this machine");
  if (!order_known)
    return {std::to_string(number), "GPU " + std::to_string(number) + " in CUDA's order, fastest first"};
  return Described(number, driver);
}

Gpu ByUuid(const std::string& item, const std::vector<DriverGpu>& driver) {
  if (item.starts_with("MIG-") || driver.empty()) return {item, item};
  std::vector<size_t> matches;
  for (size_t i = 0; i < driver.size(); ++i) {
    if (driver[i].uuid.starts_with(item)) matches.push_back(i);
  }
  if (matches.size() != 1)
    Refuse(item, matches.empty() ? "a UUID of this machine (nvidia-smi -L)" : "a longer beginning: several GPUs match");
  return Described(matches[0], driver);
}

}  // namespace

std::vector<DriverGpu> DriverGpus() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return {};
  const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  const auto count_of = reinterpret_cast<int (*)(unsigned*)>(dlsym(library, "nvmlDeviceGetCount_v2"));
  const auto device_at = reinterpret_cast<int (*)(unsigned, void**)>(dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
  using Text = int (*)(void*, char*, unsigned);
  const auto uuid_of = reinterpret_cast<Text>(dlsym(library, "nvmlDeviceGetUUID"));
  const auto name_of = reinterpret_cast<Text>(dlsym(library, "nvmlDeviceGetName"));
  const auto shutdown = reinterpret_cast<int (*)()>(dlsym(library, "nvmlShutdown"));
  std::vector<DriverGpu> gpus;
  unsigned count = 0;
  const bool all = init && count_of && device_at && uuid_of && name_of && shutdown;
  if (!all || init() != 0) return {};
  if (count_of(&count) != 0) count = 0;
  for (unsigned i = 0; i < count; ++i) {
    void* device = nullptr;
    char uuid[96] = {}, name[96] = {};
    if (device_at(i, &device) != 0 || uuid_of(device, uuid, sizeof(uuid)) != 0) continue;
    name_of(device, name, sizeof(name));
    gpus.push_back({uuid, name});
  }
  shutdown();
  return gpus;
}

std::vector<Gpu> VisibleGpus(const char* mask, bool pci_order, const std::vector<DriverGpu>& driver) {
  std::vector<Gpu> gpus;
  if (!mask) {
    for (size_t i = 0; i < driver.size(); ++i) gpus.push_back(Described(i, driver));
    return gpus;
  }
  const bool alike =
      std::all_of(driver.begin(), driver.end(), [&](const DriverGpu& g) { return g.name == driver[0].name; });
  std::set<std::string> seen;
  for (const std::string& item : Items(mask)) {
    const bool uuid = item.starts_with("GPU-") || item.starts_with("MIG-");
    if (!uuid && !IsNumber(item)) Refuse(item, "a number, a range such as 4-7, or a UUID (GPU-..., MIG-...)");
    gpus.push_back(uuid ? ByUuid(item, driver) : ByNumber(item, pci_order || alike, driver));
    if (!seen.insert(gpus.back().visible).second)
      Refuse(mask, "each GPU once: " + gpus.back().physical + " is given twice");
  }
  return gpus;
}

std::vector<Gpu> VisibleGpus() {
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  return VisibleGpus(std::getenv(kMask), order && std::strcmp(order, "PCI_BUS_ID") == 0, DriverGpus());
}

std::vector<int> ShareOutGpus(int learners, int simulators, int gpus) {
  GS_CHECK(gpus > 0, "no GPUs to share out");
  std::vector<int> shares;
  for (int i = 0; i < learners; ++i) shares.push_back(i % gpus);
  const int first = gpus > learners ? learners : 0;
  for (int i = 0; i < simulators; ++i) shares.push_back(first + i % (gpus - first));
  return shares;
}

}  // namespace gripstream
