// Meshes and textures in a device's memory, once for all cameras that share RenderAssets.
//
// Owns that memory and keeps the device alive. What was added stays where it is; adding it again gives the same. Not
// thread-safe, but for Texture. Throws RunError when the device fails.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "sim_server/render/cuda/tile_device.h"

namespace gripstream {

// Copies an array to the device and waits.
template <class T>
DeviceArray<T> Uploaded(TileDevice& device, const T* values, size_t count) {
  DeviceArray<T> array(device, MemorySide::kDevice, count);
  if (count > 0) device.Copy(0, array.data(), values, count * sizeof(T));
  device.Wait(0);
  return array;
}

class TileAssets {
 public:
  explicit TileAssets(std::shared_ptr<TileDevice> device) : device_(std::move(device)) {}
  const std::shared_ptr<TileDevice>& Device() const { return device_; }

  // The same mesh with pointers into device memory; those that no kernel reads are null.
  MeshJob Add(const MeshJob& mesh);
  void Add(const TextureView& texture);
  // The device's copy of what was added, null for null; GS_CHECK for anything else.
  const TextureView* Texture(const TextureView* texture) const;
  bool Has(const TextureView* texture) const { return !texture || textures_.contains(texture); }

 private:
  struct MeshMemory {
    DeviceArray<float> vertices[3];  // x, y, z
    DeviceArray<int32_t> corners[3];
    DeviceArray<float> normals[3];
    DeviceArray<float> facets;  // where colour was asked for
  };
  struct TextureMemory {
    std::vector<DeviceArray<uint32_t>> levels;
    DeviceArray<TextureView> view;
  };

  std::shared_ptr<TileDevice> device_;                   // before all that lies in its memory
  std::unordered_map<const float*, MeshMemory> meshes_;  // by vertices
  std::unordered_map<const TextureView*, TextureMemory> textures_;
};

}  // namespace gripstream
