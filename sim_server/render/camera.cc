#include "sim_server/render/camera.h"

#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "sim_server/render/kernels.h"
#include "sim_server/render/scene_view.h"

namespace gripstream {

std::string ModelName(const mjModel& model) {
  return "model '" + std::string(model.names) + "'";
}

int FindCamera(const mjModel& model, const std::string& camera, const std::string& key) {
  const int id = mj_name2id(&model, mjOBJ_CAMERA, camera.c_str());
  if (id >= 0) return id;
  std::vector<std::string> names;
  std::string expected = "one of its cameras:";
  for (int i = 0; i < model.ncam; ++i) {
    const char* name = mj_id2name(&model, mjOBJ_CAMERA, i);
    if (!name) continue;
    names.emplace_back(name);
    expected += (names.size() > 1 ? ", " : " ") + names.back();
  }
  if (names.empty()) expected = "a model with a named camera";
  const std::string nearest = NearestName(camera, names);
  if (!nearest.empty()) expected += " (did you mean '" + nearest + "'?)";
  throw InputError(ModelName(model), key, camera, expected);
}

Projection ProjectionOf(const mjModel& model, int camera_id, int width_px, int height_px) {
  if (model.cam_projection[camera_id] != mjPROJ_PERSPECTIVE) {
    const char* name = mj_id2name(&model, mjOBJ_CAMERA, camera_id);
    throw InputError(ModelName(model), "camera", name ? name : "", "a perspective camera, not an orthographic one");
  }
  mjvCamera camera;
  mjv_defaultCamera(&camera);
  camera.type = mjCAMERA_FIXED;
  camera.fixedcamid = camera_id;
  float vertical[2];    // bottom and top of the image on the near plane, both positive outwards, m
  float horizontal[2];  // left and right; zero when the field of view is given by fovy alone
  float clip[2];
  mjv_cameraFrustum(vertical, horizontal, clip, &model, &camera);
  const double near = clip[0];
  Projection projection;
  projection.fy_px = height_px * near / (double{vertical[0]} + vertical[1]);
  projection.cy_px = vertical[1] * projection.fy_px / near;
  if (horizontal[0] + horizontal[1] > 0) {
    projection.fx_px = width_px * near / (double{horizontal[0]} + horizontal[1]);
    projection.cx_px = horizontal[0] * projection.fx_px / near;
  } else {
    projection.fx_px = projection.fy_px;
    projection.cx_px = 0.5 * width_px;
  }
  return projection;
}

void PlaceCamera(const SceneView& scene, int camera_id, SceneJob* job) {
  const mjtNum* rotation = scene.cam_xmat + 9 * camera_id;
  for (int i = 0; i < 3; ++i) {
    job->camera_xpos[i] = scene.cam_xpos[3 * camera_id + i];
    // MuJoCo's camera looks along -z with y up; the optical frame looks along +z with y down.
    job->optical_from_world[i] = rotation[3 * i];
    job->optical_from_world[3 + i] = -rotation[3 * i + 1];
    job->optical_from_world[6 + i] = -rotation[3 * i + 2];
  }
}

}  // namespace gripstream
