#include "sim_server/render/cuda/tile_assets.h"

#include "core/error.h"

namespace gripstream {

MeshJob TileAssets::Add(const MeshJob& mesh) {
  const auto [place, added] = meshes_.try_emplace(mesh.x);
  MeshMemory& memory = place->second;
  const auto vertices = static_cast<size_t>(mesh.vertex_count), triangles = static_cast<size_t>(mesh.triangle_count);
  if (added) {
    const float* axes[] = {mesh.x, mesh.y, mesh.z};
    for (int i = 0; i < 3; ++i) {
      memory.vertices[i] = Uploaded(*device_, axes[i], vertices);
      memory.corners[i] = Uploaded(*device_, mesh.corner[i], triangles);
      memory.normals[i] = Uploaded(*device_, mesh.normal[i], triangles);
    }
  }
  if (mesh.facets && !memory.facets.data()) memory.facets = Uploaded(*device_, mesh.facets, kFacetFloats * triangles);
  return {mesh.geom,
          mesh.translucent,
          mesh.vertex_count,
          mesh.triangle_count,
          memory.vertices[0].data(),
          memory.vertices[1].data(),
          memory.vertices[2].data(),
          {memory.corners[0].data(), memory.corners[1].data(), memory.corners[2].data()},
          {memory.normals[0].data(), memory.normals[1].data(), memory.normals[2].data()},
          nullptr,
          nullptr,
          memory.facets.data()};
}

void TileAssets::Add(const TextureView& texture) {
  const auto [place, added] = textures_.try_emplace(&texture);
  if (!added) return;
  TextureView view = texture;
  for (int i = 0; i < view.level_count; ++i) {
    TextureLevel& level = view.levels[i];
    const size_t texels = static_cast<size_t>(view.face_count) * (level.height + 1) * (level.width + 1);
    place->second.levels.push_back(Uploaded(*device_, level.texels, texels));
    level.texels = place->second.levels.back().data();
  }
  place->second.view = Uploaded(*device_, &view, 1);
}

const TextureView* TileAssets::Texture(const TextureView* texture) const {
  if (!texture) return nullptr;
  const auto found = textures_.find(texture);
  GS_CHECK(found != textures_.end(), "a texture that is not on the device");
  return found->second.view.data();
}

}  // namespace gripstream
