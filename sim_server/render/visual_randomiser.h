// Gives every environment a look of its own, anew for every episode: textures, tints and highlights of the object, the
// table and the robot, the lights, and the background.
//
//   randomiser.Redraw(index, model, env_id, episode);   at reset
//   view.appearance = randomiser.Of(index);             SceneView of environment `index`
//
// Draws come from RandomStreams of (seed, env_id, episode) alone, one stream per part of the scene, so that neither
// grouping nor switching one part off changes another's draws. Geometry, depth and segmentation are not touched.
// Textures are held once, in the library, which must outlive this; an environment costs some 100 bytes per different
// material.
//
// Not thread-safe for one environment; safe for different ones. Allocates at construction only. Throws InputError for a
// name that the models do not have, a range upside down, or an image that cannot be read.
#pragma once

#include <mujoco/mujoco.h>

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/rng.h"
#include "sim_server/render/appearance.h"
#include "sim_server/render/model_look.h"
#include "sim_server/render/texture_palette.h"
#include "sim_server/render/visual_random_config.h"

namespace gripstream {

class VisualRandomiser {
 public:
  // `object_body` as in task.binding; "" for none. `models`: all that Redraw will be given.
  VisualRandomiser(const VisualRandomConfig& config, uint64_t seed, const std::string& object_body,
                   std::span<const mjModel* const> models, int environments, TextureLibrary* library);

  // A new episode of the environment at `index` here, `env_id` globally, which now has this model.
  void Redraw(int index, const mjModel* model, uint32_t env_id, uint64_t episode);
  // The model's own look before the first Redraw.
  const Appearance* Of(int index) const { return &appearances_[static_cast<size_t>(index)]; }

 private:
  enum class Part { kNone, kObject, kRobot, kTable };
  // The different materials of one model's parts.
  struct ModelTable {
    std::vector<int32_t> slot_of_geom;
    std::vector<Material> materials;  // by slot, as the model has them
    std::vector<Part> parts;          // by slot
    size_t lights = 0;
  };

  ModelTable TableOf(const mjModel& model, const std::string& object_body, TextureLibrary* library) const;
  std::vector<Part> PartsOf(const mjModel& model, const std::string& object_body) const;
  void DrawMaterials(const ModelTable& table, uint32_t env_id, uint64_t episode, Material* materials) const;
  const LightChange* DrawLights(size_t count, uint32_t env_id, uint64_t episode, LightChange* lights) const;
  const TextureView* DrawBackdrop(uint32_t env_id, uint64_t episode) const;

  VisualRandomConfig config_;
  TexturePalette textures_, backgrounds_;
  RandomStream object_stream_, robot_stream_, table_stream_, light_stream_, background_stream_;
  std::unordered_map<const mjModel*, ModelTable> tables_;
  size_t most_slots_ = 0, most_lights_ = 0;  // of any model
  std::vector<Material> materials_;          // [environment, most_slots]
  std::vector<LightChange> lights_;          // [environment, most_lights]
  std::vector<Appearance> appearances_;      // [environment]
};

}  // namespace gripstream
