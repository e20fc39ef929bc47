#include "sim_server/render/mesh_asset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/files.h"
#include "sim_server/render/camera.h"

namespace gripstream {
namespace {

struct Triangles {
  std::vector<std::array<float, 3>> vertices;
  std::vector<std::array<int32_t, 3>> corners;
  // Of every corner of every triangle.
  std::vector<std::array<float, 3>> normals;
  std::vector<std::array<float, 2>> texture;  // or empty
};

Triangles FromMesh(const mjModel& model, int mesh) {
  Triangles t;
  const float* vertex = model.mesh_vert + 3 * model.mesh_vertadr[mesh];
  for (int i = 0; i < model.mesh_vertnum[mesh]; ++i) {
    t.vertices.push_back({vertex[3 * i], vertex[3 * i + 1], vertex[3 * i + 2]});
  }
  const int* face = model.mesh_face + 3 * model.mesh_faceadr[mesh];
  for (int i = 0; i < model.mesh_facenum[mesh]; ++i) {
    t.corners.push_back({face[3 * i], face[3 * i + 1], face[3 * i + 2]});
  }
  const float* normal = model.mesh_normal + 3 * model.mesh_normaladr[mesh];
  const int* face_normal = model.mesh_facenormal + 3 * model.mesh_faceadr[mesh];
  for (int i = 0; i < 3 * model.mesh_facenum[mesh]; ++i) {
    const float* n = normal + 3 * face_normal[i];
    t.normals.push_back({n[0], n[1], n[2]});
  }
  if (model.mesh_texcoordadr[mesh] < 0) return t;
  const float* coordinate = model.mesh_texcoord + 2 * model.mesh_texcoordadr[mesh];
  const int* face_coordinate = model.mesh_facetexcoord + 3 * model.mesh_faceadr[mesh];
  for (int i = 0; i < 3 * model.mesh_facenum[mesh]; ++i) {
    t.texture.push_back({coordinate[2 * face_coordinate[i]], coordinate[2 * face_coordinate[i] + 1]});
  }
  return t;
}

std::array<float, 3> UnitNormal(const Triangles& t, const std::array<int32_t, 3>& corners) {
  const auto& a = t.vertices[corners[0]];
  double u[3], v[3];
  for (int i = 0; i < 3; ++i) {
    u[i] = double{t.vertices[corners[1]][i]} - a[i];
    v[i] = double{t.vertices[corners[2]][i]} - a[i];
  }
  const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  if (length == 0) return {0, 0, 0};
  return {static_cast<float>(n[0] / length), static_cast<float>(n[1] / length), static_cast<float>(n[2] / length)};
}

// Of a height field: the first `smooth` triangles are its surface, whose corners take the mean of their triangles'.
void AddFieldNormals(size_t smooth, Triangles* t) {
  std::vector<std::array<float, 3>> sum(t->vertices.size(), {0, 0, 0});
  for (size_t i = 0; i < smooth; ++i) {
    const std::array<float, 3> n = UnitNormal(*t, t->corners[i]);
    for (const int32_t corner : t->corners[i]) {
      for (size_t k = 0; k < 3; ++k) sum[static_cast<size_t>(corner)][k] += n[k];
    }
  }
  for (size_t i = 0; i < t->corners.size(); ++i) {
    const std::array<float, 3> flat = UnitNormal(*t, t->corners[i]);
    for (const int32_t corner : t->corners[i])
      t->normals.push_back(i < smooth ? sum[static_cast<size_t>(corner)] : flat);
  }
}

// The walls about a grid of rows x columns vertices down to as many base vertices, and the base.
void AddWalls(int rows, int columns, Triangles* t) {
  const int base = rows * columns;
  const auto wall = [&](int a, int b) {  // a to b counter-clockwise about the field seen from above
    t->corners.push_back({a, base + a, base + b});
    t->corners.push_back({a, base + b, b});
  };
  for (int c = 0; c + 1 < columns; ++c) {
    wall(c, c + 1);
    wall((rows - 1) * columns + c + 1, (rows - 1) * columns + c);
  }
  for (int r = 0; r + 1 < rows; ++r) {
    wall(r * columns + columns - 1, (r + 1) * columns + columns - 1);
    wall((r + 1) * columns, r * columns);
  }
  const int corner[4] = {base, base + columns - 1, base + base - 1, base + (rows - 1) * columns};
  t->corners.push_back({corner[0], corner[2], corner[1]});
  t->corners.push_back({corner[0], corner[3], corner[2]});
}

Triangles FromHeightField(const mjModel& model, int field) {
  const int rows = model.hfield_nrow[field], columns = model.hfield_ncol[field];
  const mjtNum* size = model.hfield_size + 4 * field;  // half-sides x, y, height of 1, thickness below 0
  const float* data = model.hfield_data + model.hfield_adr[field];
  Triangles t;
  for (const bool base : {false, true}) {
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        t.vertices.push_back({static_cast<float>((2.0 * c / (columns - 1) - 1) * size[0]),
                              static_cast<float>((2.0 * r / (rows - 1) - 1) * size[1]),
                              static_cast<float>(base ? -size[3] : data[r * columns + c] * size[2])});
      }
    }
  }
  for (int r = 0; r + 1 < rows; ++r) {
    for (int c = 0; c + 1 < columns; ++c) {
      const int a = r * columns + c, b = a + 1, d = a + columns, e = d + 1;
      t.corners.push_back({a, b, e});
      t.corners.push_back({a, e, d});
    }
  }
  const size_t smooth = t.corners.size();
  AddWalls(rows, columns, &t);
  AddFieldNormals(smooth, &t);
  return t;
}

