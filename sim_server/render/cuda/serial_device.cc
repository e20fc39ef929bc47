// The tile kernels on the CPU, thread after thread: slow, and the same code as on a GPU.
#include <algorithm>
#include <cstring>
#include <map>

#define GS_RENDER_ISA serial_tiles
#define GS_RENDER_ONE_LANE
#include "sim_server/render/cuda/tile_device.h"
#include "sim_server/render/cuda/tile_draw.h"
#include "sim_server/render/cuda/tile_noise.h"
#include "sim_server/render/cuda/tile_shade.h"

namespace gripstream {
namespace {

class SerialDevice : public TileDevice {
 public:
  explicit SerialDevice(ThreadOrder order) : order_(order) {}

  void* Allocate(MemorySide side, size_t bytes) override {
    auto memory = std::make_unique<std::byte[]>(bytes);
    std::byte* address = memory.get();
    // Not zero, as on a GPU.
    std::fill_n(address, bytes, std::byte{0xA5});
    if (side == MemorySide::kDevice) end_of_[address] = address + bytes;
    return memory.release();
  }
  void Free(MemorySide, void* memory) override {
    auto* address = static_cast<std::byte*>(memory);
    end_of_.erase(address);
    delete[] address;
  }
  bool IsDeviceMemory(const void* memory) const override {
    const auto* address = static_cast<const std::byte*>(memory);
    const auto after = end_of_.upper_bound(address);
    return after != end_of_.begin() && address < std::prev(after)->second;
  }
  void Copy(int, void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }

  void Launch(int, const TileJob& job) override {
    for (int64_t i = 0; i < static_cast<int64_t>(job.count) * job.geom_stride; ++i) {
      serial_tiles::SetUpGeom(job, i);
      if (job.shades) serial_tiles::SetUpFrame(job, i);
    }
    RunSerially<kTileThreads>(job.count * job.mesh_stride, order_, &mesh_shared_,
                              [&](const auto& block, int index, serial_tiles::MeshShared& shared) {
                                serial_tiles::PlaceMesh(block, job, index, shared);
                              });
    RunSerially<kTileThreads>(job.count * job.tiles_x * job.tiles_y, order_, &colour_shared_,
                              [&](const auto& block, int index, serial_tiles::ColourShared& shared) {
                                if (job.shades) return serial_tiles::DrawColourTile(block, job, index, shared);
                                serial_tiles::WantsIds(job)
                                    ? serial_tiles::DrawTile<true>(block, job, index, shared.draw)
                                    : serial_tiles::DrawTile<false>(block, job, index, shared.draw);
                              });
  }
  void LaunchNoise(int, const TileNoise& noise) override {
    const int64_t pixels = int64_t{noise.shape.width} * noise.shape.height * noise.count;
    for (int64_t i = 0; i < pixels; ++i) serial_tiles::CorrelatePixel(noise, i);
    for (int64_t i = 0; i < pixels; ++i) serial_tiles::ShiftPixel(noise, i);
    RunSerially<kTileThreads>(noise.count, order_, &scatter_shared_,
                              [&](const auto& block, int index, serial_tiles::ScatterShared& shared) {
                                serial_tiles::ScatterImage(block, noise, index, shared);
                              });
  }
  void Wait(int) override {}

 private:
  ThreadOrder order_;
  std::map<const std::byte*, const std::byte*> end_of_;  // of every piece of device memory
  serial_tiles::MeshShared mesh_shared_;
  serial_tiles::ColourShared colour_shared_;
  serial_tiles::ScatterShared scatter_shared_;
};

}  // namespace

std::unique_ptr<TileDevice> MakeSerialDevice(ThreadOrder order) {
  return std::make_unique<SerialDevice>(order);
}

}  // namespace gripstream
