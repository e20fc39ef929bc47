#include "sim_server/render/cuda/tile_colour.h"

#include <algorithm>

#include "sim_server/render/camera.h"

namespace gripstream {
namespace {

template <class T>
void Place(TileDevice& device, size_t count, DeviceArray<T>* host, DeviceArray<T>* mine) {
  *host = {device, MemorySide::kHost, count};
  *mine = {device, MemorySide::kDevice, count};
}

}  // namespace

TileColour::TileColour(const RenderConfig& config, TextureLibrary& textures, TileAssets& assets) : assets_(assets) {
  if (config.shadows) shadows_ = std::make_unique<TileShadows>(config.shadow_px);
  for (const TextureView* texture : textures.All()) assets_.Add(*texture);
}

Material TileColour::OnDevice(Material material) const {
  material.texture = assets_.Texture(material.texture);
  return material;
}

void TileColour::AddModel(const mjModel& model, const ModelAssets& assets, std::span<const int> geom_ids) {
  ModelColour colour;
  colour.assets = &assets;
  colour.geom_ids.assign(geom_ids.begin(), geom_ids.end());
  colour.index_of_id.resize(static_cast<size_t>(model.ngeom), -1);
  const ModelLook& look = assets.shader->Look();
  if (look.sky) assets_.Add(*look.sky);
  for (const int id : geom_ids) {
    const Material& material = look.materials[static_cast<size_t>(id)];
    if (material.texture) assets_.Add(*material.texture);
    colour.index_of_id[static_cast<size_t>(id)] = static_cast<int32_t>(colour.materials.size());
    colour.materials.push_back(OnDevice(material));
  }
  colour.own_materials = Uploaded(*assets_.Device(), colour.materials.data(), colour.materials.size());
  colour.layers = static_cast<size_t>(
      std::count_if(assets.geoms.begin(), assets.geoms.end(), [](const DrawnGeom& geom) { return geom.translucent; }));
  if (shadows_) shadows_->AddModel(look);
  geoms_ = std::max(geoms_, geom_ids.size());
  lights_ = std::max(lights_, assets.shader->Lights());
  layers_ = std::max(layers_, colour.layers);
  models_.push_back(std::move(colour));
}

size_t TileColour::BytesPerEnvironment(const TileStrides& strides) const {
  return (shadows_ ? shadows_->BytesPerEnvironment(strides) : 0) + sizeof(ShadeJob) + lights_ * sizeof(Light) +
         layers_ * sizeof(int32_t) + geoms_ * (sizeof(Material) + sizeof(ShadeFrame) + lights_ * sizeof(LocalLight));
}

TileColour::Part TileColour::MakePart(size_t environments, const TileStrides& strides) const {
  TileDevice& device = *assets_.Device();
  Part part;
  Place(device, environments, &part.host_shades, &part.shades);
  Place(device, environments * lights_, &part.host_lights, &part.lights);
  Place(device, environments * geoms_, &part.host_materials, &part.materials);
  Place(device, environments * layers_, &part.host_layers, &part.layers);
  part.frames = {device, MemorySide::kDevice, environments * geoms_};
  if (shadows_) part.shadows = shadows_->MakePart(device, environments, strides);
  part.local_lights = {device, MemorySide::kDevice, environments * geoms_ * lights_};
  return part;
}

void TileColour::Prepare(std::span<const SceneView> scenes) {
  const auto add = [this](const TextureView* texture) {
    if (!assets_.Has(texture)) assets_.Add(*texture);
  };
  for (const SceneView& scene : scenes) {
    if (!scene.appearance) continue;
    const Appearance& look = *scene.appearance;
    add(look.backdrop);
    for (int id = 0; look.slot_of_geom && id < scene.model->ngeom; ++id) {
      if (look.slot_of_geom[id] >= 0) add(look.materials[look.slot_of_geom[id]].texture);
    }
  }
}

void TileColour::GatherMaterials(const ModelColour& model, const Appearance& look, Material* out) const {
  for (size_t k = 0; k < model.materials.size(); ++k) {
    const int32_t slot = look.slot_of_geom[model.geom_ids[k]];
    out[k] = slot >= 0 ? OnDevice(look.materials[slot]) : model.materials[k];
  }
}

void TileColour::GatherLayers(const ModelColour& model, SceneJob job, int32_t* out) const {
  job.geoms = model.assets->geoms.data();
  job.geom_count = static_cast<int>(model.assets->geoms.size());
  const int count = SortTranslucent(job, out);
  for (int k = 0; k < count; ++k) out[k] = model.index_of_id[static_cast<size_t>(out[k])];
}

void TileColour::Gather(const SceneView& scene, int model, int camera_id, const View& view, uint8_t* rgb, size_t i,
                        const Part& part) const {
  const ModelColour& colour = models_[static_cast<size_t>(model)];
  SceneJob job = {};
  job.geom_xpos = scene.geom_xpos, job.geom_xmat = scene.geom_xmat;
  PlaceCamera(scene, camera_id, &job);
  Light* lights = part.host_lights.data() + i * lights_;
  const size_t image_bytes = size_t{3} * view.width * view.height;
  ShadeJob shade = colour.assets->shader->Job(job, scene, view, rgb + i * image_bytes, {lights, nullptr, nullptr});
  shade.has_shadows = shadows_ != nullptr;
  if (shadows_) {
    shadows_->Gather(job, model, colour.assets->shader->Look(), colour.geom_ids, i, part.shadows, lights);
  }
  // The host's pointers become the device's.
  shade.own_materials = nullptr;
  if (shade.own_slot) {
    GatherMaterials(colour, *scene.appearance, part.host_materials.data() + i * geoms_);
    shade.own_materials = part.materials.data() + i * geoms_;
  }
  shade.own_slot = nullptr;
  shade.materials = colour.own_materials.data();
  shade.lights = part.lights.data() + i * lights_;
  shade.backdrop = assets_.Texture(shade.backdrop), shade.sky = assets_.Texture(shade.sky);
  shade.frames = part.frames.data() + i * geoms_;
  shade.local_lights = part.local_lights.data() + i * geoms_ * lights_;
  part.host_shades.data()[i] = shade;
  if (colour.layers > 0) GatherLayers(colour, job, part.host_layers.data() + i * layers_);
}

void TileColour::Begin(std::span<const SceneView> scenes, const TileModel* models, const Part& part, int queue) const {
  TileDevice& device = *assets_.Device();
  const auto copy = [&](const auto& to, const auto& from, size_t count) {
    if (count > 0) device.Copy(queue, to.data(), from.data(), count * sizeof(*from.data()));
  };
  const bool own_looks = std::any_of(scenes.begin(), scenes.end(), [](const SceneView& scene) {
    return scene.appearance && scene.appearance->slot_of_geom;
  });
  copy(part.shades, part.host_shades, scenes.size());
  copy(part.lights, part.host_lights, scenes.size() * lights_);
  copy(part.materials, part.host_materials, own_looks ? scenes.size() * geoms_ : 0);
  copy(part.layers, part.host_layers, scenes.size() * layers_);
  if (shadows_) shadows_->Draw(device, queue, scenes.size(), models, part.shadows);
}

}  // namespace gripstream
