#include "envs/catalogue.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <ranges>

#include "core/config.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "envs/packages.h"

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

// Meshes of ours in a specification begin with this.
const std::string kMeshPrefix = "gripstream object ";

void AddMesh(mjSpec* spec, const std::string& name, const TriangleMesh& mesh, mjtMeshInertia inertia) {
  mjsMesh* asset = mjs_addMesh(spec, nullptr);
  GS_CHECK(mjs_setName(asset->element, (kMeshPrefix + name).c_str()) == 0, "a mesh of this name is there");
  asset->inertia = inertia;
  std::vector<float> vertices;
  for (const Vec3& v : mesh.vertices) {
    for (const double x : {v.x, v.y, v.z}) vertices.push_back(static_cast<float>(x));
  }
  std::vector<int> faces;
  for (const auto& t : mesh.triangles) faces.insert(faces.end(), t.begin(), t.end());
  mjs_setFloat(asset->uservert, vertices.data(), static_cast<int>(vertices.size()));
  mjs_setInt(asset->userface, faces.data(), static_cast<int>(faces.size()));
}

void RemoveMeshes(mjSpec* spec) {
  std::vector<mjsElement*> ours;
  for (mjsElement* mesh = mjs_firstElement(spec, mjOBJ_MESH); mesh != nullptr; mesh = mjs_nextElement(spec, mesh)) {
    if (std::string(mjs_getString(mjs_getName(mesh))).starts_with(kMeshPrefix)) ours.push_back(mesh);
  }
  for (mjsElement* mesh : ours) GS_CHECK(mjs_delete(spec, mesh) == 0, "cannot delete a mesh");
}

mjsGeom* AddMeshGeom(mjSpec* spec, mjsBody* body, const std::string& name, const TriangleMesh& mesh,
                     mjtMeshInertia inertia) {
  AddMesh(spec, name, mesh, inertia);
  mjsGeom* geom = mjs_addGeom(body, nullptr);
  geom->type = mjGEOM_MESH;
  mjs_setString(geom->meshname, (kMeshPrefix + name).c_str());
  return geom;
}

// Seen in full and touched in parts; contacts as the catalogue's.
void PutMesh(mjSpec* spec, mjsBody* body, const MeshObject& object) {
  mjsGeom* seen = AddMeshGeom(spec, body, "surface", object.surface, mjMESH_INERTIA_SHELL);
  seen->contype = kTouchesNothing;
  seen->conaffinity = 0;
  seen->mass = 0;
  seen->group = 1;
  const float rgba[4] = {0.85f, 0.2f, 0.2f, 1};
  std::copy_n(rgba, 4, seen->rgba);
  for (size_t i = 0; i < object.parts.size(); ++i) {
    mjsGeom* part = AddMeshGeom(spec, body, "part " + std::to_string(i), object.parts[i], mjMESH_INERTIA_CONVEX);
    part->contype = 1;
    part->conaffinity = 7;
    part->condim = 6;
    const double friction[3] = {1, 0.01, 0.0005};
    std::copy_n(friction, 3, part->friction);
    part->density = object.part_density;
    part->rgba[3] = 0;
    part->group = 3;
  }
  body->explicitinertial = 1;
  body->mass = object.mass;
  const double centre[3] = {object.centre.x, object.centre.y, object.centre.z};
  std::copy_n(centre, 3, body->ipos);
  std::ranges::copy(object.inertia, body->fullinertia);
}

