// Renders one camera of many MuJoCo environments at once: depth, segmentation, normals.
//
//   SceneViews (poses) -> per geom: pixel rectangle, analytic surface -> nearest per pixel -> the images asked for
//
// N = environments in the call, H, W = image height and width in pixels. Row 0 is the top of the image; a pixel's ray
// goes through its centre. What is drawn is what MuJoCo draws by default: geoms of groups 0 to 2 that are not fully
// transparent; surfaces seen from behind (planes from below, a geom from inside) are not seen. As in MuJoCo's renderer
// what is translucent (alpha below 0.995) shows in segmentation and normals, but depth goes through it.
//
// Threads: Render uses the threads given at construction and is to be called by one thread at a time. Memory:
// everything is allocated at construction; the targets belong to the caller and may lie in shared memory. Throws: Make
// throws InputError for a camera, geom or backend that cannot be rendered, RunError when a graphics library is missing;
// Render throws nothing but InternalError.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sim_server/render/config.h"
#include "sim_server/render/scene_view.h"

namespace gripstream {

// Where the images of one kind go: environment i's is the one `stride * i` images after the first, so that several
// cameras' images can lie side by side, [N, cameras, H, W].
template <class T>
struct ImageTarget {
  ImageTarget(T* first_image = nullptr, int64_t image_stride = 1) : first(first_image), stride(image_stride) {}
  explicit operator bool() const { return first != nullptr; }
  // Null when there are no images; `elements` = of one image.
  T* Image(int64_t index, int64_t elements) const { return first ? first + index * stride * elements : nullptr; }

  T* first;
  int64_t stride;
};

// A null pointer means "not wanted" and costs nothing. Depth is written fastest to addresses that are multiples of 64
// bytes.
struct RenderTargets {
  ImageTarget<uint16_t> depth_u16 = {};    // [H, W] multiples of kDepthQuantum_m along the optical axis; 0 = nothing
  ImageTarget<float> depth_f32 = {};       // [H, W] the same in metres, not rounded
  ImageTarget<int32_t> segmentation = {};  // [H, W] geom id of the nearest surface, -1 where there is none
  ImageTarget<float> normals = {};   // [H, W, 3] its unit normal, camera frame (x right, y down, z forward); 0 = none
  ImageTarget<uint8_t> rgb = {};     // [H, W, 3] of the same; needs config.colour (see colour.h)
  ImageTarget<int32_t> bodies = {};  // [H, W] its body's id, -1 where there is none
};

class RenderAssets;
struct DepthNoiseConfig;

class BatchRenderer {
 public:
  virtual ~BatchRenderer() = default;
  BatchRenderer(const BatchRenderer&) = delete;
  BatchRenderer& operator=(const BatchRenderer&) = delete;

  // `models`: every model that a SceneView will point to. What they say of geoms (type, size, group, colour) is read
  // here once; poses come with every call. They must outlive the renderer. `threads` >= 1, the caller's included.
  // `assets`: shared with other cameras' renderers of the same models; null: its own.
  static std::unique_ptr<BatchRenderer> Make(const RenderConfig& config, const std::string& camera,
                                             std::span<const mjModel* const> models, int threads,
                                             std::shared_ptr<RenderAssets> assets = nullptr);

  virtual void Render(std::span<const SceneView> scenes, const RenderTargets& targets) = 0;

  // Asks for sensor noise over all depth_u16 images from now on, as DepthNoise would lay it with this seed. False when
  // this renderer leaves that to DepthNoise; InputError as there.
  virtual bool TakeDepthNoise(const DepthNoiseConfig& config, uint64_t seed);

 protected:
  BatchRenderer() = default;
};

}  // namespace gripstream
