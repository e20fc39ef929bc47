#include "sim_server/render/geom_table.h"

#include <string>

#include "core/error.h"
#include "sim_server/render/camera.h"

namespace gripstream {
namespace {

// MuJoCo draws what is less opaque after everything else and without writing depth.
constexpr float kOpaqueAlpha = 0.995f;

// As MuJoCo does it: the geom's own colour wins over its material's unless it was left at the default grey.
float AlphaOf(const mjModel& model, int geom) {
  const float* rgba = model.geom_rgba + 4 * geom;
  const bool own = rgba[0] != 0.5f || rgba[1] != 0.5f || rgba[2] != 0.5f || rgba[3] != 1.0f;
  const int material = model.geom_matid[geom];
  return own || material < 0 ? rgba[3] : model.mat_rgba[4 * material + 3];
}

Shape ShapeOf(const mjModel& model, int geom) {
  switch (model.geom_type[geom]) {
    case mjGEOM_PLANE:
      return Shape::kPlane;
    case mjGEOM_CAPSULE:
      return Shape::kCapsule;
    case mjGEOM_SPHERE:
    case mjGEOM_ELLIPSOID:
      return Shape::kEllipsoid;
    case mjGEOM_CYLINDER:
      return Shape::kCylinder;
    case mjGEOM_BOX:
      return Shape::kBox;
    case mjGEOM_MESH:
    case mjGEOM_HFIELD:
      return Shape::kMesh;
    default:
      break;
  }
  const char* name = mj_id2name(&model, mjOBJ_GEOM, geom);
  throw InputError(ModelName(model), "geom", name ? name : "number " + std::to_string(geom),
                   "a plane, sphere, capsule, ellipsoid, cylinder, box, mesh or hfield, or a group above 2 to hide it");
}

[[noreturn]] void Refuse(const mjModel& model, mjtObj type, const char* kind, int id) {
  const char* name = mj_id2name(&model, type, id);
  throw InputError(ModelName(model), kind, name ? name : "number " + std::to_string(id),
                   "rigid geoms only: the renderer draws no flexes and skins; a group above 2 hides them");
}

// Their shape changes from step to step and is not part of a SceneView.
void RefuseSoftBodies(const mjModel& model) {
  for (int i = 0; i < model.nflex; ++i) {
    if (model.flex_group[i] <= 2) Refuse(model, mjOBJ_FLEX, "flex", i);
  }
  for (int i = 0; i < model.nskin; ++i) {
    if (model.skin_group[i] <= 2) Refuse(model, mjOBJ_SKIN, "skin", i);
  }
}

}  // namespace

bool IsDrawn(const mjModel& model, int geom) {
  const int group = model.geom_group[geom];
  return group >= 0 && group <= 2 && AlphaOf(model, geom) > 0;
}

std::vector<DrawnGeom> DrawnGeoms(const mjModel& model) {
  RefuseSoftBodies(model);
  std::vector<DrawnGeom> drawn;
  for (int i = 0; i < model.ngeom; ++i) {
    if (!IsDrawn(model, i)) continue;
    const mjtNum* size = model.geom_size + 3 * i;
    DrawnGeom geom = {ShapeOf(model, i), i, AlphaOf(model, i) < kOpaqueAlpha, {}};
    for (int k = 0; k < 3; ++k) {
      geom.size[k] = static_cast<float>(size[model.geom_type[i] == mjGEOM_SPHERE ? 0 : k]);
    }
    drawn.push_back(geom);
  }
  return drawn;
}

namespace {

void AddBatches(const std::vector<DrawnGeom>& geoms, Shape shape, bool translucent, std::vector<GeomBatch>* batches) {
  GeomBatch batch = {shape, translucent, 0, {}, {}};
  for (const DrawnGeom& geom : geoms) {
    if (geom.shape != shape || geom.translucent != translucent) continue;
    for (int lane = batch.count++; lane < kGeomsPerBatch; ++lane) {
      batch.id[lane] = geom.id;
      for (int k = 0; k < 3; ++k) batch.size[k][lane] = geom.size[k];
    }
    if (batch.count < kGeomsPerBatch) continue;
    batches->push_back(batch);
    batch.count = 0;
  }
  if (batch.count > 0) batches->push_back(batch);
}

}  // namespace

std::vector<GeomBatch> BatchesOf(const std::vector<DrawnGeom>& geoms) {
  std::vector<GeomBatch> batches;
  for (const bool translucent : {false, true}) {
    for (const Shape shape : {Shape::kPlane, Shape::kBox, Shape::kCapsule, Shape::kCylinder, Shape::kEllipsoid}) {
      AddBatches(geoms, shape, translucent, &batches);
    }
  }
  return batches;
}

}  // namespace gripstream
