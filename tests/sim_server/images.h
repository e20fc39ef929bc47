// Environments with their images as a simulator makes them, without a wire.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "envs/env_batch.h"
#include "sim_server/env_images.h"

namespace gripstream {

using Images = std::map<std::string, std::vector<std::byte>>;

inline TaskConfig SmallTask() {
  TaskConfig task;
  task.objects = {"cube_50", "mug"};
  task.held_out_objects = {};
  task.episode_s = 0.3;
  return task;
}

// Environments [first, first + n) of a run.
class Camerawork {
 public:
  Camerawork(const CamerasConfig& config, int first, int n, const TaskConfig& task = SmallTask(), int threads = 1,
             uint64_t seed = 1)
      : envs_(EnvBatch::Make(task, {.threads = 1}, seed, static_cast<uint32_t>(first), n)),
        images_(config, task, seed, envs_->DistinctModels(), n, n, threads),
        layout_(images_.Specs(), n),
        record_(layout_.Bytes() / sizeof(Line)) {}

  EnvBatch& Envs() { return *envs_; }
  const std::vector<TensorSpec>& Specs() const { return images_.Specs(); }
  void Step(float action) {
    const std::vector<float> actions(static_cast<size_t>(envs_->Envs()) * envs_->ActionSpec().Elements(), action);
    envs_->Step(actions.data());
  }
  // Every image tensor, [N, ...], where it was filled with something else before.
  Images Render() {
    const std::span<std::byte> record = std::as_writable_bytes(std::span(record_));
    std::memset(record.data(), 0xAB, record.size());
    images_.Render(*envs_, 0, layout_, record);
    Images images;
    for (size_t i = 0; i < layout_.Specs().size(); ++i) {
      const auto part = record.subspan(layout_.Offset(static_cast<int>(i)), layout_.TensorBytes(static_cast<int>(i)));
      images[layout_.Specs()[i].name].assign(part.begin(), part.end());
    }
    return images;
  }
  // This batch's environment `env` in the state of that one's `other`.
  void Take(int env, const Camerawork& from, int other) {
    std::vector<std::byte> state(from.envs_->StateBytes());
    from.envs_->SaveState(other, state.data());
    envs_->LoadState(env, state.data());
    envs_->FinishLoad();
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::unique_ptr<EnvBatch> envs_;
  EnvImages images_;
  Layout layout_;
  std::vector<Line> record_;
};

template <class T>
std::vector<T> As(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Environments [begin, begin + count) of images of n.
inline Images Part(const Images& images, int n, int begin, int count) {
  Images part;
  for (const auto& [name, bytes] : images) {
    const size_t each = bytes.size() / static_cast<size_t>(n);
    const auto from = bytes.begin() + static_cast<long>(each) * begin;
    part[name].assign(from, from + static_cast<long>(each) * count);
  }
  return part;
}

}  // namespace gripstream
