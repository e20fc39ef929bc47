// The scenes of a tile job: cameras and poses in page-locked memory and on the device, and what set-up makes of them.
//
// Owns the memory, on a device that must outlive it. Not thread-safe, but for Place on different scenes. Throws
// RunError when the device fails.
#pragma once

#include <span>

#include "sim_server/render/cuda/tile_device.h"

namespace gripstream {

// The most of any model: geoms, surfaces and meshes.
struct TileStrides {
  int geoms = 0, surfaces = 0, meshes = 0;
};

class TileScenes {
 public:
  TileScenes() = default;
  TileScenes(TileDevice& device, size_t count, const TileStrides& strides);
  static size_t BytesPerScene(const TileStrides& strides);

  // Scene i: geoms as seen from where the job's camera is placed.
  void Place(size_t i, int model, const View& view, const SceneJob& job, std::span<const int> geom_ids) const;
  // The same with nothing in it.
  void PlaceNothing(size_t i, int model, const View& view) const;
  void Upload(TileDevice& device, int queue, size_t count) const;
  // Of the first `count` scenes, without images.
  TileJob Job(const TileModel* models, size_t count, int width, int height) const;

 private:
  TileStrides strides_;
  DeviceArray<TileScene> host_scenes_, scenes_;
  DeviceArray<GeomPose> host_poses_, poses_;
  DeviceArray<CameraPose> camera_poses_;
  DeviceArray<Surface> surfaces_;
  DeviceArray<MeshPlace> mesh_places_;
};

}  // namespace gripstream
