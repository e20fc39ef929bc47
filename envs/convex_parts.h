// Approximate convex decomposition of a mesh (V-HACD, the only door to it). Same mesh and limits, same parts; runs on
// the calling thread for up to some seconds; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "envs/triangle_mesh.h"

namespace gripstream {

struct ConvexLimits {
  int parts = 8;           // at most; 1: the convex hull
  int vertices = 32;       // of a part, at most
  int resolution = 20000;  // voxels
};

// Closed convex meshes that together fill the closed mesh, triangles turned outwards; of an open one take a single
// part. Throws InputError naming `where` when it encloses nothing.
std::vector<TriangleMesh> ConvexParts(const TriangleMesh& mesh, const ConvexLimits& limits, const std::string& where);

}  // namespace gripstream
