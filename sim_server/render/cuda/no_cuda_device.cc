// In place of cuda_device.cu where there is no CUDA compiler.
#include "core/error.h"
#include "sim_server/render/cuda/tile_device.h"

namespace gripstream {

std::unique_ptr<TileDevice> MakeCudaDevice() {
  throw InputError("configuration", "render.backend", "cuda", "cpu or mujoco (this build has no CUDA)");
}

}  // namespace gripstream