std::string ContentOf(const Triangles& t) {
  Sha256 hash;
  hash.Update(t.vertices.data(), t.vertices.size() * sizeof t.vertices[0]);
  hash.Update(t.corners.data(), t.corners.size() * sizeof t.corners[0]);
  hash.Update(t.normals.data(), t.normals.size() * sizeof t.normals[0]);
  hash.Update(t.texture.data(), t.texture.size() * sizeof t.texture[0]);
  return hash.HexDigest();
}

int Padded(size_t count) {
  return static_cast<int>((count + kMeshPadding - 1) / kMeshPadding * kMeshPadding);
}

// The linear functions of a point that are 1 at one corner and 0 at the others.
void SetWeights(const Triangles& t, const std::array<int32_t, 3>& corners, MeshFacet* facet) {
  double edge[2][3], dot[2][2] = {};
  const auto& start = t.vertices[static_cast<size_t>(corners[0])];
  for (size_t k = 0; k < 3; ++k) {
    for (size_t e = 0; e < 2; ++e) {
      edge[e][k] = double{t.vertices[static_cast<size_t>(corners[e + 1])][k]} - double{start[k]};
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) dot[i][j] = mju_dot3(edge[i], edge[j]);
  }
  const double area = dot[0][0] * dot[1][1] - dot[0][1] * dot[1][0];
  if (!(area > 0)) return;
  double offset[2] = {0, 0};
  for (size_t k = 0; k < 3; ++k) {
    const double second = (dot[1][1] * edge[0][k] - dot[0][1] * edge[1][k]) / area;
    const double third = (dot[0][0] * edge[1][k] - dot[0][1] * edge[0][k]) / area;
    facet->second[k] = static_cast<float>(second), facet->third[k] = static_cast<float>(third);
    offset[0] -= second * double{start[k]}, offset[1] -= third * double{start[k]};
  }
  facet->second[3] = static_cast<float>(offset[0]), facet->third[3] = static_cast<float>(offset[1]);
}

std::vector<MeshFacet> FacetsOf(const Triangles& t) {
  std::vector<MeshFacet> facets(static_cast<size_t>(Padded(t.corners.size())));
  for (size_t i = 0; i < t.corners.size(); ++i) {
    MeshFacet& facet = facets[i];
    SetWeights(t, t.corners[i], &facet);
    for (size_t corner = 0; corner < 3; ++corner) {
      for (size_t k = 0; k < 3; ++k) {
        const float first = t.normals[3 * i][k];
        facet.normal[corner][k] = corner == 0 ? first : t.normals[3 * i + corner][k] - first;
      }
      for (size_t k = 0; k < 2 && !t.texture.empty(); ++k) {
        const float first = t.texture[3 * i][k];
        facet.texture[corner][k] = corner == 0 ? first : t.texture[3 * i + corner][k] - first;
      }
    }
  }
  return facets;
}

// A little larger than need be, for rounding; vertices that are not numbers show nothing and do not count.
void SetBox(MeshAsset* asset) {
  const std::vector<float>* const axes[3] = {&asset->x, &asset->y, &asset->z};
  for (int k = 0; k < 3; ++k) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const float v : *axes[k]) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
    asset->centre[k] = static_cast<float>(0.5 * (low + high));
    asset->half[k] = static_cast<float>(0.5005 * (high - low) + 1e-5);
  }
}

std::unique_ptr<MeshAsset> ToAsset(const Triangles& t) {
  auto asset = std::make_unique<MeshAsset>();
  asset->vertex_count = Padded(t.vertices.size());
  asset->triangle_count = Padded(t.corners.size());
  for (int i = 0; i < asset->vertex_count; ++i) {
    const auto& v = t.vertices[std::min<size_t>(i, t.vertices.size() - 1)];
    asset->x.push_back(v[0]), asset->y.push_back(v[1]), asset->z.push_back(v[2]);
  }
  SetBox(asset.get());
  for (int i = 0; i < asset->triangle_count; ++i) {
    const bool real = i < static_cast<int>(t.corners.size());
    const std::array<int32_t, 3> corners = real ? t.corners[i] : std::array<int32_t, 3>{0, 0, 0};
    for (int k = 0; k < 3; ++k) asset->corner[k].push_back(corners[k]);
    const std::array<float, 3> normal = UnitNormal(t, corners);
    for (int k = 0; k < 3; ++k) asset->normal[k].push_back(normal[k]);
  }
  return asset;
}

}  // namespace

const MeshAsset* MeshLibrary::Add(const mjModel& model, int geom, bool colour) {
  const int data = model.geom_dataid[geom];
  const bool is_field = model.geom_type[geom] == mjGEOM_HFIELD;
  const Triangles triangles = is_field ? FromHeightField(model, data) : FromMesh(model, data);
  if (triangles.corners.empty()) {
    throw InputError(ModelName(model), "mesh", mj_id2name(&model, mjOBJ_MESH, data), "a mesh with triangles");
  }
  std::unique_ptr<MeshAsset>& asset = by_content_[ContentOf(triangles)];
  if (!asset) asset = ToAsset(triangles);
  if (colour && asset->facets.empty()) asset->facets = FacetsOf(triangles);
  return asset.get();
}

int MeshLibrary::LargestVertexCount() const {
  int most = 0;
  for (const auto& [content, asset] : by_content_) most = std::max(most, asset->vertex_count);
  return most;
}

}  // namespace gripstream
