#include "envs/triangle_mesh.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/error.h"
#include "core/files.h"
#include "envs/catalogue.h"

namespace gripstream {
namespace {

using ModelPtr = std::unique_ptr<mjModel, void (*)(mjModel*)>;

// A model of nothing but the mesh: MuJoCo's readers see the file as they will see it in the task's model.
ModelPtr ModelOf(const std::string& path, double scale) {
  SpecPtr spec(mj_makeSpec());
  mjsMesh* mesh = mjs_addMesh(spec.get(), nullptr);
  mjs_setName(mesh->element, "mesh");
  mjs_setString(mesh->file, path.c_str());
  mesh->inertia = mjMESH_INERTIA_SHELL;  // needs no inside
  std::fill_n(mesh->scale, 3, scale);
  return {CompileModel(spec.get(), path), mj_deleteModel};
}

// Integrals over one tetrahedron with a corner at the origin, as parts of the products of a body's coordinates.
struct Moments {
  double volume = 0;
  Vec3 first{};
  std::array<double, 6> second{};  // xx, yy, zz, xy, xz, yz

  void Add(Vec3 a, Vec3 b, Vec3 c) {
    const double v = Dot(a, Cross(b, c)) / 6;
    const Vec3 s = a + b + c;
    volume += v;
    first = first + (v / 4) * s;
    const auto product = [&](double ax, double bx, double cx, double sx, double ay, double by, double cy, double sy) {
      return v / 20 * (ax * ay + bx * by + cx * cy + sx * sy);
    };
    second[0] += product(a.x, b.x, c.x, s.x, a.x, b.x, c.x, s.x);
    second[1] += product(a.y, b.y, c.y, s.y, a.y, b.y, c.y, s.y);
    second[2] += product(a.z, b.z, c.z, s.z, a.z, b.z, c.z, s.z);
    second[3] += product(a.x, b.x, c.x, s.x, a.y, b.y, c.y, s.y);
    second[4] += product(a.x, b.x, c.x, s.x, a.z, b.z, c.z, s.z);
    second[5] += product(a.y, b.y, c.y, s.y, a.z, b.z, c.z, s.z);
  }
};

// Inertia about a point from the second moments about it.
std::array<double, 6> InertiaOf(const std::array<double, 6>& s) {
  return {s[1] + s[2], s[0] + s[2], s[0] + s[1], -s[3], -s[4], -s[5]};
}

// What a mass in a point at p has about the origin.
std::array<double, 6> PointInertia(double mass, Vec3 p) {
  return InertiaOf(
      {mass * p.x * p.x, mass * p.y * p.y, mass * p.z * p.z, mass * p.x * p.y, mass * p.x * p.z, mass * p.y * p.z});
}

}  // namespace

TriangleMesh ReadMesh(const std::string& path, double scale) {
  ReadBytes(path);  // a missing file is told apart from a malformed one
  const ModelPtr model = ModelOf(path, scale);
  // MuJoCo turns a mesh into a frame of its own; this turns it back.
  const mjtNum* p = model->mesh_pos;
  const mjtNum* q = model->mesh_quat;
  const Transform frame{{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
  TriangleMesh mesh;
  std::map<std::array<float, 3>, int> known;
  std::vector<int> place;
  for (int i = 0; i < model->mesh_vertnum[0]; ++i) {
    const float* v = model->mesh_vert + 3 * i;
    const auto [at, added] = known.try_emplace({v[0], v[1], v[2]}, static_cast<int>(mesh.vertices.size()));
    if (added) mesh.vertices.push_back(frame * Vec3{v[0], v[1], v[2]});
    place.push_back(at->second);
  }
  for (int i = 0; i < model->mesh_facenum[0]; ++i) {
    const int* f = model->mesh_face + 3 * i;
    const std::array<int, 3> corners = {place[static_cast<size_t>(f[0])], place[static_cast<size_t>(f[1])],
                                        place[static_cast<size_t>(f[2])]};
    if (corners[0] != corners[1] && corners[1] != corners[2] && corners[0] != corners[2])
      mesh.triangles.push_back(corners);
  }
  if (mesh.triangles.empty()) throw InputError(path, "holds no triangle");
  return mesh;
}

bool IsClosed(const TriangleMesh& mesh) {
  std::map<std::pair<int, int>, int> passed;
  for (const auto& t : mesh.triangles) {
    for (size_t k = 0; k < 3; ++k) ++passed[{t[k], t[(k + 1) % 3]}];
  }
  return std::all_of(passed.begin(), passed.end(), [&](const auto& edge) {
    const auto back = passed.find({edge.first.second, edge.first.first});
    return back != passed.end() && back->second == edge.second;
  });
}

Bounds BoundsOf(const TriangleMesh& mesh) {
  Bounds b{mesh.vertices.front(), mesh.vertices.front()};
  for (const Vec3& v : mesh.vertices) {
    b.low = {std::min(b.low.x, v.x), std::min(b.low.y, v.y), std::min(b.low.z, v.z)};
    b.high = {std::max(b.high.x, v.x), std::max(b.high.y, v.y), std::max(b.high.z, v.z)};
  }
  return b;
}

SolidProperties SolidOf(const TriangleMesh& mesh) {
  // About a point of the mesh, so that a mesh far from the origin loses no digits.
  const Vec3 origin = mesh.vertices.front();
  Moments m;
  const auto corner = [&](int i) { return mesh.vertices[static_cast<size_t>(i)] - origin; };
  for (const auto& t : mesh.triangles) m.Add(corner(t[0]), corner(t[1]), corner(t[2]));
  if (m.volume == 0) return {};
  const Vec3 centre = (1 / m.volume) * m.first;
  SolidProperties out{m.volume, origin + centre, InertiaOf(m.second)};
  const std::array<double, 6> shift = PointInertia(m.volume, centre);
  for (size_t k = 0; k < 6; ++k) out.inertia[k] -= shift[k];
  return out;
}

SolidProperties Together(const std::vector<SolidProperties>& parts) {
  SolidProperties out;
  Vec3 first{};
  for (const SolidProperties& part : parts) {
    out.volume += part.volume;
    first = first + part.volume * part.centre;
  }
  if (out.volume == 0) return {};
  out.centre = (1 / out.volume) * first;
  for (const SolidProperties& part : parts) {
    const std::array<double, 6> shift = PointInertia(part.volume, part.centre - out.centre);
    for (size_t k = 0; k < 6; ++k) out.inertia[k] += part.inertia[k] + shift[k];
  }
  return out;
}

}  // namespace gripstream
