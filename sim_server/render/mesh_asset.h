// Triangles of meshes and height fields as the kernels want them, shared by all geoms, environments and models that
// show the same shape.
//
// Built once from the models; immutable afterwards, so safe to share between threads. Height fields are taken as they
// are when the library is built. Throws InputError for an empty mesh.
#pragma once

#include <mujoco/mujoco.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace gripstream {

// Counts are padded to a multiple of this, vertices by repeating the last, triangles by degenerate ones.
inline constexpr int kMeshPadding = 16;

struct MeshAsset {
  int vertex_count = 0;            // padded
  int triangle_count = 0;          // padded
  std::vector<float> x, y, z;      // vertices in the geom's frame, m
  float centre[3], half[3];        // of a box about them
  std::vector<int32_t> corner[3];  // of every triangle, counter-clockwise seen from outside
  std::vector<float> normal[3];    // of every triangle: x, y, z, unit, geom's frame
};

class MeshLibrary {
 public:
  // The asset of a mesh or height field geom; the same pointer for equal triangles. Owned by the library.
  const MeshAsset* Add(const mjModel& model, int geom);
  int LargestVertexCount() const;

 private:
  std::unordered_map<std::string, std::unique_ptr<MeshAsset>> by_content_;
};

}  // namespace gripstream
