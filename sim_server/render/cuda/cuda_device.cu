// The tile kernels on a CUDA device.
#include <cuda_runtime.h>

#include <string>

#include "core/error.h"

#define GS_RENDER_ISA cuda_tiles
#define GS_RENDER_ONE_LANE
#include "sim_server/render/cuda/tile_device.h"
#include "sim_server/render/cuda/tile_draw.h"
#include "sim_server/render/cuda/tile_noise.h"
#include "sim_server/render/cuda/tile_shade.h"

namespace gripstream {
namespace {

constexpr int kSetUpThreads = 64;
constexpr int kPixelThreads = 256;

__global__ void __launch_bounds__(kSetUpThreads) SetUpKernel(TileJob job) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kSetUpThreads + threadIdx.x;
  if (index < static_cast<int64_t>(job.count) * job.geom_stride) cuda_tiles::SetUpGeom(job, index);
}

__global__ void __launch_bounds__(kSetUpThreads) SetUpFrameKernel(TileJob job) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kSetUpThreads + threadIdx.x;
  if (index < static_cast<int64_t>(job.count) * job.geom_stride) cuda_tiles::SetUpFrame(job, index);
}

__global__ void __launch_bounds__(kTileThreads) PlaceMeshKernel(TileJob job) {
  __shared__ cuda_tiles::MeshShared shared;
  cuda_tiles::PlaceMesh(CudaBlock(), job, static_cast<int>(blockIdx.x), shared);
}

template <bool kIds>
__global__ void __launch_bounds__(kTileThreads) DrawKernel(TileJob job) {
  __shared__ cuda_tiles::TileShared shared;
  cuda_tiles::DrawTile<kIds>(CudaBlock(), job, static_cast<int>(blockIdx.x), shared);
}

__global__ void __launch_bounds__(kTileThreads) DrawColourKernel(TileJob job) {
  __shared__ cuda_tiles::ColourShared shared;
  cuda_tiles::DrawColourTile(CudaBlock(), job, static_cast<int>(blockIdx.x), shared);
}

__global__ void __launch_bounds__(kPixelThreads) CorrelateKernel(TileNoise noise, int64_t pixels) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kPixelThreads + threadIdx.x;
  if (index < pixels) cuda_tiles::CorrelatePixel(noise, index);
}

__global__ void __launch_bounds__(kPixelThreads) ShiftKernel(TileNoise noise, int64_t pixels) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kPixelThreads + threadIdx.x;
  if (index < pixels) cuda_tiles::ShiftPixel(noise, index);
}

__global__ void __launch_bounds__(kTileThreads) ScatterKernel(TileNoise noise) {
  __shared__ cuda_tiles::ScatterShared shared;
  cuda_tiles::ScatterImage(CudaBlock(), noise, static_cast<int>(blockIdx.x), shared);
}

void Check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  throw RunError(std::string("render.backend cuda: ") + what + ": " + cudaGetErrorString(result));
}

class CudaDevice : public TileDevice {
 public:
  CudaDevice() {
    for (cudaStream_t& queue : queues_) {
      Check(cudaStreamCreateWithFlags(&queue, cudaStreamNonBlocking), "cudaStreamCreate");
    }
  }
  ~CudaDevice() override {
    for (const cudaStream_t queue : queues_) cudaStreamDestroy(queue);
  }

  void* Allocate(MemorySide side, size_t bytes) override {
    void* memory = nullptr;
    if (side == MemorySide::kDevice) Check(cudaMalloc(&memory, bytes), "cudaMalloc");
    if (side == MemorySide::kHost) Check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
    return memory;
  }
  void Free(MemorySide side, void* memory) override {
    side == MemorySide::kDevice ? cudaFree(memory) : cudaFreeHost(memory);
  }
  bool IsDeviceMemory(const void* memory) const override {
    cudaPointerAttributes attributes;
    Check(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  }
  void Copy(int queue, void* to, const void* from, size_t bytes) override {
    Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, queues_[queue]), "cudaMemcpyAsync");
  }
  void Launch(int queue, const TileJob& job) override {
    const cudaStream_t stream = queues_[queue];
    const int64_t geoms = static_cast<int64_t>(job.count) * job.geom_stride;
    const unsigned set_up = Blocks((geoms + kSetUpThreads - 1) / kSetUpThreads);
    if (geoms > 0) SetUpKernel<<<set_up, kSetUpThreads, 0, stream>>>(job);
    if (geoms > 0 && job.shades) SetUpFrameKernel<<<set_up, kSetUpThreads, 0, stream>>>(job);
    const int64_t meshes = static_cast<int64_t>(job.count) * job.mesh_stride;
    if (meshes > 0) PlaceMeshKernel<<<Blocks(meshes), kTileThreads, 0, stream>>>(job);
    const unsigned tiles = Blocks(static_cast<int64_t>(job.count) * job.tiles_x * job.tiles_y);
    if (job.shades) {
      DrawColourKernel<<<tiles, kTileThreads, 0, stream>>>(job);
    } else if (cuda_tiles::WantsIds(job)) {
      DrawKernel<true><<<tiles, kTileThreads, 0, stream>>>(job);
    } else {
      DrawKernel<false><<<tiles, kTileThreads, 0, stream>>>(job);
    }
    Check(cudaGetLastError(), "kernel launch");
  }
  void LaunchNoise(int queue, const TileNoise& noise) override {
    const cudaStream_t stream = queues_[queue];
    const int64_t pixels = static_cast<int64_t>(noise.shape.width) * noise.shape.height * noise.count;
    const unsigned blocks = Blocks((pixels + kPixelThreads - 1) / kPixelThreads);
    CorrelateKernel<<<blocks, kPixelThreads, 0, stream>>>(noise, pixels);
    ShiftKernel<<<blocks, kPixelThreads, 0, stream>>>(noise, pixels);
    ScatterKernel<<<Blocks(noise.count), kTileThreads, 0, stream>>>(noise);
    Check(cudaGetLastError(), "kernel launch");
  }
  void Wait(int queue) override { Check(cudaStreamSynchronize(queues_[queue]), "rendering"); }

 private:
  static unsigned Blocks(int64_t count) { return static_cast<unsigned>(count); }

  cudaStream_t queues_[kTileQueues] = {};
};

}  // namespace

std::unique_ptr<TileDevice> MakeCudaDevice() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess || count == 0) {
    const std::string said = result == cudaSuccess ? "it counts 0" : cudaGetErrorString(result);
    throw InputError("configuration", "render.backend", "cuda",
                     "cpu or mujoco (no CUDA device; cudaGetDeviceCount: " + said + ")");
  }
  return std::make_unique<CudaDevice>();
}

}  // namespace gripstream
