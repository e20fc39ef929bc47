#include "replay/tensor_memory.h"

#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace gripstream {
namespace {

std::atomic<int64_t> in_use = 0, most = 0;

void Add(int64_t bytes) {
  const int64_t now = in_use.fetch_add(bytes) + bytes;
  for (int64_t seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
  }
}

// LibTorch's own allocator, watched. What it gives comes from malloc's family, which knows the size of each block.
class Counting final : public at::Allocator {
 public:
  explicit Counting(at::Allocator* own) : own_(own) {}
  at::DataPtr allocate(size_t bytes) override {
    void* memory = own_->raw_allocate(bytes);
    if (memory) Add(static_cast<int64_t>(malloc_usable_size(memory)));
    return {memory, memory, &Release, at::Device(at::DeviceType::CPU)};
  }
  at::DeleterFnPtr raw_deleter() const override { return &Release; }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  static void Release(void* memory);
  at::Allocator* own_;
};

at::Allocator* torchs_own = nullptr;

void Counting::Release(void* memory) {
  if (memory) in_use.fetch_sub(static_cast<int64_t>(malloc_usable_size(memory)));
  torchs_own->raw_deallocate(memory);
}

}  // namespace

void CountTensorMemory() {
  static std::once_flag once;
  std::call_once(once, [] {
    torchs_own = c10::GetCPUAllocator();
    c10::SetCPUAllocator(new Counting(torchs_own), 1);  // LibTorch keeps it to the end of the process
  });
}

int64_t TensorBytes() {
  return in_use.load();
}

TensorPeak::TensorPeak() : before_(in_use.load()) {
  most.store(before_);
}

int64_t TensorPeak::Bytes() const {
  return std::max<int64_t>(0, most.load() - before_);
}

}  // namespace gripstream
