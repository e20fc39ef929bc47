// What the tests of envs share.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/rng.h"
#include "envs/env_batch.h"

namespace gripstream::testing {

inline const std::string kAssets = std::string(GRIPSTREAM_SOURCE_DIR) + "/envs/assets/";

// Few objects, of one and of two geoms, so that models build quickly.
inline TaskConfig SmallTask() {
  TaskConfig task;
  task.objects = {"cube_50", "L_block", "sphere_60"};
  task.held_out_objects = {"mug"};
  return task;
}

inline std::unique_ptr<EnvBatch> MakeBatch(const TaskConfig& task, int n, uint64_t seed = 5, uint32_t first_env = 0,
                                           int threads = 2) {
  PhysicsConfig physics;
  physics.threads = threads;
  return EnvBatch::Make(task, physics, seed, first_env, n);
}

// The record of a batch, by name.
class Record {
 public:
  explicit Record(const EnvBatch& envs) : specs_(envs.RecordSpecs()), envs_(envs) {
    for (const TensorSpec& spec : specs_) tensors_.emplace_back(spec.Bytes() * static_cast<size_t>(envs.Envs()));
    Read();
  }
  void Read() {
    std::vector<std::byte*> pointers;
    for (auto& tensor : tensors_) pointers.push_back(tensor.data());
    envs_.Write(pointers);
  }
  // The row of one environment.
  template <class T>
  std::vector<T> Get(const std::string& name, int env) const {
    for (size_t i = 0; i < specs_.size(); ++i) {
      if (specs_[i].name != name) continue;
      EXPECT_EQ(SizeOf(specs_[i].dtype), sizeof(T)) << name;
      std::vector<T> row(specs_[i].Elements());
      std::memcpy(row.data(), tensors_[i].data() + specs_[i].Bytes() * static_cast<size_t>(env), specs_[i].Bytes());
      return row;
    }
    ADD_FAILURE() << "no tensor " << name;
    return {};
  }
  template <class T>
  T One(const std::string& name, int env) const {
    const std::vector<T> row = Get<T>(name, env);
    return row.empty() ? T{} : row.front();
  }
  // All bytes of one environment.
  std::vector<std::byte> Bytes(int env) const {
    std::vector<std::byte> all;
    for (size_t i = 0; i < specs_.size(); ++i) {
      const auto* row = tensors_[i].data() + specs_[i].Bytes() * static_cast<size_t>(env);
      all.insert(all.end(), row, row + specs_[i].Bytes());
    }
    return all;
  }

 private:
  const std::vector<TensorSpec> specs_;
  const EnvBatch& envs_;
  std::vector<std::vector<std::byte>> tensors_;
};

// Uniform actions that depend on the global environment id and the step only.
inline std::vector<float> RandomActions(const EnvBatch& envs, uint32_t first_env, int step) {
  std::vector<float> actions;
  for (int env = 0; env < envs.Envs(); ++env) {
    Rng rng = RandomStream(77, "test actions").At(first_env + static_cast<uint32_t>(env), static_cast<uint64_t>(step));
    for (size_t i = 0; i < envs.ActionSpec().Elements(); ++i) actions.push_back(rng.Uniform(-1, 1));
  }
  return actions;
}

inline void StepRandomly(EnvBatch& envs, uint32_t first_env, int step) {
  envs.Step(RandomActions(envs, first_env, step).data());
}

inline std::vector<mjtNum> StateOf(EnvBatch& envs, int env) {
  std::vector<mjtNum> state(static_cast<size_t>(envs.Physics().StateSize()));
  envs.Physics().ReadState(env, state.data());
  return state;
}

// A file in the test's own temporary folder.
inline std::string TemporaryFile(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

}  // namespace gripstream::testing
