// Colour's host side: what the colour kernels need of models and environments, gathered into page-locked memory.
//
//   ModelLooks (once), SceneViews' lights and appearances -> ShadeJobs, lights, materials, layers -> device
//
// Allocates at construction and in MakePart; Prepare also where an appearance brings a texture that is in none of the
// libraries it was made with. Not thread-safe, but for Gather on different environments. Throws RunError
// when the device fails.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim_server/render/assets.h"
#include "sim_server/render/config.h"
#include "sim_server/render/cuda/tile_assets.h"
#include "sim_server/render/cuda/tile_shadows.h"

namespace gripstream {

class TileColour {
 public:
  // Of one part of a batch under way.
  struct Part {
    DeviceArray<ShadeJob> host_shades, shades;        // [N]
    DeviceArray<Light> host_lights, lights;           // [N, lights]
    DeviceArray<Material> host_materials, materials;  // [N, geoms] where environments have looks of their own
    DeviceArray<int32_t> host_layers, layers;         // [N, layers]
    DeviceArray<ShadeFrame> frames;                   // [N, geoms]
    DeviceArray<LocalLight> local_lights;             // [N, geoms, lights]
    TileShadows::Part shadows;                        // where they are asked for
  };

  TileColour(const RenderConfig& config, TextureLibrary& textures, TileAssets& assets);
  // Models in the order of their numbers; `geom_ids` in that of their TileGeoms.
  void AddModel(const mjModel& model, const ModelAssets& assets, std::span<const int> geom_ids);
  size_t BytesPerEnvironment(const TileStrides& strides) const;
  Part MakePart(size_t environments, const TileStrides& strides) const;
  int LayerStride() const { return static_cast<int>(layers_); }

  void Prepare(std::span<const SceneView> scenes);
  // Environment i of a part, with its camera and image; `rgb` is where the part's images go.
  void Gather(const SceneView& scene, int model, int camera_id, const View& view, uint8_t* rgb, size_t i,
              const Part& part) const;
  // Uploads what was gathered, and draws what lights see.
  void Begin(std::span<const SceneView> scenes, const TileModel* models, const Part& part, int queue) const;

 private:
  struct ModelColour {
    const ModelAssets* assets;
    std::vector<int> geom_ids;
    std::vector<int32_t> index_of_id;     // among geom_ids
    std::vector<Material> materials;      // by TileGeom, with the device's textures
    DeviceArray<Material> own_materials;  // the same on the device
    size_t layers;
  };

  Material OnDevice(Material material) const;
  void GatherMaterials(const ModelColour& model, const Appearance& look, Material* out) const;
  void GatherLayers(const ModelColour& model, SceneJob job, int32_t* out) const;

  TileAssets& assets_;
  std::unique_ptr<TileShadows> shadows_;
  std::vector<ModelColour> models_;
  size_t geoms_ = 0, lights_ = 0, layers_ = 0;  // most of any model
};

}  // namespace gripstream
