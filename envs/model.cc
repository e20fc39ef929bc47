#include "envs/model.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/log.h"
#include "envs/binding.h"
#include "envs/catalogue.h"
#include "envs/servos.h"
#include "envs/shipped_files.h"

namespace gripstream {
namespace {

std::string OrShipped(const std::string& path, const char* file) {
  return path.empty() ? ShippedFile(file) : path;
}

}  // namespace

ModelSet::ModelSet(const TaskConfig& config) {
  const std::string path = OrShipped(config.model, "kuka_allegro.xml");
  const SpecPtr spec = ParseModel(path);
  // A user's model that was tuned for small steps may not be stable at ours.
  if (!config.model.empty() && spec->option.timestep < 0.99 / config.physics_hz) {
    LogWarning(path, ": its timestep of ", spec->option.timestep,
               " s is replaced by 1 / task.physics_hz = ", 1.0 / config.physics_hz, " s");
  }
  spec->option.timestep = 1.0 / config.physics_hz;
  models_.emplace_back(CompileModel(spec.get(), path));
  if (PrepareRobot(spec.get(), *models_.front(), config.binding, path))
    models_.front().reset(CompileModel(spec.get(), path));
  binding_ = Bind(models_.front().get(), config, path);
  if (config.objects.empty()) {
    const double rest_z = models_.front()->qpos0[binding_.object_qpos + 2];
    train_ = {0};
    objects_.push_back({.name = config.binding.object_body, .half_height_m = rest_z - config.table_z_m});
    return;
  }
  PutObjects(config, path, spec.get());
}

// One model per object, and then as many nodes in every model's tree.
void ModelSet::PutObjects(const TaskConfig& config, const std::string& path, mjSpec* spec) {
  const std::string catalogue_path = OrShipped(config.catalogue, "objects.xml");
  std::vector<CatalogueObject> catalogue = ListObjects(catalogue_path, config.meshes);
  std::vector<int> chosen = SelectObjects(catalogue, config.objects, catalogue_path);
  if (chosen.empty()) throw InputError("task", "task.objects", "no object", "at least one, or [] for the model's own");
  for (size_t i = 0; i < chosen.size(); ++i) train_.push_back(static_cast<int>(i));
  for (const int id : SelectObjects(catalogue, config.held_out_objects, catalogue_path)) {
    const auto found = std::find(chosen.begin(), chosen.end(), id);
    held_out_.push_back(static_cast<int>(found - chosen.begin()));
    if (found == chosen.end()) chosen.push_back(id);
  }
  ReadMeshes(catalogue, chosen, config.meshes);
  size_t most = 0;
  for (const int id : chosen) most = std::max(most, catalogue[static_cast<size_t>(id)].Geoms());
  models_.clear();
  mjsBody* body = mjs_findBody(spec, config.binding.object_body.c_str());
  mjtSize nodes = 0;
  bool differ = false;
  for (const int id : chosen) {
    const CatalogueObject& object = catalogue[static_cast<size_t>(id)];
    PutObject(spec, body, object, most);
    models_.emplace_back(CompileModel(spec, object.mesh_path.empty() ? path : object.mesh_path));
    objects_.push_back({object.name, id, object.half_height_m});
    differ = differ || models_.back()->nbvh != models_.front()->nbvh;
    nodes = std::max(nodes, models_.back()->nbvh);
  }
  for (size_t i = 0; differ && i < chosen.size(); ++i) {
    PutObject(spec, body, catalogue[static_cast<size_t>(chosen[i])], most);
    PadTree(spec, *models_[i], static_cast<int>(nodes) + kLeastPadding);
    models_[i].reset(CompileModel(spec, path));
    GS_CHECK(models_[i]->nbvh == nodes + kLeastPadding, "a model's tree is not padded as planned");
  }
}

}  // namespace gripstream
