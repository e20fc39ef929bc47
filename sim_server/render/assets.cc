#include "sim_server/render/assets.h"

namespace gripstream {
namespace {

MeshJob JobOf(const DrawnGeom& geom, const MeshAsset& mesh) {
  return {geom.id,
          geom.translucent,
          mesh.vertex_count,
          mesh.triangle_count,
          mesh.x.data(),
          mesh.y.data(),
          mesh.z.data(),
          {mesh.corner[0].data(), mesh.corner[1].data(), mesh.corner[2].data()},
          {mesh.normal[0].data(), mesh.normal[1].data(), mesh.normal[2].data()},
          mesh.centre,
          mesh.half,
          nullptr};
}

}  // namespace

const ModelAssets& RenderAssets::Of(const mjModel& model, bool colour) {
  const auto [place, added] = models_.try_emplace(&model);
  ModelAssets& assets = place->second;
  if (added) {
    assets.geoms = DrawnGeoms(model);
    assets.batches = BatchesOf(assets.geoms);
    for (const DrawnGeom& geom : assets.geoms) {
      if (geom.shape == Shape::kMesh) assets.meshes.push_back(JobOf(geom, *meshes_.Add(model, geom.id)));
    }
  }
  if (!colour || assets.shader) return assets;
  assets.shader = std::make_unique<ColourShader>(model, &textures_);
  static_assert(sizeof(MeshFacet) == kFacetFloats * sizeof(float));
  for (MeshJob& mesh : assets.meshes) {
    mesh.facets = reinterpret_cast<const float*>(meshes_.Add(model, mesh.geom, true)->facets.data());
  }
  return assets;
}

}  // namespace gripstream
