// The catalogue of graspable objects: an MJCF file with one body per object and a folder of meshes beside it, and the
// exchange of a model's object geoms for one of them. Not thread-safe; plain values otherwise.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>
#include <vector>

#include "envs/mesh_objects.h"

namespace gripstream {

struct CatalogueObject {
  std::string name;
  double half_height_m = 0;
  bool held_out = false;
  std::vector<mjsGeom> geoms{};  // shapes and contact settings only; the pointers inside are null
  // Of an object that is a mesh, which has no geoms above: where it comes from, and what ReadMeshes made of that.
  std::string mesh_path{};
  std::shared_ptr<const MeshObject> mesh{};

  size_t Geoms() const { return mesh ? 1 + mesh->parts.size() : geoms.size(); }
};

// Throws InputError when the file is unreadable, malformed, or an object carries no `user="half_height heldout"`.
std::vector<CatalogueObject> ReadCatalogue(const std::string& path);

// The catalogue file's objects, then the folder's files by name, not yet read. Throws InputError, also on a file named
// like an object of the catalogue.
std::vector<CatalogueObject> ListObjects(const std::string& catalogue_path, const MeshesConfig& meshes);
// Reads the meshes among the chosen objects.
void ReadMeshes(std::vector<CatalogueObject>& objects, const std::vector<int>& chosen, const MeshesConfig& meshes);

// Indices of the objects that `wanted` names: names, "train", "heldout" or "all", or of those that are meshes "meshes"
// or "heldout_meshes". InputError on a name not there.
std::vector<int> SelectObjects(const std::vector<CatalogueObject>& catalogue, const std::vector<std::string>& wanted,
                               const std::string& where);

// Replaces the geoms of `body` by the object's, and fills up to `geoms` with points that nothing sees or touches.
// The body's mass matrix is kept in full: MuJoCo would shorten it for a body that is symmetric about its own axes, and
// mjData made for one object would be wrong for another (mjBatch does not see that difference of layout).
void PutObject(mjSpec* spec, mjsBody* body, const CatalogueObject& object, size_t geoms);

// Models with meshes of different size have bounding-volume trees of different size, for which mjData has room node by
// node. Adds unused meshes until `model`, which `spec` compiles to, would have `nodes`; at least kLeastPadding more
// than it has. Until the next PutObject.
inline constexpr int kLeastPadding = 16;
void PadTree(mjSpec* spec, const mjModel& model, int nodes);

// An MJCF file as a specification, compiled once. InputError is one line with MuJoCo's own words.
struct FreeSpec {
  void operator()(mjSpec* spec) const { mj_deleteSpec(spec); }
};
using SpecPtr = std::unique_ptr<mjSpec, FreeSpec>;
SpecPtr ParseModel(const std::string& path);
mjModel* CompileModel(mjSpec* spec, const std::string& path);

}  // namespace gripstream
