// What renderers know of models apart from cameras and poses: geoms to draw, meshes, textures and materials, held once
// per process however many cameras look at them.
//
// Shared by the renderers made with it, which keep it alive; the models must outlive it. Filled while renderers are
// made, by one thread at a time; afterwards only read. Throws InputError naming the geom for what cannot be drawn.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "sim_server/render/colour.h"
#include "sim_server/render/geom_table.h"
#include "sim_server/render/kernels.h"
#include "sim_server/render/mesh_asset.h"

namespace gripstream {

class TileAssets;  // cuda/tile_assets.h

struct ModelAssets {
  std::vector<DrawnGeom> geoms;
  std::vector<GeomBatch> batches;
  std::vector<MeshJob> meshes;
  std::unique_ptr<ColourShader> shader;  // where colour was asked for
};

class RenderAssets {
 public:
  // The model's, made when first asked for; with `colour` its textures too. Stays where it is.
  const ModelAssets& Of(const mjModel& model, bool colour);
  MeshLibrary& Meshes() { return meshes_; }
  TextureLibrary& Textures() { return textures_; }
  // The same in a device's memory, where a renderer that draws there has put it; else null.
  std::shared_ptr<TileAssets>& OnDevice() { return on_device_; }

 private:
  MeshLibrary meshes_;
  TextureLibrary textures_;
  std::unordered_map<const mjModel*, ModelAssets> models_;
  std::shared_ptr<TileAssets> on_device_;
};

}  // namespace gripstream
