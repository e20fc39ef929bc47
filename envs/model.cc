#include "envs/model.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/log.h"
#include "envs/binding.h"
#include "envs/catalogue.h"

namespace gripstream {
namespace {

std::string OrShipped(const std::string& path, const char* file) {
  return path.empty() ? std::string(GRIPSTREAM_ASSETS_DIR) + "/" + file : path;
}

}  // namespace

ModelSet::ModelSet(const TaskConfig& config) {
  const std::string path = OrShipped(config.model, "kuka_allegro.xml");
  const SpecPtr spec = ParseModel(path);
  // A model that was tuned for small steps may not be stable at ours.
  if (spec->option.timestep < 0.99 / config.physics_hz) {
    LogWarning(path, ": its timestep of ", spec->option.timestep,
               " s is replaced by 1 / task.physics_hz = ", 1.0 / config.physics_hz, " s");
  }
  spec->option.timestep = 1.0 / config.physics_hz;
  models_.emplace_back(CompileModel(spec.get(), path));
  binding_ = Bind(models_.front().get(), config, path);
  if (config.objects.empty()) {
    const double rest_z = models_.front()->qpos0[binding_.object_qpos + 2];
    train_ = {0};
    objects_.push_back({.name = config.binding.object_body, .half_height_m = rest_z - config.table_z_m});
    return;
  }
  const std::string catalogue_path = OrShipped(config.catalogue, "objects.xml");
  const std::vector<CatalogueObject> catalogue = ReadCatalogue(catalogue_path);
  std::vector<int> chosen = SelectObjects(catalogue, config.objects, catalogue_path);
  for (size_t i = 0; i < chosen.size(); ++i) train_.push_back(static_cast<int>(i));
  for (const int id : SelectObjects(catalogue, config.held_out_objects, catalogue_path)) {
    const auto found = std::find(chosen.begin(), chosen.end(), id);
    held_out_.push_back(static_cast<int>(found - chosen.begin()));
    if (found == chosen.end()) chosen.push_back(id);
  }
  size_t most = 0;
  for (const int id : chosen) most = std::max(most, catalogue[static_cast<size_t>(id)].geoms.size());
  models_.clear();
  mjsBody* body = mjs_findBody(spec.get(), config.binding.object_body.c_str());
  for (const int id : chosen) {
    const CatalogueObject& object = catalogue[static_cast<size_t>(id)];
    PutObject(spec.get(), body, object, most);
    models_.emplace_back(CompileModel(spec.get(), path));
    objects_.push_back({object.name, id, object.half_height_m});
  }
}

}  // namespace gripstream
