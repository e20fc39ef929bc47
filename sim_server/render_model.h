// One picture of any MuJoCo model, for people to look at: `gripstream render`.
//
// Throws InputError for a model, camera or modality that is not there, RunError when the picture cannot be written.
#pragma once

#include <string>
#include <vector>

namespace gripstream {

struct RenderModelOptions {
  std::string model;                                // MJCF file
  std::string camera;                               // empty: the model's first one
  std::vector<std::string> modalities = {"depth"};  // depth, rgb, seg, normals; side by side in the picture
  std::string output = "out.png";
  std::string backend = "cpu";  // cpu or mujoco
  int width_px = 640, height_px = 480;
  double far_m = 6.5;
};

// The model at its first key frame, or at its default pose where it has none.
void RenderModel(const RenderModelOptions& options);

}  // namespace gripstream
