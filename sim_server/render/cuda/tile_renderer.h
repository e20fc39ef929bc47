// Our renderer as tile kernels on a device: depth, segmentation, bodies, normals and colour of primitives, meshes and
// height fields. See renderer.h for the contract.
//
//   poses of up to Capacity() environments -> page-locked memory -> device -> set-up, tiles -> the caller's images
//
// Two such parts are under way at a time: while one is drawn the next is gathered. Targets may each be device memory,
// which the kernels then write straight into, or host memory, which is copied to (quickest where it is page-locked). An
// image's buffer on the device is allocated when host memory first asks for that kind of image, everything else at
// construction. Meshes and textures are on the device once for all cameras that share RenderAssets. Throws besides:
// Render RunError when the device fails. Geometry in single precision, without fused multiply-add: depth and
// segmentation have the CPU renderer's bits.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/parallel.h"
#include "sim_server/render/camera.h"
#include "sim_server/render/cuda/tile_assets.h"
#include "sim_server/render/cuda/tile_colour.h"
#include "sim_server/render/cuda/tile_device.h"
#include "sim_server/render/depth_noise.h"
#include "sim_server/render/renderer.h"

namespace gripstream {

class TileRenderer : public BatchRenderer {
 public:
  // Environments drawn at a time where memory does not bound them further.
  static constexpr int kMostEnvironments = 1024;

  // `device` is the one of `assets` where these are on one already.
  TileRenderer(const RenderConfig& config, const std::string& camera, std::span<const mjModel* const> models,
               int threads, std::shared_ptr<TileDevice> device, int most_environments = kMostEnvironments,
               std::shared_ptr<RenderAssets> assets = nullptr);
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
    DeviceArray<MeshJob> meshes;
  };
  // One part of a batch under way.
  struct Part {
    TileScenes scenes;
    DeviceArray<uint16_t> depth_u16;
    DeviceArray<float> depth_f32;
    DeviceArray<int32_t> segmentation, bodies;
    DeviceArray<float> normals;
    DeviceArray<uint8_t> rgb;
    TileColour::Part colour;                      // with colour only
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
  Part MakePart();
  // `rgb`: where the part's colour images go on the device; null: no colour.
  void Gather(std::span<const SceneView> scenes, uint8_t* rgb, const Part& part);
  template <class T>
  T* Target(const ImageTarget<T>& target, size_t first, size_t count, int channels, DeviceArray<T>* own,
            std::vector<Download>* downloads);
  void LayNoise(std::span<const SceneView> scenes, const Part& part, uint16_t* depth, int queue);
  void RenderPart(std::span<const SceneView> scenes, size_t first, const RenderTargets& targets, int queue);

  int width_, height_, capacity_ = 0;
  Projection projection_ = {};  // the first model's
  bool colour_;
  std::unique_ptr<NoiseJobs> noise_;
  std::shared_ptr<TileDevice> device_;  // before all that lies in its memory
  std::shared_ptr<RenderAssets> assets_;
  std::unique_ptr<TileColour> colour_look_;  // with colour only
  ParallelFor parallel_;
  std::unordered_map<const mjModel*, ModelEntry> entries_;
  std::vector<ModelMemory> model_memory_;
  DeviceArray<TileModel> models_;
  TileStrides strides_;
  Part parts_[kTileQueues];
  std::vector<Download> downloads_;
};

}  // namespace gripstream
