#include "envs/mesh_objects.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>

#include "core/cpus.h"
#include "core/error.h"
#include "core/log.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "envs/parts_cache.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

// Nobody grasps what is larger or smaller: the unit is wrong.
constexpr double kLargest_m = 2, kSmallest_m = 1e-3;

bool IsMesh(const fs::path& path) {
  std::string extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return extension == ".obj" || extension == ".stl";
}

void HoldOutByName(const MeshesConfig& config, std::vector<MeshFile>& files) {
  std::vector<std::string> names;
  for (const MeshFile& file : files) names.push_back(file.name);
  for (const std::string& wanted : config.held_out) {
    const auto found = std::ranges::find(files, wanted, &MeshFile::name);
    if (found != files.end()) {
      found->held_out = true;
      continue;
    }
    const std::string nearest = NearestName(wanted, names);
    throw InputError("task", "task.meshes.held_out", wanted,
                     "a file of " + config.folder + " without its extension" +
                         (nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?"));
  }
}

// A name's place in this order does not depend on which other files there are.
void HoldOutFraction(const MeshesConfig& config, std::vector<MeshFile>& files) {
  std::vector<MeshFile*> others;
  for (MeshFile& file : files) {
    if (!file.held_out) others.push_back(&file);
  }
  std::ranges::sort(others, {}, [](const MeshFile* file) { return MixBits(HashName(file->name)); });
  const auto count = std::lround(config.held_out_fraction * static_cast<double>(others.size()));
  for (long i = 0; i < count; ++i) others[static_cast<size_t>(i)]->held_out = true;
}

void CheckSize(const TriangleMesh& mesh, const std::string& path) {
  const Bounds b = BoundsOf(mesh);
  const double extent = std::max({b.high.x - b.low.x, b.high.y - b.low.y, b.high.z - b.low.z});
  if (extent >= kSmallest_m && extent <= kLargest_m) return;
  throw InputError(
      path, "task.meshes.scale", "an object of " + std::to_string(extent) + " m",
      std::to_string(kSmallest_m) + " to " + std::to_string(kLargest_m) + " m; are the file's units others?");
}

// Whether the parts of a mesh that is not closed make up about what its surface encloses: small gaps do no harm,
// through large ones everything is outside.
bool FillTheMesh(const MeshObject& object) {
  double sum = 0;
  for (const TriangleMesh& part : object.parts) sum += SolidOf(part).volume;
  const double enclosed = std::abs(SolidOf(object.surface).volume);
  return sum > 0.7 * enclosed && sum < 1.5 * enclosed;
}

void MoveBy(TriangleMesh& mesh, Vec3 by) {
  for (Vec3& v : mesh.vertices) v = v + by;
}

}  // namespace

std::vector<MeshFile> ListMeshes(const MeshesConfig& config) {
  std::vector<MeshFile> files;
  if (config.folder.empty()) return files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(config.folder, error)) {
    if (IsMesh(entry.path())) files.push_back({entry.path().stem().string(), entry.path().string()});
  }
  if (error) throw InputError("task", "task.meshes.folder", config.folder, "a readable folder: " + error.message());
  if (files.empty()) throw InputError("task", "task.meshes.folder", config.folder, "a folder with .obj or .stl files");
  std::ranges::sort(files, {}, &MeshFile::path);
  const auto twice = std::ranges::adjacent_find(files, {}, &MeshFile::name);
  if (twice != files.end())
    throw InputError(twice->path, "an object named '" + twice->name + "' is there twice: " + (twice + 1)->path);
  HoldOutByName(config, files);
  HoldOutFraction(config, files);
  return files;
}

MeshObject ReadMeshObject(const std::string& path, const MeshesConfig& config) {
  MeshObject object;
  object.surface = ReadMesh(path, config.scale);
  CheckSize(object.surface, path);
  const Bounds bounds = BoundsOf(object.surface);
  MoveBy(object.surface, -0.5 * (bounds.low + bounds.high));
  object.parts = CachedConvexParts(object.surface, {.parts = config.parts}, path);
  const bool closed = IsClosed(object.surface);
  if (!closed && config.parts > 1 && !FillTheMesh(object)) {
    LogInfo(path, ": its surface has holes, so that it is touched as its convex hull");
    object.parts = CachedConvexParts(object.surface, {.parts = 1}, path);
  }
  std::vector<SolidProperties> parts;
  for (const TriangleMesh& part : object.parts) parts.push_back(SolidOf(part));
  const SolidProperties together = Together(parts);
  SolidProperties solid = closed ? SolidOf(object.surface) : together;
  if (solid.volume < 0) {  // inside out throughout
    solid.volume = -solid.volume;
    for (double& number : solid.inertia) number = -number;
  }
  if (solid.volume <= 0) throw InputError(path, "encloses no volume");
  object.mass = config.density * solid.volume;
  object.centre = solid.centre;
  for (size_t k = 0; k < 6; ++k) object.inertia[k] = config.density * solid.inertia[k];
  object.part_density = object.mass / together.volume;
  return object;
}

std::vector<std::shared_ptr<const MeshObject>> ReadMeshObjects(const std::vector<std::string>& paths,
                                                               const MeshesConfig& config) {
  std::vector<std::shared_ptr<const MeshObject>> objects(paths.size());
  std::vector<std::exception_ptr> errors(paths.size());
  ParallelFor each(AvailableCpus());
  each(static_cast<int>(paths.size()), 1, [&](int begin, int end) {
    for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      try {
        objects[i] = std::make_shared<const MeshObject>(ReadMeshObject(paths[i], config));
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);  // the first file's, whichever thread was first
  }
  return objects;
}

}  // namespace gripstream
