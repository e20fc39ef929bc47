#include "envs/catalogue.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

#include "core/config.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"

namespace gripstream {
namespace {

// MuJoCo would print and append to a file in the working directory; its warnings belong in our log.
void ForwardToLog(const mjLogMessage* message) {
  if (message->level >= mjLOG_WARNING) LogInfo("MuJoCo: ", message->subject);
}

void InstallLogHandler() {
  static std::once_flag once;
  std::call_once(once, [] { mju_setLogHandler(&ForwardToLog); });
}

// A collision type that no geom answers to: keeps a geom in the bounding-volume tree (so that layouts agree) while it
// touches nothing.
constexpr int kTouchesNothing = 1 << 30;

mjsGeom ShapeOf(const mjModel* model, int id, const mjsGeom& source) {
  mjsGeom geom = source;
  geom.element = nullptr;
  geom.material = geom.hfieldname = geom.meshname = nullptr;
  geom.userdata = nullptr;
  geom.info = nullptr;
  geom.type = static_cast<mjtGeom>(model->geom_type[id]);
  std::copy_n(model->geom_pos + 3 * id, 3, geom.pos);
  std::copy_n(model->geom_quat + 4 * id, 4, geom.quat);
  std::copy_n(model->geom_size + 3 * id, 3, geom.size);
  return geom;
}

// Writes the plain part of `from` over `to`, whose element and strings stay its own.
void CopyShape(const mjsGeom& from, mjsGeom* to) {
  to->type = from.type;
  std::copy_n(from.pos, 3, to->pos);
  std::copy_n(from.quat, 4, to->quat);
  std::copy_n(from.size, 3, to->size);
  to->contype = from.contype;
  to->conaffinity = from.conaffinity;
  to->condim = from.condim;
  to->priority = from.priority;
  std::copy_n(from.friction, 3, to->friction);
  to->solmix = from.solmix;
  std::copy_n(from.solref, mjNREF, to->solref);
  std::copy_n(from.solimp, mjNIMP, to->solimp);
  to->margin = from.margin;
  to->gap = from.gap;
  to->mass = from.mass;
  to->density = from.density;
  std::copy_n(from.rgba, 4, to->rgba);
  to->group = from.group;
}

void AddFiller(mjsBody* body) {
  mjsGeom* geom = mjs_addGeom(body, nullptr);
  geom->type = mjGEOM_SPHERE;
  geom->size[0] = 1e-3;
  geom->contype = kTouchesNothing;
  geom->conaffinity = 0;
  geom->mass = 0;
  geom->rgba[3] = 0;
  geom->group = mjNGROUP - 1;
}

CatalogueObject ReadObject(const mjModel* model, mjSpec* spec, int body, const std::string& path) {
  CatalogueObject object;
  object.name = mj_id2name(model, mjOBJ_BODY, body);
  if (model->nuser_body < 2)
    throw InputError(path, object.name, "no user numbers", "user=\"half_height heldout\" on every object's body");
  object.half_height_m = model->body_user[body * model->nuser_body];
  object.held_out = model->body_user[body * model->nuser_body + 1] != 0;
  mjsBody* source = mjs_findBody(spec, object.name.c_str());
  int id = model->body_geomadr[body];
  for (mjsElement* element = mjs_firstChild(source, mjOBJ_GEOM, 0); element != nullptr;
       element = mjs_nextChild(source, element, 0)) {
    if (model->geom_type[id] == mjGEOM_MESH || model->geom_type[id] == mjGEOM_HFIELD)
      throw InputError(path, object.name, "a mesh", "primitive shapes");
    object.geoms.push_back(ShapeOf(model, id++, *mjs_asGeom(element)));
  }
  if (object.geoms.empty()) throw InputError(path, object.name, "no geom", "at least one");
  return object;
}

}  // namespace

SpecPtr ParseModel(const std::string& path) {
  InstallLogHandler();
  ReadText(path);  // a missing file is told apart from a malformed one
  char error[1000] = "";
  SpecPtr spec(mj_parseXML(path.c_str(), nullptr, error, sizeof error));
  if (spec == nullptr) throw InputError(path, error);
  return spec;
}

mjModel* CompileModel(mjSpec* spec, const std::string& path) {
  mjModel* model = mj_compile(spec, nullptr);
  if (model == nullptr) throw InputError(path, mjs_getError(spec));
  return model;
}

std::vector<CatalogueObject> ReadCatalogue(const std::string& path) {
  const SpecPtr spec = ParseModel(path);
  const std::unique_ptr<mjModel, void (*)(mjModel*)> model(CompileModel(spec.get(), path), mj_deleteModel);
  std::vector<CatalogueObject> objects;
  for (int body = 1; body < model->nbody; ++body) objects.push_back(ReadObject(model.get(), spec.get(), body, path));
  if (objects.empty()) throw InputError(path, "holds no body; expected one per object");
  return objects;
}

std::vector<int> SelectObjects(const std::vector<CatalogueObject>& catalogue, const std::vector<std::string>& wanted,
                               const std::string& where) {
  std::vector<std::string> names;
  for (const CatalogueObject& object : catalogue) names.push_back(object.name);
  std::vector<int> chosen;
  const auto add = [&](size_t i) {
    if (std::find(chosen.begin(), chosen.end(), static_cast<int>(i)) == chosen.end())
      chosen.push_back(static_cast<int>(i));
  };
  for (const std::string& name : wanted) {
    const size_t before = chosen.size();
    for (size_t i = 0; i < catalogue.size(); ++i) {
      const bool group = name == "all" || name == (catalogue[i].held_out ? "heldout" : "train");
      if (group || catalogue[i].name == name) add(i);
    }
    const bool known = chosen.size() > before || std::find(names.begin(), names.end(), name) != names.end();
    if (known) continue;
    const std::string nearest = NearestName(name, names);
    throw InputError(where, "task.objects", name,
                     "train, heldout, all or an object of the catalogue" +
                         (nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?"));
  }
  return chosen;
}

void PutObject(mjSpec* spec, mjsBody* body, const CatalogueObject& object, size_t geoms) {
  while (mjsElement* old = mjs_firstChild(body, mjOBJ_GEOM, 0)) {
    GS_CHECK(mjs_delete(spec, old) == 0, "cannot delete a geom");
  }
  for (const mjsGeom& geom : object.geoms) CopyShape(geom, mjs_addGeom(body, nullptr));
  for (size_t i = object.geoms.size(); i < geoms; ++i) AddFiller(body);
  body->simple = 0;
}

}  // namespace gripstream
