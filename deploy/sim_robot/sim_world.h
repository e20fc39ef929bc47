// The world of the simulated robot: one environment of the policy's task that takes joint targets, and its cameras.
//
// The task is the training's, with another action map and a step per control tick; episodes, objects, starts and
// rewards are those of the evaluation. One thread. Throws InputError as EnvBatch and EnvImages do.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "deploy/robot_messages.h"
#include "envs/env_batch.h"
#include "sim_server/cameras_config.h"
#include "sim_server/env_images.h"
#include "wire/layout.h"

namespace gripstream {

class SimWorld {
 public:
  SimWorld(const TaskConfig& task, const CamerasConfig& render, uint64_t seed);

  // Begins the evaluation set at its first episode.
  void Reset(uint64_t episode_seed);
  // One control tick; true when it ended the episode: what is seen now belongs to the next one.
  bool Step(std::span<const double> targets);
  bool Succeeded() const;  // the episode that ended last

  // As the robot's sensors have them.
  std::span<const double> Q() const { return envs_->SensedPositions(0); }
  std::span<const double> Qd() const { return envs_->SensedVelocities(0); }

  // A picture of the present moment by each of the policy's cameras.
  struct Picture {
    std::string camera;
    PixelFormat format;
    int width_px, height_px;
    std::vector<std::byte> pixels;
  };
  std::vector<Picture> TakePictures();

  double TickSeconds() const { return tick_s_; }
  const EnvBatch& Envs() const { return *envs_; }
  const Layout& RecordLayout() const { return *layout_; }
  std::span<const std::byte> Record() const { return record_; }  // with the last pictures taken

 private:
  void Read();
  void AddPictures(const ModalityConfig& kind, const char* tensor, PixelFormat format, std::vector<Picture>& pictures);

  const TaskConfig task_;
  const CamerasConfig render_;
  const double tick_s_;
  std::unique_ptr<EnvBatch> envs_;
  std::unique_ptr<EnvImages> images_;
  std::unique_ptr<Layout> layout_;
  std::vector<std::byte> record_;
  std::vector<float> action_;
};

}  // namespace gripstream
