// Our renderer as tile kernels on a device: depth, segmentation, bodies and normals of primitives, meshes and height
// fields. See renderer.h for the contract.
//
//   poses of up to Capacity() environments -> page-locked memory -> device -> set-up, tiles -> the caller's images
//
// Two such parts are under way at a time: while one is drawn the next is gathered. Targets may each be device memory,
// which the kernels then write straight into, or host memory, which is copied to (quickest where it is page-locked). An
// image's buffer on the device is allocated when host memory first asks for that kind of image, everything else at
// construction. Throws besides: the constructor InputError for colour, which this renderer does not make; Render
// RunError when the device fails. Geometry in single precision, without fused multiply-add: depth and segmentation have
// the CPU renderer's bits.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/parallel.h"
#include "sim_server/render/camera.h"
#include "sim_server/render/cuda/tile_device.h"
#include "sim_server/render/depth_noise.h"
#include "sim_server/render/mesh_asset.h"
#include "sim_server/render/renderer.h"

namespace gripstream {

class TileRenderer : public BatchRenderer {
 public:
  // Environments drawn at a time where memory does not bound them further.
  static constexpr int kMostEnvironments = 1024;

  TileRenderer(const RenderConfig& config, const std::string& camera, std::span<const mjModel* const> models,
               int threads, std::unique_ptr<TileDevice> device, int most_environments = kMostEnvironments);
  ~TileRenderer() override;
  void Render(std::span<const SceneView> scenes, const RenderTargets& targets) override;
  bool TakeDepthNoise(const DepthNoiseConfig& config, uint64_t seed) override;

  TileDevice& Device() { return *device_; }
  int Capacity() const { return capacity_; }

 private:
  // Of a model, for gathering poses.
  struct ModelEntry {
    int index;
    int camera_id;
    View view;                  // where a scene brings no intrinsics of its own
    std::vector<int> geom_ids;  // in the order of its TileGeoms
  };
  // A model's tables on the device.
  struct ModelMemory {
    DeviceArray<TileGeom> geoms;
    DeviceArray<TileMesh> meshes;
  };
  struct MeshMemory {
    DeviceArray<float> vertices[3];  // x, y, z
    DeviceArray<int32_t> corners[3];
    DeviceArray<float> normals[3];
  };
  // One part of a batch under way.
  struct Part {
    DeviceArray<TileScene> host_scenes, scenes;
    DeviceArray<GeomPose> host_poses, poses;
    DeviceArray<CameraPose> camera_poses;
    DeviceArray<Surface> surfaces;
    DeviceArray<MeshPlace> mesh_places;
    DeviceArray<uint16_t> depth_u16;
    DeviceArray<float> depth_f32;
    DeviceArray<int32_t> segmentation, bodies;
    DeviceArray<float> normals;
    DeviceArray<uint64_t> host_moments, moments;  // with noise only, as all below
    DeviceArray<float> correlated;
  };
  // Images that are drawn on the device and belong in host memory.
  struct Download {
    void* to;
    const void* from;
    size_t bytes;
  };

  TileModel AddModel(const mjModel& model, ModelEntry* entry);
  TileMesh AddMesh(const MeshAsset& asset, int geom, bool translucent);
  template <class T>
  DeviceArray<T> Uploaded(const T* values, size_t count);
  Part MakePart();
  void Gather(std::span<const SceneView> scenes, const Part& part);
  template <class T>
  T* Target(const ImageTarget<T>& target, size_t first, size_t count, int channels, DeviceArray<T>* own,
            std::vector<Download>* downloads);
  void LayNoise(std::span<const SceneView> scenes, const Part& part, uint16_t* depth, int queue);
  void RenderPart(std::span<const SceneView> scenes, size_t first, const RenderTargets& targets, int queue);

  int width_, height_, capacity_ = 0;
  Projection projection_ = {};  // the first model's
  std::unique_ptr<NoiseJobs> noise_;
  std::unique_ptr<TileDevice> device_;  // before all that lies in its memory
  ParallelFor parallel_;
  MeshLibrary library_;
  std::unordered_map<const mjModel*, ModelEntry> entries_;
  std::vector<ModelMemory> model_memory_;
  std::unordered_map<const MeshAsset*, MeshMemory> mesh_memory_;
  DeviceArray<TileModel> models_;
  int geom_stride_ = 0, surface_stride_ = 0, mesh_stride_ = 0;
  Part parts_[kTileQueues];
  std::vector<Download> downloads_;
};

}  // namespace gripstream
