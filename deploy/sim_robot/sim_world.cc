#include "deploy/sim_robot/sim_world.h"

#include <algorithm>

namespace gripstream {
namespace {

// The training's task with joint targets for actions and control ticks for steps.
TaskConfig ByJointTargets(TaskConfig task) {
  task.action.map = "joint_targets";
  task.action.joint_low.clear();
  task.action.joint_high.clear();
  task.decimation = task.control_decimation;
  return task;
}

}  // namespace

SimWorld::SimWorld(const TaskConfig& task, const CamerasConfig& render, uint64_t seed)
    : task_(ByJointTargets(task)),
      render_(render),
      tick_s_(static_cast<double>(task.control_decimation) / task.physics_hz),
      envs_(EnvBatch::Make(task_, {.threads = 1}, seed, 0, 1)) {
  const std::vector<const mjModel*> models = envs_->DistinctModels();
  images_ = std::make_unique<EnvImages>(render_, task_, seed, models, 1, 1, 1);
  std::vector<TensorSpec> specs = envs_->RecordSpecs();
  specs.insert(specs.end(), images_->Specs().begin(), images_->Specs().end());
  layout_ = std::make_unique<Layout>(specs, 1);
  record_.resize(layout_->Bytes());
  action_.resize(envs_->ActionSpec().Elements());
}

void SimWorld::Reset(uint64_t episode_seed) {
  envs_->Reset({.mode = ResetRequest::Mode::kEval, .eval_seed = episode_seed, .total_envs = 1});
  Read();
}

void SimWorld::Read() {
  std::vector<std::byte*> tensors;
  for (size_t i = 0; i < envs_->RecordSpecs().size(); ++i)
    tensors.push_back(record_.data() + layout_->Offset(static_cast<int>(i)));
  envs_->Write(tensors);
}

bool SimWorld::Step(std::span<const double> targets) {
  const std::vector<JointLimit>& limits = envs_->Robot().tree.limits;
  for (size_t j = 0; j < action_.size(); ++j) {
    const JointLimit& limit = limits[j];
    action_[j] = static_cast<float>(2 * (targets[j] - limit.lower) / (limit.upper - limit.lower) - 1);
  }
  envs_->Step(action_.data());
  Read();
  return layout_->View<uint8_t>(Record(), "done")[0] != 0;
}

bool SimWorld::Succeeded() const {
  return layout_->View<uint8_t>(Record(), "success")[0] != 0;
}

std::vector<SimWorld::Picture> SimWorld::TakePictures() {
  images_->Render(*envs_, 0, *layout_, record_);
  std::vector<Picture> pictures;
  AddPictures(render_.depth, "obs.depth", PixelFormat::kDepth16, pictures);
  AddPictures(render_.rgb, "obs.rgb", PixelFormat::kRgb8, pictures);
  return pictures;
}

void SimWorld::AddPictures(const ModalityConfig& kind, const char* tensor, PixelFormat format,
                           std::vector<Picture>& pictures) {
  const int width = kind.width > 0 ? kind.width : render_.width,
            height = kind.height > 0 ? kind.height : render_.height;
  const size_t bytes = static_cast<size_t>(width) * static_cast<size_t>(height) * (tensor[4] == 'd' ? 2 : 3);
  for (size_t i = 0; i < kind.cameras.size(); ++i) {
    const std::string& name = kind.cameras[i] == kTaskCamera ? task_.camera : kind.cameras[i];
    const std::span<const std::byte> all = Record().subspan(layout_->Offset(layout_->Index(tensor)));
    const std::span<const std::byte> own = all.subspan(i * bytes, bytes);
    pictures.push_back({name, format, width, height, {own.begin(), own.end()}});
  }
}

}  // namespace gripstream
