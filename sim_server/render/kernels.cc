#include "sim_server/render/kernels.h"

namespace gripstream {
namespace {

// How far a geom's centre is along the optical axis.
double DistanceOf(const SceneJob& scene, int id) {
  double z = 0;
  for (int i = 0; i < 3; ++i) {
    z += scene.optical_from_world[6 + i] * (scene.geom_xpos[3 * id + i] - scene.camera_xpos[i]);
  }
  return z;
}

// Planes have no middle.
bool IsBefore(const SceneJob& scene, const DrawnGeom& a, const DrawnGeom& b) {
  const bool plane_a = a.shape == Shape::kPlane, plane_b = b.shape == Shape::kPlane;
  return plane_a || plane_b ? plane_a && !plane_b : DistanceOf(scene, a.id) > DistanceOf(scene, b.id);
}

}  // namespace

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

int SortTranslucent(const SceneJob& scene, int32_t* order) {
  int count = 0;
  for (int i = 0; i < scene.geom_count; ++i) {
    if (!scene.geoms[i].translucent) continue;
    int at = count++;
    for (; at > 0 && IsBefore(scene, scene.geoms[i], scene.geoms[order[at - 1]]); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  for (int i = 0; i < count; ++i) order[i] = scene.geoms[order[i]].id;
  return count;
}

}  // namespace gripstream
