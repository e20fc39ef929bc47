// The catalogue of graspable objects: an MJCF file with one body per object, and the exchange of a model's object geoms
// for one of them. Not thread-safe; plain values otherwise.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>
#include <vector>

namespace gripstream {

struct CatalogueObject {
  std::string name;
  double half_height_m = 0;
  bool held_out = false;
  std::vector<mjsGeom> geoms;  // shapes and contact settings only; the pointers inside are null
};

// Throws InputError when the file is unreadable, malformed, or an object carries no `user="half_height heldout"`.
std::vector<CatalogueObject> ReadCatalogue(const std::string& path);

// Indices of the objects that `wanted` names: names, "train", "heldout" or "all". InputError on a name not there.
std::vector<int> SelectObjects(const std::vector<CatalogueObject>& catalogue, const std::vector<std::string>& wanted,
                               const std::string& where);

// Replaces the geoms of `body` by the object's, and fills up to `geoms` with points that nothing sees or touches.
// The body's mass matrix is kept in full: MuJoCo would shorten it for a body that is symmetric about its own axes, and
// mjData made for one object would be wrong for another (mjBatch does not see that difference of layout).
void PutObject(mjSpec* spec, mjsBody* body, const CatalogueObject& object, size_t geoms);

// An MJCF file as a specification, compiled once. InputError is one line with MuJoCo's own words.
struct FreeSpec {
  void operator()(mjSpec* spec) const { mj_deleteSpec(spec); }
};
using SpecPtr = std::unique_ptr<mjSpec, FreeSpec>;
SpecPtr ParseModel(const std::string& path);
mjModel* CompileModel(mjSpec* spec, const std::string& path);

}  // namespace gripstream
