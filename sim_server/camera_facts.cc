#include "sim_server/camera_facts.h"

#include <memory>

#include "envs/model.h"
#include "sim_server/render/camera.h"

namespace gripstream {

CameraFacts DescribeCamera(const TaskConfig& task, const std::string& name, int width_px, int height_px) {
  const ModelSet models(task);
  const mjModel& model = *models.Model(0);
  const int id = FindCamera(model, name, "task.camera");
  const std::unique_ptr<mjData, void (*)(mjData*)> data(mj_makeData(&model), mj_deleteData);
  mju_copy(data->qpos, models.Binding().home_qpos.data(), static_cast<int>(model.nq));
  mj_kinematics(&model, data.get());
  mj_camlight(&model, data.get());
  const Projection lens = ProjectionOf(model, id, width_px, height_px);
  CameraFacts facts{.name = name,
                    .moves = model.body_weldid[model.cam_bodyid[id]] != 0,
                    .fx_px = lens.fx_px,
                    .fy_px = lens.fy_px,
                    .cx_px = lens.cx_px,
                    .cy_px = lens.cy_px};
  const mjtNum *position = data->cam_xpos + 3 * id, *axes = data->cam_xmat + 9 * id;
  facts.position_m.assign(position, position + 3);
  // MuJoCo's camera looks along -z with y up.
  for (int row = 0; row < 3; ++row) {
    facts.optical_to_base.insert(facts.optical_to_base.end(), {axes[3 * row], -axes[3 * row + 1], -axes[3 * row + 2]});
  }
  return facts;
}

}  // namespace gripstream
