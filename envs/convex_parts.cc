#include "envs/convex_parts.h"

#define ENABLE_VHACD_IMPLEMENTATION 1
#include <VHACD.h>

#include <bit>
#include <memory>

#include "core/error.h"

namespace gripstream {
namespace {

struct Release {
  void operator()(VHACD::IVHACD* library) const { library->Release(); }
};

TriangleMesh Part(const VHACD::IVHACD::ConvexHull& hull) {
  TriangleMesh part;
  for (const VHACD::Vertex& v : hull.m_points) part.vertices.push_back({v.mX, v.mY, v.mZ});
  for (const VHACD::Triangle& t : hull.m_triangles)
    part.triangles.push_back({static_cast<int>(t.mI0), static_cast<int>(t.mI1), static_cast<int>(t.mI2)});
  if (SolidOf(part).volume < 0) {
    for (auto& t : part.triangles) std::swap(t[1], t[2]);
  }
  return part;
}

}  // namespace

std::vector<TriangleMesh> ConvexParts(const TriangleMesh& mesh, const ConvexLimits& limits, const std::string& where) {
  std::vector<double> points;
  std::vector<uint32_t> triangles;
  for (const Vec3& v : mesh.vertices) points.insert(points.end(), {v.x, v.y, v.z});
  for (const auto& t : mesh.triangles) {
    for (const int corner : t) triangles.push_back(static_cast<uint32_t>(corner));
  }
  VHACD::IVHACD::Parameters parameters;
  parameters.m_maxConvexHulls = static_cast<uint32_t>(limits.parts);
  parameters.m_maxNumVerticesPerCH = static_cast<uint32_t>(limits.vertices);
  parameters.m_resolution = static_cast<uint32_t>(limits.resolution);
  // Divides into four times the parts that are wanted, which are then merged: deeper is slow and hardly closer.
  parameters.m_maxRecursionDepth = static_cast<uint32_t>(std::bit_width(static_cast<unsigned>(limits.parts))) + 1;
  parameters.m_asyncACD = false;  // several threads would find parts in an order of their own
  const std::unique_ptr<VHACD::IVHACD, Release> library(VHACD::CreateVHACD());
  const bool done = library->Compute(points.data(), static_cast<uint32_t>(mesh.vertices.size()), triangles.data(),
                                     static_cast<uint32_t>(mesh.triangles.size()), parameters);
  std::vector<TriangleMesh> parts;
  for (uint32_t i = 0; done && i < library->GetNConvexHulls(); ++i) {
    VHACD::IVHACD::ConvexHull hull;
    if (!library->GetConvexHull(i, hull)) continue;
    TriangleMesh part = Part(hull);
    if (SolidOf(part).volume > 0) parts.push_back(std::move(part));
  }
  if (parts.empty()) throw InputError(where, "encloses no volume that could touch anything");
  return parts;
}

}  // namespace gripstream
