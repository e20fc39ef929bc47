// Where tile jobs run: a CUDA device, or for tests the CPU, which runs the same kernels' bodies.
//
// Memory belongs to the device object; DeviceArray frees it. What is put into one queue happens in order and some time
// later: memory that was handed over stays untouched until Wait(queue). Not thread-safe. Throws: MakeCudaDevice
// InputError where there is no usable device; all else RunError when the device fails.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "sim_server/render/cuda/block.h"
#include "sim_server/render/cuda/tile_job.h"

namespace gripstream {

inline constexpr int kTileQueues = 2;

enum class MemorySide {
  kDevice,  // what kernels read and write
  kHost,    // what copies to the device without a detour
};

class TileDevice {
 public:
  virtual ~TileDevice() = default;
  TileDevice(const TileDevice&) = delete;
  TileDevice& operator=(const TileDevice&) = delete;

  virtual void* Allocate(MemorySide side, size_t bytes) = 0;
  virtual void Free(MemorySide side, void* memory) = 0;
  // Whether kernels can write there.
  virtual bool IsDeviceMemory(const void* memory) const = 0;
  // Between host and device in either direction.
  virtual void Copy(int queue, void* to, const void* from, size_t bytes) = 0;
  virtual void Launch(int queue, const TileJob& job) = 0;
  virtual void LaunchNoise(int queue, const TileNoise& noise) = 0;
  virtual void Wait(int queue) = 0;

 protected:
  TileDevice() = default;
};

// Device 0 of those that this process sees.
std::unique_ptr<TileDevice> MakeCudaDevice();

std::unique_ptr<TileDevice> MakeSerialDevice(ThreadOrder order);

// Uninitialised memory of one side; an empty array holds none.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(TileDevice& device, MemorySide side, size_t count)
      : device_(&device),
        side_(side),
        data_(count ? static_cast<T*>(device.Allocate(side, count * sizeof(T))) : nullptr) {}
  DeviceArray(DeviceArray&& other) noexcept
      : device_(other.device_), side_(other.side_), data_(std::exchange(other.data_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(device_, other.device_), std::swap(side_, other.side_), std::swap(data_, other.data_);
    return *this;
  }
  ~DeviceArray() {
    if (data_) device_->Free(side_, data_);
  }

  T* data() const { return data_; }

 private:
  TileDevice* device_ = nullptr;
  MemorySide side_ = MemorySide::kDevice;
  T* data_ = nullptr;
};

}  // namespace gripstream