// The body's inertia follows from its geoms.
void ForgetInertia(mjsBody* body) {
  mjsBody defaults = *body;
  mjs_defaultBody(&defaults);
  body->explicitinertial = 0;
  body->mass = defaults.mass;
  std::copy_n(defaults.ipos, 3, body->ipos);
  std::copy_n(defaults.iquat, 4, body->iquat);
  std::copy_n(defaults.inertia, 3, body->inertia);
  std::copy_n(defaults.fullinertia, 6, body->fullinertia);
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
  const std::string file = ResolvePackages(path, path);
  const std::string text = ReadText(file);  // a missing file is told apart from a malformed one
  const std::string resolved = ResolvePackages(text, path);
  // The text in place of the file, whose folder still is where others are looked for.
  mjVFS files;
  mj_defaultVFS(&files);
  if (resolved != text) mj_addBufferVFS(&files, file.c_str(), resolved.data(), static_cast<int>(resolved.size()));
  char error[1000] = "";
  SpecPtr spec(mj_parseXML(file.c_str(), &files, error, sizeof error));
  mj_deleteVFS(&files);
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

std::vector<CatalogueObject> ListObjects(const std::string& catalogue_path, const MeshesConfig& meshes) {
  std::vector<CatalogueObject> objects = ReadCatalogue(catalogue_path);
  for (const MeshFile& file : ListMeshes(meshes)) {
    if (std::ranges::find(objects, file.name, &CatalogueObject::name) != objects.end())
      throw InputError(file.path, "the catalogue " + catalogue_path + " has an object named '" + file.name + "' too");
    objects.push_back({.name = file.name, .held_out = file.held_out, .mesh_path = file.path});
  }
  return objects;
}

void ReadMeshes(std::vector<CatalogueObject>& objects, const std::vector<int>& chosen, const MeshesConfig& meshes) {
  std::vector<std::string> paths;
  std::vector<CatalogueObject*> places;
  for (const int id : chosen) {
    CatalogueObject& object = objects[static_cast<size_t>(id)];
    if (object.mesh_path.empty() || object.mesh) continue;
    paths.push_back(object.mesh_path);
    places.push_back(&object);
  }
  const std::vector<std::shared_ptr<const MeshObject>> read = ReadMeshObjects(paths, meshes);
  for (size_t i = 0; i < read.size(); ++i) {
    places[i]->mesh = read[i];
    const Bounds bounds = BoundsOf(read[i]->surface);
    places[i]->half_height_m = 0.5 * (bounds.high.z - bounds.low.z);
  }
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
      const CatalogueObject& object = catalogue[i];
      const bool mesh = !object.mesh_path.empty() && name == (object.held_out ? "heldout_meshes" : "meshes");
      const bool group = mesh || name == "all" || name == (object.held_out ? "heldout" : "train");
      if (group || catalogue[i].name == name) add(i);
    }
    const bool known = chosen.size() > before || std::find(names.begin(), names.end(), name) != names.end();
    if (known) continue;
    const std::string nearest = NearestName(name, names);
    throw InputError(
        where, "task.objects", name,
        "train, heldout, all, meshes or heldout_meshes (of task.meshes.folder, where there are some) or an "
        "object's name" +
            (nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?"));
  }
  return chosen;
}

void PutObject(mjSpec* spec, mjsBody* body, const CatalogueObject& object, size_t geoms) {
  while (mjsElement* old = mjs_firstChild(body, mjOBJ_GEOM, 0)) {
    GS_CHECK(mjs_delete(spec, old) == 0, "cannot delete a geom");
  }
  RemoveMeshes(spec);
  ForgetInertia(body);
  if (object.mesh) PutMesh(spec, body, *object.mesh);
  for (const mjsGeom& geom : object.geoms) CopyShape(geom, mjs_addGeom(body, nullptr));
  for (size_t i = object.Geoms(); i < geoms; ++i) AddFiller(body);
  body->simple = 0;
}

void PadTree(mjSpec* spec, const mjModel& model, int nodes) {
  // A mesh of n triangles has 2n - 1 nodes; two of them make the number even.
  int missing = nodes - static_cast<int>(model.nbvh);
  GS_CHECK(missing >= kLeastPadding, "room for the smallest meshes");
  const auto cone = [&](const std::string& name, int triangles) {
    TriangleMesh mesh;
    mesh.vertices.push_back({0, 0, 0.01});
    for (int i = 0; i < triangles; ++i) {
      const double angle = 2 * 3.14159265358979323846 * i / triangles;
      mesh.vertices.push_back({0.01 * std::cos(angle), 0.01 * std::sin(angle), 0});
      mesh.triangles.push_back({0, 1 + i, 1 + (i + 1) % triangles});
    }
    AddMesh(spec, name, mesh, mjMESH_INERTIA_SHELL);
  };
  if (missing % 2 == 0) {
    constexpr int kSmall = 4;
    cone("filler of even", kSmall);
    missing -= 2 * kSmall - 1;
  }
  cone("filler", (missing + 1) / 2);
}

}  // namespace gripstream
