#include "sim_server/render/bench_embree.h"

#include "core/error.h"

#if defined(GRIPSTREAM_EMBREE)

#include <embree3/rtcore.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "sim_server/render/camera.h"
#include "sim_server/render/geom_table.h"
#include "sim_server/render/mesh_asset.h"

namespace gripstream {
namespace {

struct Mesh {
  std::vector<std::array<float, 3>> vertices;
  std::vector<std::array<unsigned, 3>> triangles;
};

// A surface of revolution about z given by its profile (radius, z), the first and last of which may lie on the axis.
Mesh Revolve(const std::vector<std::array<double, 2>>& profile, int slices, double stretch_y = 1.0) {
  Mesh mesh;
  for (const auto& [radius, z] : profile) {
    for (int i = 0; i < slices; ++i) {
      const double angle = 2 * std::numbers::pi * i / slices;
      mesh.vertices.push_back({static_cast<float>(radius * std::cos(angle)),
                               static_cast<float>(stretch_y * radius * std::sin(angle)), static_cast<float>(z)});
    }
  }
  for (unsigned ring = 0; ring + 1 < profile.size(); ++ring) {
    for (int i = 0; i < slices; ++i) {
      const unsigned a = ring * slices + i, b = ring * slices + (i + 1) % slices;
      mesh.triangles.push_back({a, b, a + slices});
      mesh.triangles.push_back({b, b + slices, a + slices});
    }
  }
  return mesh;
}

// A half circle from the south to the north pole, pulled apart by 2 h at the equator.
std::vector<std::array<double, 2>> RoundProfile(double r, double rz, double h, int stacks) {
  std::vector<std::array<double, 2>> profile;
  for (int i = 0; i <= stacks; ++i) {
    const double angle = std::numbers::pi * (static_cast<double>(i) / stacks - 0.5);
    if (h > 0 && 2 * i == stacks) profile.push_back({r, -h});
    profile.push_back({r * std::cos(angle), rz * std::sin(angle) + (2 * i < stacks ? -h : h)});
  }
  return profile;
}

Mesh BoxMesh(double x, double y, double z) {
  Mesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.push_back(
        {static_cast<float>(i & 1 ? x : -x), static_cast<float>(i & 2 ? y : -y), static_cast<float>(i & 4 ? z : -z)});
  }
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

Mesh ToMesh(const MeshAsset& asset) {
  Mesh mesh;
  for (int i = 0; i < asset.vertex_count; ++i) mesh.vertices.push_back({asset.x[i], asset.y[i], asset.z[i]});
  for (int i = 0; i < asset.triangle_count; ++i) {
    mesh.triangles.push_back({static_cast<unsigned>(asset.corner[0][i]), static_cast<unsigned>(asset.corner[1][i]),
                              static_cast<unsigned>(asset.corner[2][i])});
  }
  return mesh;
}

Mesh MeshOf(const DrawnGeom& geom, const mjModel& model, float far_m) {
  const int slices = model.vis.quality.numslices, stacks = model.vis.quality.numstacks / 2 * 2;
  const double sx = geom.size[0], sy = geom.size[1], sz = geom.size[2];
  switch (geom.shape) {
    case Shape::kPlane: {
      const float x = sx > 0 ? geom.size[0] : 2 * far_m, y = sy > 0 ? geom.size[1] : 2 * far_m;
      return {{{-x, -y, 0}, {x, -y, 0}, {-x, y, 0}, {x, y, 0}}, {{0, 1, 2}, {1, 3, 2}}};
    }
    case Shape::kEllipsoid:
      return Revolve(RoundProfile(sx, sz, 0, stacks), slices, sy / sx);
    case Shape::kCapsule:
      return Revolve(RoundProfile(sx, sx, sy, stacks), slices);
    case Shape::kCylinder:
      return Revolve({{0, -sy}, {sx, -sy}, {sx, sy}, {0, sy}}, slices);
    case Shape::kBox:
      return BoxMesh(sx, sy, sz);
    case Shape::kMesh:
      return ToMesh(*MeshLibrary().Add(model, geom.id));
  }
  throw RunError("the Embree peer draws no such shape");
}

class Peer : public EmbreePeer {
 public:
  Peer(const mjModel& model, const std::string& camera, const RenderConfig& config)
      : config_(config),
        camera_(FindCamera(model, camera)),
        projection_(ProjectionOf(model, camera_, config.width, config.height)),
        device_(rtcNewDevice("threads=1,set_affinity=0")),
        scene_(rtcNewScene(device_)) {
    rtcSetSceneFlags(scene_, RTC_SCENE_FLAG_DYNAMIC);
    rtcSetSceneBuildQuality(scene_, RTC_BUILD_QUALITY_LOW);
    for (const DrawnGeom& geom : DrawnGeoms(model)) {
      AddInstance(geom.id, MeshOf(geom, model, static_cast<float>(config.far_m)));
    }
  }
  ~Peer() override {
    for (RTCScene mesh : meshes_) rtcReleaseScene(mesh);
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }

