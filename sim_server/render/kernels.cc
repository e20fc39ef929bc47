#include "sim_server/render/kernels.h"

namespace gripstream {

std::vector<RenderKernels> AvailableKernels() {
  std::vector<RenderKernels> kernels;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    kernels.push_back(kKernelsAvx512);
  }
  if (__builtin_cpu_supports("avx2")) kernels.push_back(kKernelsAvx2);
  kernels.push_back(kKernelsSse2);
  kernels.push_back(kKernelsScalar);
  return kernels;
}

}  // namespace gripstream
