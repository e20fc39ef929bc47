// A folder of a user's own meshes as objects beside the catalogue's: seen as the file has them, touched as convex
// parts, heavy by their volume. Plain values; thread-safe.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/config.h"
#include "envs/triangle_mesh.h"

namespace gripstream {

struct MeshesConfig {
  std::string folder;
  double scale = 1, density = 500;
  int parts = 8;
  std::vector<std::string> held_out{};
  double held_out_fraction = 0;

  void Fields(FieldVisitor& v) {
    v.String("folder", folder,
             {.doc = "folder of OBJ and binary STL files, one object each, named after its file; empty: none"});
    v.Float("scale", scale, {.doc = "metres per unit of the files; 0.001 for millimetres"}, {1e-6, 1e3});
    v.Float("density", density, {.doc = "mass per volume", .unit = "kg/m3"}, {1, 1e5});
    v.Int("parts", parts, {.doc = "convex parts that an object is touched as, at most; 1: its convex hull"}, {1, 64});
    v.Strings("held_out", held_out, {.doc = "objects of the group heldout_meshes, by name"});
    v.Float("held_out_fraction", held_out_fraction,
            {.doc = "share of the others that join them, chosen by name; the same for every seed"}, {0, 1});
  }
};

// The object's body frame has its origin in the middle of the mesh's bounds and the mesh's axes.
struct MeshObject {
  TriangleMesh surface;             // in the body frame
  std::vector<TriangleMesh> parts;  // convex, in the body frame
  double mass = 0;                  // kg
  Vec3 centre{};                    // of mass, in the body frame
  std::array<double, 6> inertia{};  // about it: xx, yy, zz, xy, xz, yz (kg m2)
  double part_density = 0;          // with which the parts weigh what the object does (kg/m3)
};

struct MeshFile {
  std::string name, path;
  bool held_out = false;
};

// The folder's files by name; none without a folder. Throws InputError naming the folder and key.
std::vector<MeshFile> ListMeshes(const MeshesConfig& config);

// Throws InputError naming the file.
MeshObject ReadMeshObject(const std::string& path, const MeshesConfig& config);

// All of them, on as many threads as there are CPUs.
std::vector<std::shared_ptr<const MeshObject>> ReadMeshObjects(const std::vector<std::string>& paths,
                                                               const MeshesConfig& config);

}  // namespace gripstream
