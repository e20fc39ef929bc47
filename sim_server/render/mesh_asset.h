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

// What shading needs of a triangle, as floats one after the other.
struct MeshFacet {
  float second[4], third[4];  // x, y, z, 1 of a point of the triangle to how near it is to the second and third corner
  float normal[3][3];         // the first corner's, and how the others' differ from it
  float texture[3][2];        // the same of texture coordinates; 0 where there are none
};

struct MeshAsset {
  int vertex_count = 0;            // padded
  int triangle_count = 0;          // padded
  std::vector<float> x, y, z;      // vertices in the geom's frame, m
  float centre[3], half[3];        // of a box about them
  std::vector<int32_t> corner[3];  // of every triangle, counter-clockwise seen from outside
  std::vector<float> normal[3];    // of every triangle: x, y, z, unit, geom's frame
  std::vector<MeshFacet> facets;   // [triangle_count] where colour was asked for
};

class MeshLibrary {
 public:
  // The asset of a mesh or height field geom; the same pointer for equal ones. Owned by the library. `colour`: with
  // facets.
  const MeshAsset* Add(const mjModel& model, int geom, bool colour = false);
  int LargestVertexCount() const;

 private:
  std::unordered_map<std::string, std::unique_ptr<MeshAsset>> by_content_;
};

}  // namespace gripstream
