// A camera's projection: which pixel sees which direction.
//
// Pixel (column i, row j) has its centre at (i + 0.5, j + 0.5), row 0 at the top. In the camera's optical frame (x
// right, y down, z forward) its ray is ((i + 0.5 - cx) / fx, (j + 0.5 - cy) / fy, 1), so that the ray's parameter is
// the depth along the optical axis. Plain values; FindCamera and ProjectionOf throw InputError.
#pragma once

#include <mujoco/mujoco.h>

#include <string>

namespace gripstream {

struct Projection {
  double fx_px, fy_px;  // focal lengths
  double cx_px, cy_px;  // principal point
};

// The camera's id in the model; on a wrong name the error names `key` and lists the cameras there are.
int FindCamera(const mjModel& model, const std::string& camera, const std::string& key = "camera");

// From fovy (square pixels) or, when the model gives a sensor size, from the full intrinsics.
Projection ProjectionOf(const mjModel& model, int camera_id, int width_px, int height_px);

struct SceneJob;   // kernels.h
struct SceneView;  // scene_view.h

// Fills in the camera's place and its optical axes.
void PlaceCamera(const SceneView& scene, int camera_id, SceneJob* job);

// The model's name for messages.
std::string ModelName(const mjModel& model);

}  // namespace gripstream
