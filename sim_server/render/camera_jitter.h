// Moves cameras a little and changes their lenses, anew for every episode, so that a policy does not depend on where
// exactly its camera stands and what it is.
//
// The first camera is moved in its own frame by up to the configured angle about each axis and distance along each.
// Further cameras (the right one of a stereo pair) go with it, keeping their pose relative to it up to an error of
// their own. Focal lengths and principal points change too, those of all cameras of an environment alike. Draws come
// from a RandomStream and depend on (seed, environment, episode) alone.
//
// Owns the moved poses, which the SceneViews it gives point to until the same environment is moved again. Not
// thread-safe for one environment; safe for different ones. Allocates at construction only. Throws InputError for an
// unknown camera.
#pragma once

#include <mujoco/mujoco.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/rng.h"
#include "sim_server/render/camera.h"
#include "sim_server/render/camera_jitter_config.h"
#include "sim_server/render/scene_view.h"

namespace gripstream {

class CameraJitter {
 public:
  // `cameras`: names, the first leading. `models`: any environment's. Width and height are the images'.
  CameraJitter(const CameraJitterConfig& config, uint64_t seed, const std::vector<std::string>& cameras,
               std::span<const mjModel* const> models, int environments, int width_px, int height_px);

  // A new episode of the environment at `index` here, `env_id` globally.
  void Redraw(int index, uint32_t env_id, uint64_t episode);
  // The scene seen through the moved cameras.
  SceneView Moved(int index, const SceneView& scene);

 private:
  struct Pose {
    std::array<mjtNum, 3> position;
    std::array<mjtNum, 9> rotation;
  };
  // Of one environment's cameras.
  struct Lens {
    double focal = 1;                       // factor
    double shift_x_px = 0, shift_y_px = 0;  // of the principal point
  };
  static Pose DrawOffset(Rng& rng, double rotation_deg, double position_m);
  const Projection* Intrinsics(int index, const mjModel* model);

  CameraJitterConfig config_;
  RandomStream stream_, lens_stream_;
  std::vector<std::string> cameras_;
  int width_px_;
  std::unordered_map<const mjModel*, std::vector<Projection>> plain_;  // [ncam] as the model has them
  int most_cameras_ = 0;                                               // of any model
  std::vector<Pose> offsets_;                                          // [environment, camera]
  std::vector<Lens> lenses_;                                           // [environment]
  std::vector<mjtNum> position_, rotation_;                            // [environment, most_cameras, 3 or 9]
  std::vector<Projection> intrinsics_;                                 // [environment, most_cameras]
};

}  // namespace gripstream
