// All images of a simulator's records: which cameras give which kinds of image, at which size, drawn into the record.
//
//   render: -> passes (one per camera and size, all its kinds at once) -> record tensors
//           -> depth from the stereo pair, augmentation of colour, sensor noise of depth, outages: those that are
//              switched on
//
// Per environment a kind has the shape [H, W(, 3)] with one camera and [C, H, W(, 3)] with several, as its
// list has them:
//   obs.depth         uint16   multiples of kDepthQuantum_m along the optical axis, 0 = nothing in range
//   obs.rgb           uint8    red, green, blue
//   obs.segmentation  int32    geom ids, -1 = nothing
//   obs.bodies        int32    body ids, -1 = nothing
//   obs.normals       float32  unit, camera frame (x right, y down, z forward); 0 = nothing
// An image starts at a multiple of 64 bytes where its size is one.
//
// What varies is drawn by episode (cameras, looks, colours) or step (noise, blur) and by nothing else, so an image
// belongs to its environment's state alone: rendering a state again, in any batch, gives the same bytes.
//
// Render is called by one thread at a time and uses those given at construction; all memory is allocated there, none
// for kinds that were not asked for. Construction throws InputError for what the configuration names wrongly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/rng.h"
#include "core/tensor_spec.h"
#include "envs/config.h"
#include "sim_server/cameras_config.h"
#include "sim_server/render/augment.h"
#include "sim_server/render/depth_noise.h"
#include "sim_server/render/renderer.h"
#include "sim_server/render/stereo_matcher.h"
#include "wire/layout.h"

namespace gripstream {

class EnvBatch;
class EpisodeLooks;
class RenderAssets;

class EnvImages {
 public:
  // `envs` environments of all groups together, holding any of `models`, of which at most `batch` are rendered at once.
  EnvImages(const CamerasConfig& config, const TaskConfig& task, uint64_t seed, std::span<const mjModel* const> models,
            int envs, int batch, int threads);
  ~EnvImages();

  // The record's image tensors, in the order above.
  const std::vector<TensorSpec>& Specs() const { return specs_; }
  // Images of all environments of the batch, whose first is environment `first` here.
  void Render(const EnvBatch& envs, int first, const Layout& layout, std::span<std::byte> record);

 private:
  // Where one kind's images of one camera go: to place `index` of the `count` in the tensor.
  struct Output {
    std::string tensor;
    int index, count;
  };
  // One camera at one size.
  struct Pass {
    std::string camera;
    RenderConfig config;
    int seen = 0;  // how EpisodeLooks shows scenes to it
    std::vector<Output> outputs;
    std::unique_ptr<BatchRenderer> renderer;
    std::unique_ptr<DepthNoise> noise;  // where depth is asked for and noise is on
    Augmenter* augmenter = nullptr;     // where colour is asked for and augmented
    // [batch, H, W(, 3)] what the stages after rendering need and the record does not hold.
    std::vector<uint8_t> own_rgb;
    std::vector<int32_t> own_ids;
  };
  // Where depth comes from a stereo pair.
  struct Stereo {
    size_t left, right;     // passes
    int left_id, right_id;  // cameras
    double focal_px;        // where intrinsics do not vary
    std::unique_ptr<StereoMatcher> matcher;
    std::vector<StereoMatcher::Pair> pairs;
  };

  void AddKind(const std::string& name, const ModalityConfig& kind, const TensorSpec& pixel);
  RenderTargets TargetsOf(Pass& pass, const Layout& layout, std::span<std::byte> record) const;
  void AddStereoDepth(int batch, int threads);
  size_t PassOf(const std::string& camera, int width, int height);
  void Prepare(Pass& pass, uint64_t seed, int batch, int threads);
  Augmenter* AugmenterFor(const RenderConfig& image, uint64_t seed, int threads);
  void MatchStereo(const EnvBatch& envs, int first, const Layout& layout, std::span<std::byte> record);
  void NoteMoments(const EnvBatch& envs);
  bool IsOut(const EnvBatch& envs, int env) const;
  void BlackOut(const EnvBatch& envs, const Layout& layout, std::span<std::byte> record) const;

  CamerasConfig config_;
  std::string task_camera_;
  double step_s_;
  RandomStream outages_;
  std::vector<const mjModel*> models_;
  std::vector<TensorSpec> specs_;
  std::vector<Pass> passes_;
  std::optional<Stereo> stereo_;
  std::shared_ptr<RenderAssets> assets_;
  std::unique_ptr<EpisodeLooks> looks_;
  std::map<std::pair<int, int>, std::unique_ptr<Augmenter>> augmenters_;  // by width and height
  // Of the batch being rendered.
  std::vector<SceneView> views_;
  std::vector<uint32_t> moment_envs_;  // by which noise is drawn
  std::vector<uint64_t> moment_steps_;
  std::vector<AugmentMoment> augment_moments_;
};

}  // namespace gripstream
