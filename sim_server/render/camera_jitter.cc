#include "sim_server/render/camera_jitter.h"

#include <algorithm>
#include <numbers>

#include "sim_server/render/camera.h"

namespace gripstream {
namespace {

// A camera's rows in pose arrays.
struct PoseRows {
  mjtNum* position;
  mjtNum* rotation;
};

// outer := outer * inner, the inner pose given in the outer one's frame.
void Append(PoseRows outer, const mjtNum position[3], const mjtNum rotation[9]) {
  mjtNum shift[3], turned[9];
  mju_mulMatVec3(shift, outer.rotation, position);
  mju_mulMatMat(turned, outer.rotation, rotation, 3, 3, 3);
  mju_addTo3(outer.position, shift);
  std::copy_n(turned, 9, outer.rotation);
}

}  // namespace

CameraJitter::CameraJitter(const CameraJitterConfig& config, uint64_t seed, const std::vector<std::string>& cameras,
                           std::span<const mjModel* const> models, int environments, int width_px, int height_px)
    : config_(config),
      stream_(seed, "camera_jitter"),
      lens_stream_(seed, "camera_lens"),
      cameras_(cameras),
      width_px_(width_px) {
  for (const mjModel* model : models) {
    std::vector<Projection>& plain = plain_[model];
    plain.resize(static_cast<size_t>(model->ncam));
    for (const std::string& camera : cameras) FindCamera(*model, camera);
    for (int i = 0; i < model->ncam; ++i) {
      if (model->cam_projection[i] != mjPROJ_PERSPECTIVE) continue;  // no renderer shows it
      plain[static_cast<size_t>(i)] = ProjectionOf(*model, i, width_px, height_px);
    }
    most_cameras_ = std::max(most_cameras_, static_cast<int>(model->ncam));
  }
  const Pose none = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  const size_t count = static_cast<size_t>(environments);
  offsets_.assign(count * cameras.size(), none);
  position_.resize(count * most_cameras_ * 3);
  rotation_.resize(count * most_cameras_ * 9);
  lenses_.resize(count);
  intrinsics_.resize(count * most_cameras_);
}

CameraJitter::Pose CameraJitter::DrawOffset(Rng& rng, double rotation_deg, double position_m) {
  Pose offset;
  mjtNum euler[3], quaternion[4];
  for (int i = 0; i < 3; ++i) {
    offset.position[static_cast<size_t>(i)] = position_m * double{rng.Uniform(-1, 1)};
    euler[i] = rotation_deg * std::numbers::pi / 180 * double{rng.Uniform(-1, 1)};
  }
  mju_euler2Quat(quaternion, euler, "xyz");
  mju_quat2Mat(offset.rotation.data(), quaternion);
  return offset;
}

void CameraJitter::Redraw(int index, uint32_t env_id, uint64_t episode) {
  Rng rng = stream_.At(env_id, episode);
  Pose* offsets = offsets_.data() + static_cast<size_t>(index) * cameras_.size();
  for (size_t k = 0; k < cameras_.size(); ++k) {
    offsets[k] = k == 0 ? DrawOffset(rng, config_.rotation_deg, config_.position_m)
                        : DrawOffset(rng, config_.stereo_rotation_deg, config_.stereo_position_m);
  }
  Rng lens_rng = lens_stream_.At(env_id, episode);
  Lens& lens = lenses_[static_cast<size_t>(index)];
  lens.focal = 1 + config_.focal_ratio * double{lens_rng.Uniform(-1, 1)};
  lens.shift_x_px = width_px_ * config_.centre_ratio * double{lens_rng.Uniform(-1, 1)};
  lens.shift_y_px = width_px_ * config_.centre_ratio * double{lens_rng.Uniform(-1, 1)};
}

const Projection* CameraJitter::Intrinsics(int index, const mjModel* model) {
  Projection* out = intrinsics_.data() + static_cast<int64_t>(index) * most_cameras_;
  const Lens& lens = lenses_[static_cast<size_t>(index)];
  const std::vector<Projection>& plain = plain_.at(model);
  for (size_t i = 0; i < plain.size(); ++i) {
    out[i] = {lens.focal * plain[i].fx_px, lens.focal * plain[i].fy_px, plain[i].cx_px + lens.shift_x_px,
              plain[i].cy_px + lens.shift_y_px};
  }
  return out;
}

SceneView CameraJitter::Moved(int index, const SceneView& scene) {
  mjtNum* position = position_.data() + static_cast<int64_t>(index) * most_cameras_ * 3;
  mjtNum* rotation = rotation_.data() + static_cast<int64_t>(index) * most_cameras_ * 9;
  std::copy_n(scene.cam_xpos, 3 * scene.model->ncam, position);
  std::copy_n(scene.cam_xmat, 9 * scene.model->ncam, rotation);
  const Pose* offsets = offsets_.data() + static_cast<size_t>(index) * cameras_.size();
  const int leader = mj_name2id(scene.model, mjOBJ_CAMERA, cameras_[0].c_str());
  const PoseRows lead = {position + 3 * leader, rotation + 9 * leader};
  Append(lead, offsets[0].position.data(), offsets[0].rotation.data());
  for (size_t k = 1; k < cameras_.size(); ++k) {
    const int camera = mj_name2id(scene.model, mjOBJ_CAMERA, cameras_[k].c_str());
    // Its pose relative to the leader's before, put behind the leader's now.
    mjtNum apart[3], relative[3], turn[9];
    mju_sub3(apart, scene.cam_xpos + 3 * camera, scene.cam_xpos + 3 * leader);
    mju_mulMatTVec3(relative, scene.cam_xmat + 9 * leader, apart);
    mju_mulMatTMat(turn, scene.cam_xmat + 9 * leader, scene.cam_xmat + 9 * camera, 3, 3, 3);
    const PoseRows rows = {position + 3 * camera, rotation + 9 * camera};
    std::copy_n(lead.position, 3, rows.position);
    std::copy_n(lead.rotation, 9, rows.rotation);
    Append(rows, relative, turn);
    Append(rows, offsets[k].position.data(), offsets[k].rotation.data());
  }
  SceneView moved = scene;
  moved.cam_xpos = position;
  moved.cam_xmat = rotation;
  moved.intrinsics = Intrinsics(index, scene.model);
  return moved;
}

}  // namespace gripstream
