// Triangle meshes: reading OBJ and STL files, and the mass properties of the solid that a mesh encloses. Plain values;
// thread-safe.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "control/math3.h"

namespace gripstream {

struct TriangleMesh {
  std::vector<Vec3> vertices;                 // m
  std::vector<std::array<int, 3>> triangles;  // counter-clockwise seen from outside
};

// OBJ or binary STL, as the file has it times `scale`; equal vertices are one. Throws InputError naming the file.
TriangleMesh ReadMesh(const std::string& path, double scale);

// Whether every edge is shared by two triangles that pass it in opposite directions: only then is there an inside.
bool IsClosed(const TriangleMesh& mesh);

struct Bounds {
  Vec3 low, high;
};
Bounds BoundsOf(const TriangleMesh& mesh);

// Of a solid of density 1.
struct SolidProperties {
  double volume = 0;                // m3; negative where the triangles are turned inside out
  Vec3 centre{};                    // of mass
  std::array<double, 6> inertia{};  // about the centre: xx, yy, zz, xy, xz, yz (m5)
};

// Exact for a closed mesh, by the signed tetrahedra between the origin and the triangles.
SolidProperties SolidOf(const TriangleMesh& mesh);
// Of several solids together; where they overlap both count.
SolidProperties Together(const std::vector<SolidProperties>& parts);

}  // namespace gripstream
