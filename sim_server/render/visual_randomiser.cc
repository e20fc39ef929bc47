#include "sim_server/render/visual_randomiser.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>

#include "core/error.h"
#include "sim_server/render/camera.h"
#include "sim_server/render/procedural_textures.h"
#include "sim_server/render/uniform_range.h"

namespace gripstream {
namespace {

constexpr int kShippedTextures = 28, kShippedBackgrounds = 16;
constexpr float kRadPerDeg = std::numbers::pi_v<float> / 180;

const TextureView* Pick(Rng& rng, const TexturePalette& palette) {
  return palette[rng.Below(static_cast<uint32_t>(palette.Size()))];
}

// A texture over all sides of a geom, turned and shifted.
void WrapTexture(const TextureView* texture, float repeats_per_m, float turn_rad, float shift_u, float shift_v,
                 Material* material) {
  material->texture = texture;
  material->mapping = TextureMapping::kBox;
  const float c = repeats_per_m * std::cos(turn_rad), s = repeats_per_m * std::sin(turn_rad);
  material->across[0] = c, material->across[1] = -s, material->across[2] = shift_u;
  material->down[0] = s, material->down[1] = c, material->down[2] = shift_v;
}

void SetHighlight(float specular, float shininess, Material* material) {
  material->specular = specular;
  material->highlight = LobeOf(128 * shininess);
}

bool Same(const Material& a, const Material& b) {
  return std::memcmp(&a, &b, offsetof(Material, down) + sizeof a.down) == 0;
}

void CheckRanges(const VisualRandomConfig& c) {
  CheckRange("render.randomise.object_tint", c.object_tint);
  CheckRange("render.randomise.object_repeats_per_dm", c.object_repeats_per_dm);
  CheckRange("render.randomise.object_specular", c.object_specular);
  CheckRange("render.randomise.object_shininess", c.object_shininess);
  CheckRange("render.randomise.robot_specular", c.robot_specular);
  CheckRange("render.randomise.robot_shininess", c.robot_shininess);
  CheckRange("render.randomise.table_repeats_per_m", c.table_repeats_per_m);
  CheckRange("render.randomise.table_specular", c.table_specular);
  CheckRange("render.randomise.table_shininess", c.table_shininess);
  CheckRange("render.randomise.light_intensity", c.light_intensity);
  CheckRange("render.randomise.light_tint", c.light_tint);
  for (size_t i = 0; i < 3; ++i)
    CheckRange<double>("render.randomise.table_tint_low", {c.table_tint_low[i], c.table_tint_high[i]});
}

// The body and all that hang from it.
bool HangsFrom(const mjModel& model, int body, int root) {
  while (body != root && body != 0) body = model.body_parentid[body];
  return body == root;
}

int FindBody(const mjModel& model, const std::string& key, const std::string& name) {
  const int id = mj_name2id(&model, mjOBJ_BODY, name.c_str());
  if (id < 0) throw InputError(ModelName(model), key, name, "one of its bodies");
  return id;
}

// Whether the geom, its body or its material has the name.
bool IsNamed(const mjModel& model, int geom, const std::string& name) {
  return mj_name2id(&model, mjOBJ_GEOM, name.c_str()) == geom ||
         mj_name2id(&model, mjOBJ_BODY, name.c_str()) == model.geom_bodyid[geom] ||
         (model.geom_matid[geom] >= 0 && mj_name2id(&model, mjOBJ_MATERIAL, name.c_str()) == model.geom_matid[geom]);
}

}  // namespace

VisualRandomiser::VisualRandomiser(const VisualRandomConfig& config, uint64_t seed, const std::string& object_body,
                                   std::span<const mjModel* const> models, int environments, TextureLibrary* library)
    : config_(config),
      textures_(config.textures, "render.randomise.textures", ProceduralTextures(kShippedTextures), library),
      backgrounds_(config.backgrounds, "render.randomise.backgrounds", ProceduralBackgrounds(kShippedBackgrounds),
                   library),
      object_stream_(seed, "visual_object"),
      robot_stream_(seed, "visual_robot"),
      table_stream_(seed, "visual_table"),
      light_stream_(seed, "visual_light"),
      background_stream_(seed, "visual_background") {
  CheckRanges(config);
  for (const mjModel* model : models) {
    if (tables_.contains(model)) continue;
    const ModelTable& table = tables_[model] = TableOf(*model, object_body, library);
    most_slots_ = std::max(most_slots_, table.materials.size());
    most_lights_ = std::max(most_lights_, table.lights);
  }
  const size_t count = static_cast<size_t>(environments);
  materials_.resize(count * most_slots_);
  lights_.resize(count * most_lights_);
  appearances_.resize(count);
}

std::vector<VisualRandomiser::Part> VisualRandomiser::PartsOf(const mjModel& model,
                                                              const std::string& object_body) const {
  const int object = object_body.empty() ? -1 : FindBody(model, "task.binding.object_body", object_body);
  std::vector<int> robot;
  for (const std::string& name : config_.robot) robot.push_back(FindBody(model, "render.randomise.robot", name));
  std::vector<Part> parts(static_cast<size_t>(model.ngeom), Part::kNone);
  for (int geom = 0; geom < model.ngeom; ++geom) {
    Part& part = parts[static_cast<size_t>(geom)];
    const int body = model.geom_bodyid[geom];
    const bool of_robot =
        robot.empty() ? body != 0
                      : std::any_of(robot.begin(), robot.end(), [&](int root) { return HangsFrom(model, body, root); });
    if (of_robot) part = Part::kRobot;
    for (const std::string& name : config_.table) {
      if (IsNamed(model, geom, name)) part = Part::kTable;
    }
    if (object >= 0 && HangsFrom(model, body, object)) part = Part::kObject;
  }
  // The default names a table that a user's model need not have.
  if (config_.table != VisualRandomConfig{}.table) {
    for (const std::string& name : config_.table) {
      bool found = false;
      for (int geom = 0; geom < model.ngeom; ++geom) found = found || IsNamed(model, geom, name);
      if (!found) throw InputError(ModelName(model), "render.randomise.table", name, "a geom, body or material of it");
    }
  }
  return parts;
}

VisualRandomiser::ModelTable VisualRandomiser::TableOf(const mjModel& model, const std::string& object_body,
                                                       TextureLibrary* library) const {
  const ModelLook look = LookOf(model, library);
  const std::vector<Part> parts = PartsOf(model, object_body);
  ModelTable table;
  table.lights = look.lights.size();
  for (size_t geom = 0; geom < parts.size(); ++geom) {
    table.slot_of_geom.push_back(-1);
    if (parts[geom] == Part::kNone) continue;
    size_t slot = 0;
    while (slot < table.materials.size() &&
           !(table.parts[slot] == parts[geom] && Same(table.materials[slot], look.materials[geom]))) {
      ++slot;
    }
    if (slot == table.materials.size()) {
      table.materials.push_back(look.materials[geom]);
      table.parts.push_back(parts[geom]);
    }
    table.slot_of_geom.back() = static_cast<int32_t>(slot);
  }
  return table;
}

void VisualRandomiser::Redraw(int index, const mjModel* model, uint32_t env_id, uint64_t episode) {
  const ModelTable& table = tables_.at(model);
  Material* materials = materials_.data() + static_cast<size_t>(index) * most_slots_;
  LightChange* lights = lights_.data() + static_cast<size_t>(index) * most_lights_;
  DrawMaterials(table, env_id, episode, materials);
  appearances_[static_cast<size_t>(index)] = {table.slot_of_geom.data(), materials,
                                              DrawLights(table.lights, env_id, episode, lights),
                                              DrawBackdrop(env_id, episode)};
}

void VisualRandomiser::DrawMaterials(const ModelTable& table, uint32_t env_id, uint64_t episode,
                                     Material* materials) const {
  Rng object_rng = object_stream_.At(env_id, episode), table_rng = table_stream_.At(env_id, episode);
  Rng robot_rng = robot_stream_.At(env_id, episode);
  // All geoms of the object alike, all of the table alike: one draw each.
  Material object = {}, top = {};
  const auto texture = [&](Rng& rng, double probability, float repeats_per_m, float turn_rad, Material* material) {
    const bool textured = Chance(rng, probability);
    const TextureView* picked = Pick(rng, textures_);
    const float u = rng.Uniform(), v = rng.Uniform();
    if (textured) WrapTexture(picked, repeats_per_m, turn_rad, u, v, material);
  };
  for (float& k : object.colour) k = Between(object_rng, config_.object_tint);
  const float object_repeats = 10 * Between(object_rng, config_.object_repeats_per_dm);
  SetHighlight(Between(object_rng, config_.object_specular), Between(object_rng, config_.object_shininess), &object);
  texture(object_rng, config_.object_texture_probability, object_repeats, 0, &object);
  for (size_t k = 0; k < 3; ++k) {
    top.colour[k] = table_rng.Uniform(static_cast<float>(config_.table_tint_low[k]),
                                      static_cast<float>(config_.table_tint_high[k]));
  }
  const float table_repeats = Between(table_rng, config_.table_repeats_per_m);
  SetHighlight(Between(table_rng, config_.table_specular), Between(table_rng, config_.table_shininess), &top);
  const float turn_rad = 2 * std::numbers::pi_v<float> * table_rng.Uniform();
  texture(table_rng, config_.table_texture_probability, table_repeats, turn_rad, &top);
  for (size_t i = 0; i < table.materials.size(); ++i) {
    const Material& plain = table.materials[i];
    materials[i] = table.parts[i] == Part::kObject ? object : table.parts[i] == Part::kTable ? top : plain;
    materials[i].alpha = plain.alpha;
    if (table.parts[i] != Part::kRobot) continue;
    const float specular = Between(robot_rng, config_.robot_specular);
    SetHighlight(specular, Between(robot_rng, config_.robot_shininess), &materials[i]);
  }
}

const LightChange* VisualRandomiser::DrawLights(size_t count, uint32_t env_id, uint64_t episode,
                                                LightChange* lights) const {
  Rng rng = light_stream_.At(env_id, episode);
  if (!Chance(rng, config_.light_probability)) return nullptr;
  for (size_t i = 0; i < count; ++i) {
    const float yaw = kRadPerDeg * static_cast<float>(config_.light_yaw_deg) * rng.Uniform(-1, 1);
    const float tilt = kRadPerDeg * static_cast<float>(config_.light_tilt_deg) * rng.Uniform(-1, 1);
    const float cy = std::cos(yaw), sy = std::sin(yaw), ct = std::cos(tilt), st = std::sin(tilt);
    // First the tilt about x, then the yaw about z.
    const float turn[9] = {cy, -sy * ct, sy * st, sy, cy * ct, -cy * st, 0, st, ct};
    std::copy_n(turn, 9, lights[i].turn);
    const float intensity = Between(rng, config_.light_intensity);
    for (int k = 0; k < 3; ++k) {
      const float factor = intensity * Between(rng, config_.light_tint);
      lights[i].ambient[k] = lights[i].diffuse[k] = lights[i].specular[k] = factor;
    }
  }
  return lights;
}

const TextureView* VisualRandomiser::DrawBackdrop(uint32_t env_id, uint64_t episode) const {
  Rng rng = background_stream_.At(env_id, episode);
  return Chance(rng, config_.background_probability) ? Pick(rng, backgrounds_) : nullptr;
}

}  // namespace gripstream
