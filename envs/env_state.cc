// Saving and loading one environment of a batch.
#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "envs/env_batch.h"

namespace gripstream {
namespace {

constexpr uint32_t kStateVersion = 1;

// What a block begins with; the rest is the fields in the order of VisitState.
struct StateHeader {
  char magic[4];
  uint32_t version;
  uint64_t layout;  // hash of the record and of the block's size
  uint64_t seed;
  uint32_t env_id;
  uint32_t reserved;
};
static_assert(sizeof(StateHeader) == 32);

}  // namespace

// Calls visit(pointer, bytes) for everything of an environment that is not in the physics state.
template <class Visit>
void EnvBatch::VisitState(int env, Visit&& visit) {
  const size_t e = static_cast<size_t>(env);
  const auto row = [&](auto& data) {
    const size_t width = data.size() / static_cast<size_t>(n_);
    visit(data.data() + e * width, width * sizeof(data[0]));
  };
  row(proprio_);
  row(state_);
  row(final_state_);
  row(object_position_);
  row(reward_);
  row(terms_);
  row(done_);
  row(success_);
  row(episode_step_);
  row(episode_);
  row(object_id_);
  row(object_);
  row(action_);
  row(last_action_);
  row(memory_);
  visit(&request_.mode, sizeof request_.mode);
  visit(&request_.first_episode, sizeof request_.first_episode);
  visit(&request_.eval_seed, sizeof request_.eval_seed);
  visit(&request_.total_envs, sizeof request_.total_envs);
  visit(&request_.held_out, sizeof request_.held_out);
}

size_t EnvBatch::StateBytes() const {
  size_t bytes = sizeof(StateHeader) + loaded_.size() * sizeof(mjtNum);
  const_cast<EnvBatch*>(this)->VisitState(0, [&](const void*, size_t size) { bytes += size; });
  return bytes;
}

void EnvBatch::SaveState(int env, std::byte* out) const {
  const StateHeader header{{'G', 'S', 'E', 'V'},
                           kStateVersion,
                           MixBits(HashSpecs(specs_)) ^ StateBytes(),
                           seed_,
                           env_id_[static_cast<size_t>(env)],
                           0};
  std::memcpy(out, &header, sizeof header);
  out += sizeof header;
  const_cast<EnvBatch*>(this)->VisitState(env, [&](const void* data, size_t size) {
    std::memcpy(out, data, size);
    out += size;
  });
  std::vector<mjtNum> state(loaded_.size());
  physics_->ReadState(env, state.data());
  std::memcpy(out, state.data(), state.size() * sizeof(mjtNum));
}

void EnvBatch::LoadState(int env, const std::byte* in) {
  StateHeader header;
  std::memcpy(&header, in, sizeof header);
  in += sizeof header;
  if (std::memcmp(header.magic, "GSEV", 4) != 0) throw InputError("checkpoint", "holds no environment state");
  if (header.version != kStateVersion)
    throw InputError("checkpoint", "environment state version", std::to_string(header.version),
                     std::to_string(kStateVersion));
  if (header.layout != (MixBits(HashSpecs(specs_)) ^ StateBytes()) || header.seed != seed_)
    throw InputError("checkpoint", "the environment state is of another task, model or seed");
  const uint32_t id = env_id_[static_cast<size_t>(env)];
  if (header.env_id != id)
    throw InputError("checkpoint", "environment", std::to_string(header.env_id), std::to_string(id));
  VisitState(env, [&](void* data, size_t size) {
    std::memcpy(data, in, size);
    in += size;
  });
  const int object = object_[static_cast<size_t>(env)];
  if (object < 0 || object >= models_.Objects())
    throw InputError("checkpoint", "the environment state names an object that is not there");
  std::memcpy(loaded_.data(), in, loaded_.size() * sizeof(mjtNum));
  physics_->WriteState(env, loaded_.data());
}

void EnvBatch::FinishLoad() {
  UpdateModels();
  std::vector<int> all(static_cast<size_t>(n_));
  for (int env = 0; env < n_; ++env) all[static_cast<size_t>(env)] = env;
  physics_->Forward(all, [](int, const SimView&) {});
}

}  // namespace gripstream
