// How much memory LibTorch's tensors hold: every allocation on the CPU passes here once counting has begun.
//
//   CountTensorMemory() -> ... TensorPeak watch; work; watch.Bytes()
//
// Memory of tensors made before does not count, and its release does no harm. Thread-safe; costs two atomic additions
// an allocation.
#pragma once

#include <cstdint>

namespace gripstream {

// From now on, for good.
void CountTensorMemory();
// In use now.
int64_t TensorBytes();

// The most that was in use since this was made, beyond what was in use then. One at a time.
class TensorPeak {
 public:
  TensorPeak();
  int64_t Bytes() const;

 private:
  int64_t before_;
};

}  // namespace gripstream
