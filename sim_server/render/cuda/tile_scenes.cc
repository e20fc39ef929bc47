#include "sim_server/render/cuda/tile_scenes.h"

#include <limits>

namespace gripstream {

TileScenes::TileScenes(TileDevice& device, size_t count, const TileStrides& strides)
    : strides_(strides),
      host_scenes_(device, MemorySide::kHost, count),
      scenes_(device, MemorySide::kDevice, count),
      host_poses_(device, MemorySide::kHost, count * strides.geoms),
      poses_(device, MemorySide::kDevice, count * strides.geoms),
      camera_poses_(device, MemorySide::kDevice, count * strides.geoms),
      surfaces_(device, MemorySide::kDevice, count * strides.surfaces),
      mesh_places_(device, MemorySide::kDevice, count * strides.meshes) {}

size_t TileScenes::BytesPerScene(const TileStrides& strides) {
  return sizeof(TileScene) + static_cast<size_t>(strides.geoms) * (sizeof(GeomPose) + sizeof(CameraPose)) +
         static_cast<size_t>(strides.surfaces) * sizeof(Surface) +
         static_cast<size_t>(strides.meshes) * sizeof(MeshPlace);
}

void TileScenes::Place(size_t i, int model, const View& view, const SceneJob& job,
                       std::span<const int> geom_ids) const {
  TileScene& scene = host_scenes_.data()[i];
  scene.model = model;
  scene.view = view;
  for (int k = 0; k < 9; ++k) scene.optical_from_world[k] = static_cast<float>(job.optical_from_world[k]);
  GeomPose* pose = host_poses_.data() + i * strides_.geoms;
  for (const int geom : geom_ids) {
    for (int k = 0; k < 3; ++k) {
      pose->centre[k] = static_cast<float>(job.geom_xpos[3 * geom + k] - job.camera_xpos[k]);
    }
    for (int k = 0; k < 9; ++k) pose->axes[k] = static_cast<float>(job.geom_xmat[9 * geom + k]);
    ++pose;
  }
}

void TileScenes::PlaceNothing(size_t i, int model, const View& view) const {
  TileScene& scene = host_scenes_.data()[i];
  scene = {};
  scene.model = model;
  scene.view = view;
  // A pose that is not a number draws nothing.
  for (int k = 0; k < strides_.geoms; ++k) {
    GeomPose& pose = host_poses_.data()[i * strides_.geoms + k];
    pose = {};
    pose.centre[0] = std::numeric_limits<float>::quiet_NaN();
  }
}

void TileScenes::Upload(TileDevice& device, int queue, size_t count) const {
  device.Copy(queue, scenes_.data(), host_scenes_.data(), count * sizeof(TileScene));
  if (strides_.geoms == 0) return;
  device.Copy(queue, poses_.data(), host_poses_.data(), count * strides_.geoms * sizeof(GeomPose));
}

TileJob TileScenes::Job(const TileModel* models, size_t count, int width, int height) const {
  TileJob job = {};
  job.models = models;
  job.scenes = scenes_.data(), job.poses = poses_.data(), job.camera_poses = camera_poses_.data();
  job.surfaces = surfaces_.data(), job.mesh_places = mesh_places_.data();
  job.count = static_cast<int>(count);
  job.geom_stride = strides_.geoms, job.surface_stride = strides_.surfaces, job.mesh_stride = strides_.meshes;
  job.width = width, job.height = height;
  job.tiles_x = (width + kTileWidth - 1) / kTileWidth, job.tiles_y = (height + kTileHeight - 1) / kTileHeight;
  return job;
}

}  // namespace gripstream
