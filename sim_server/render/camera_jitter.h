// Moves cameras a little, anew for every episode, so that a policy does not depend on where exactly its camera stands.
//
// The first camera is moved in its own frame by up to the configured angle about each axis and distance along each.
// Further cameras (the right one of a stereo pair) go with it, keeping their pose relative to it up to an error of
// their own. Draws come from a RandomStream and depend on (seed, environment, episode) alone.
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
#include <vector>

#include "core/rng.h"
#include "sim_server/render/camera_jitter_config.h"
#include "sim_server/render/scene_view.h"

namespace gripstream {

class CameraJitter {
 public:
  // `cameras`: names, the first leading. `models`: any environment's.
  CameraJitter(const CameraJitterConfig& config, uint64_t seed, const std::vector<std::string>& cameras,
               std::span<const mjModel* const> models, int environments);

  // A new episode of the environment at `index` here, `env_id` globally.
  void Redraw(int index, uint32_t env_id, uint64_t episode);
  // The scene seen through the moved cameras.
  SceneView Moved(int index, const SceneView& scene);

 private:
  struct Pose {
    std::array<mjtNum, 3> position;
    std::array<mjtNum, 9> rotation;
  };
  static Pose DrawOffset(Rng& rng, double rotation_deg, double position_m);

  CameraJitterConfig config_;
  RandomStream stream_;
  std::vector<std::string> cameras_;
  int most_cameras_ = 0;                     // of any model
  std::vector<Pose> offsets_;                // [environment, camera]
  std::vector<mjtNum> position_, rotation_;  // [environment, most_cameras, 3 or 9]
};

}  // namespace gripstream
