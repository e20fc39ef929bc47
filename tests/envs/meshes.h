// Small meshes, and a folder of them as files.
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "envs/triangle_mesh.h"

namespace gripstream::testing {

inline TriangleMesh Box(Vec3 centre, Vec3 size) {
  TriangleMesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.push_back(
        centre + Vec3{(i & 1 ? 0.5 : -0.5) * size.x, (i & 2 ? 0.5 : -0.5) * size.y, (i & 4 ? 0.5 : -0.5) * size.z});
  }
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

// A square bar of 100 x 40 x 40 mm with a second one of 40 x 60 x 40 mm at one end, as one closed surface.
inline TriangleMesh Ell() {
  const double outline[6][2] = {{0, 0}, {0.1, 0}, {0.1, 0.04}, {0.04, 0.04}, {0.04, 0.1}, {0, 0.1}};
  TriangleMesh mesh;
  for (const double z : {0.0, 0.04}) {
    for (const auto& p : outline) mesh.vertices.push_back({p[0], p[1], z});
  }
  for (int i = 0; i < 6; ++i) {
    const int j = (i + 1) % 6;
    mesh.triangles.push_back({i, j, 6 + i});
    mesh.triangles.push_back({j, 6 + j, 6 + i});
  }
  const int cap[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 5}, {3, 4, 5}};
  for (const auto& t : cap) {
    mesh.triangles.push_back({t[0], t[2], t[1]});
    mesh.triangles.push_back({6 + t[0], 6 + t[1], 6 + t[2]});
  }
  return mesh;
}

inline TriangleMesh Ball(double radius, int rings) {
  constexpr double kPi = 3.14159265358979323846;
  TriangleMesh mesh;
  const int around = 2 * rings;
  mesh.vertices.push_back({0, 0, radius});
  for (int r = 1; r < rings; ++r) {
    for (int a = 0; a < around; ++a) {
      const double polar = kPi * r / rings, turn = 2 * kPi * a / around;
      mesh.vertices.push_back({radius * std::sin(polar) * std::cos(turn), radius * std::sin(polar) * std::sin(turn),
                               radius * std::cos(polar)});
    }
  }
  mesh.vertices.push_back({0, 0, -radius});
  const int last = static_cast<int>(mesh.vertices.size()) - 1;
  const auto at = [&](int r, int a) { return 1 + (r - 1) * around + a % around; };
  for (int a = 0; a < around; ++a) {
    mesh.triangles.push_back({0, at(1, a), at(1, a + 1)});
    mesh.triangles.push_back({last, at(rings - 1, a + 1), at(rings - 1, a)});
    for (int r = 1; r + 1 < rings; ++r) {
      mesh.triangles.push_back({at(r, a), at(r + 1, a), at(r + 1, a + 1)});
      mesh.triangles.push_back({at(r, a), at(r + 1, a + 1), at(r, a + 1)});
    }
  }
  return mesh;
}

// A folder of its own, gone afterwards; what processes keep for their next start (envs/parts_cache.h) is in it, too.
class MeshFolder {
 public:
  MeshFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gripstream_meshes_XXXXXX").string();
    path_ = mkdtemp(name.data());
    setenv("GRIPSTREAM_CACHE", (path_ + "/cache").c_str(), 1);
  }
  ~MeshFolder() {
    setenv("GRIPSTREAM_CACHE", "", 1);
    std::filesystem::remove_all(path_);
  }
  MeshFolder(const MeshFolder&) = delete;
  MeshFolder& operator=(const MeshFolder&) = delete;
  std::string operator/(const std::string& file) const { return path_ + "/" + file; }
  const std::string& Path() const { return path_; }

  void WriteObj(const std::string& name, const TriangleMesh& mesh) const {
    std::ofstream out(path_ + "/" + name + ".obj");
    out.precision(9);
    for (const Vec3& v : mesh.vertices) out << "v " << v.x << " " << v.y << " " << v.z << "\n";
    for (const auto& t : mesh.triangles) out << "f " << t[0] + 1 << " " << t[1] + 1 << " " << t[2] + 1 << "\n";
  }
  // Binary: 80 bytes, the number of triangles, then 50 bytes each.
  void WriteStl(const std::string& name, const TriangleMesh& mesh) const {
    std::ofstream out(path_ + "/" + name + ".stl", std::ios::binary);
    const std::string header(80, ' ');
    out.write(header.data(), 80);
    const auto count = static_cast<uint32_t>(mesh.triangles.size());
    out.write(reinterpret_cast<const char*>(&count), 4);
    for (const auto& t : mesh.triangles) {
      char record[50] = {};
      for (size_t k = 0; k < 3; ++k) {
        const Vec3& v = mesh.vertices[static_cast<size_t>(t[k])];
        const float corner[3] = {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
        std::memcpy(record + 12 + 12 * k, corner, 12);
      }
      out.write(record, 50);
    }
  }

 private:
  std::string path_;
};

}  // namespace gripstream::testing