  void Render(const SceneView& view, float* depth) override {
    for (const Instance& instance : instances_) Pose(instance, view);
    rtcCommitScene(scene_);
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
    const int count = config_.width * config_.height;
    for (int i = 0; i < count; i += 16) CastStrip(view, context, i, std::min(16, count - i), depth + i);
  }

 private:
  struct Instance {
    int geom;
    RTCGeometry geometry;
  };

  void AddInstance(int geom, const Mesh& mesh) {
    RTCGeometry triangles = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
    void* vertices =
        rtcSetNewGeometryBuffer(triangles, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, mesh.vertices.size());
    std::copy_n(mesh.vertices[0].data(), 3 * mesh.vertices.size(), static_cast<float*>(vertices));
    void* indices =
        rtcSetNewGeometryBuffer(triangles, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, mesh.triangles.size());
    std::copy_n(mesh.triangles[0].data(), 3 * mesh.triangles.size(), static_cast<unsigned*>(indices));
    rtcCommitGeometry(triangles);
    RTCScene bottom = rtcNewScene(device_);
    rtcAttachGeometry(bottom, triangles);
    rtcReleaseGeometry(triangles);
    rtcCommitScene(bottom);
    meshes_.push_back(bottom);
    RTCGeometry instance = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_INSTANCE);
    rtcSetGeometryInstancedScene(instance, bottom);
    rtcAttachGeometry(scene_, instance);
    rtcReleaseGeometry(instance);
    instances_.push_back({geom, instance});
  }

  void Pose(const Instance& instance, const SceneView& view) {
    const mjtNum* r = view.geom_xmat + 9 * instance.geom;
    const mjtNum* x = view.geom_xpos + 3 * instance.geom;
    float columns[12];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) columns[3 * j + i] = static_cast<float>(r[3 * i + j]);
      columns[9 + i] = static_cast<float>(x[i]);
    }
    rtcSetGeometryTransform(instance.geometry, 0, RTC_FORMAT_FLOAT3X4_COLUMN_MAJOR, columns);
    rtcCommitGeometry(instance.geometry);
  }

  void CastStrip(const SceneView& view, RTCIntersectContext& context, int first, int count, float* depth) const {
    const mjtNum* r = view.cam_xmat + 9 * camera_;
    const mjtNum* from = view.cam_xpos + 3 * camera_;
    RTCRayHit16 hits;
    alignas(64) int valid[16];  // Embree reads it as one vector
    for (int i = 0; i < 16; ++i) {
      valid[i] = i < count ? -1 : 0;
      const int pixel = first + std::min(i, count - 1);
      const double x = (pixel % config_.width + 0.5 - projection_.cx_px) / projection_.fx_px;
      const double y = -(pixel / config_.width + 0.5 - projection_.cy_px) / projection_.fy_px;
      hits.ray.org_x[i] = static_cast<float>(from[0]);
      hits.ray.org_y[i] = static_cast<float>(from[1]);
      hits.ray.org_z[i] = static_cast<float>(from[2]);
      hits.ray.dir_x[i] = static_cast<float>(r[0] * x + r[1] * y - r[2]);
      hits.ray.dir_y[i] = static_cast<float>(r[3] * x + r[4] * y - r[5]);
      hits.ray.dir_z[i] = static_cast<float>(r[6] * x + r[7] * y - r[8]);
      hits.ray.tnear[i] = static_cast<float>(config_.near_m);
      hits.ray.tfar[i] = static_cast<float>(config_.far_m);
      hits.ray.time[i] = 0;
      hits.ray.mask[i] = ~0u;
      hits.ray.flags[i] = 0;
      hits.hit.geomID[i] = RTC_INVALID_GEOMETRY_ID;
      hits.hit.instID[0][i] = RTC_INVALID_GEOMETRY_ID;
    }
    rtcIntersect16(valid, scene_, &context, &hits);
    for (int i = 0; i < count; ++i) {
      depth[i] = hits.hit.geomID[i] == RTC_INVALID_GEOMETRY_ID ? 0.0f : hits.ray.tfar[i];
    }
  }

  RenderConfig config_;
  int camera_;
  Projection projection_;
  RTCDevice device_;
  RTCScene scene_;
  std::vector<RTCScene> meshes_;
  std::vector<Instance> instances_;
};

}  // namespace

std::unique_ptr<EmbreePeer> EmbreePeer::Make(const mjModel& model, const std::string& camera,
                                             const RenderConfig& config) {
  return std::make_unique<Peer>(model, camera, config);
}

}  // namespace gripstream

#else

namespace gripstream {

std::unique_ptr<EmbreePeer> EmbreePeer::Make(const mjModel&, const std::string&, const RenderConfig&) {
  return nullptr;
}

}  // namespace gripstream

#endif
