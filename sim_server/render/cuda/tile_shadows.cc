#include "sim_server/render/cuda/tile_shadows.h"

#include <algorithm>

#include "sim_server/render/shadow_map.h"

namespace gripstream {

void TileShadows::AddModel(const ModelLook& look) {
  const auto count = std::count_if(look.lights.begin(), look.lights.end(), CastsShadow);
  casters_ = std::max(casters_, static_cast<size_t>(count));
}

size_t TileShadows::BytesPerEnvironment(const TileStrides& strides) const {
  return casters_ * (TileScenes::BytesPerScene(strides) + Pixels() * sizeof(float) + sizeof(ShadowMap));
}

TileShadows::Part TileShadows::MakePart(TileDevice& device, size_t environments, const TileStrides& strides) const {
  const size_t count = environments * casters_;
  Part part;
  part.scenes = TileScenes(device, count, strides);
  part.images = {device, MemorySide::kDevice, count * Pixels()};
  part.host_maps = {device, MemorySide::kHost, count};
  part.maps = {device, MemorySide::kDevice, count};
  return part;
}

void TileShadows::Gather(const SceneJob& scene, int model, const ModelLook& look, std::span<const int> geom_ids,
                         size_t i, const Part& part, Light* lights) const {
  size_t at = i * casters_;
  const View view = {pixels_, pixels_, 1, 1, 0, 0, 0.01f, 1};
  for (size_t k = 0; k < look.lights.size(); ++k) {
    if (!lights[k].casts_shadow) continue;
    const LightSight sight = SightOf(lights[k], scene, look, part.images.data() + at * Pixels(), pixels_, pixels_);
    part.scenes.Place(at, model, sight.view, sight.scene, geom_ids);
    part.host_maps.data()[at] = sight.map;
    lights[k].shadow = part.maps.data() + at++;
  }
  for (; at < (i + 1) * casters_; ++at) {
    part.scenes.PlaceNothing(at, model, view);
    part.host_maps.data()[at] = {};
  }
}

void TileShadows::Draw(TileDevice& device, int queue, size_t environments, const TileModel* models,
                       const Part& part) const {
  const size_t count = environments * casters_;
  if (count == 0) return;
  part.scenes.Upload(device, queue, count);
  device.Copy(queue, part.maps.data(), part.host_maps.data(), count * sizeof(ShadowMap));
  TileJob job = part.scenes.Job(models, count, pixels_, pixels_);
  job.inverse = part.images.data();
  device.Launch(queue, job);
}

}  // namespace gripstream
