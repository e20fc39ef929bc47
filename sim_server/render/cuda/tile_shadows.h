// Hard shadows on a device: what each light that casts them sees, drawn by the tile kernels before the image.
//
// As shadow_map.h on the CPU, with the same bits. Images are [environment, light, pixels, pixels] and belong to a part
// of a batch. Not thread-safe, but for Gather on different environments. Throws RunError when the device fails.
#pragma once

#include "sim_server/render/cuda/tile_scenes.h"
#include "sim_server/render/model_look.h"

namespace gripstream {

class TileShadows {
 public:
  struct Part {
    TileScenes scenes;
    DeviceArray<float> images;
    DeviceArray<ShadowMap> host_maps, maps;
  };

  explicit TileShadows(int pixels) : pixels_(pixels) {}
  void AddModel(const ModelLook& look);
  size_t BytesPerEnvironment(const TileStrides& strides) const;
  Part MakePart(TileDevice& device, size_t environments, const TileStrides& strides) const;

  // Gives every light of environment i that casts shadows its map on the device.
  void Gather(const SceneJob& scene, int model, const ModelLook& look, std::span<const int> geom_ids, size_t i,
              const Part& part, Light* lights) const;
  void Draw(TileDevice& device, int queue, size_t environments, const TileModel* models, const Part& part) const;

 private:
  size_t Pixels() const { return static_cast<size_t>(pixels_) * pixels_; }

  int pixels_;
  size_t casters_ = 0;  // most of any model
};

}  // namespace gripstream
