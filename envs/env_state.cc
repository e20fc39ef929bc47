// Saving and loading one environment of a batch.
#include <cstring>

#include "core/error.h"
#include "envs/env_batch.h"

namespace gripstream {
namespace {

constexpr uint32_t kStateVersion = 2;

// What a block begins with. The fields of VisitState follow, then the physics state.
struct StateHeader {
  char magic[4];
  uint32_t version;
  uint64_t layout;  // of the record and the block
  uint64_t seed;
  uint32_t env_id;
  uint32_t reserved;
};
static_assert(sizeof(StateHeader) == 32);

}  // namespace

// Calls visit(pointer, bytes) for everything that an environment remembers outside the physics state.
template <class Self, class Visit>
void EnvBatch::VisitState(Self& self, int env, Visit&& visit) {
  const auto row = [&](auto& table) { visit(table[env].data(), table.RowBytes()); };
  row(self.proprio_);
  row(self.state_);
  row(self.final_state_);
  row(self.object_position_);
  row(self.reward_);
  row(self.terms_);
  row(self.done_);
  row(self.success_);
  row(self.episode_step_);
  row(self.episode_);
  row(self.object_id_);
  row(self.object_);
  row(self.action_);
  row(self.last_action_);
  row(self.memory_);
  row(self.task_memory_);
  row(self.metrics_);
  row(self.hand_distance_);
  row(self.level_);
  const auto value = [&](auto& field) { visit(&field, sizeof field); };
  value(self.curriculum_level_);
  value(self.request_.mode);
  value(self.request_.first_episode);
  value(self.request_.eval_seed);
  value(self.request_.total_envs);
  value(self.request_.held_out);
}

size_t EnvBatch::StateBytes() const {
  size_t bytes = sizeof(StateHeader) + static_cast<size_t>(physics_->StateSize()) * sizeof(mjtNum);
  VisitState(*this, 0, [&](const void*, size_t size) { bytes += size; });
  return bytes;
}

void EnvBatch::SaveState(int env, std::byte* out) const {
  const StateHeader header{
      {'G', 'S', 'E', 'V'}, kStateVersion, MixBits(HashSpecs(specs_)) ^ StateBytes(), seed_, env_id_.Of(env), 0};
  const auto append = [&](const void* data, size_t size) {
    if (size > 0) std::memcpy(out, data, size);  // a tensor without elements has no memory
    out += size;
  };
  append(&header, sizeof header);
  VisitState(*this, env, append);
  std::vector<mjtNum> state(static_cast<size_t>(physics_->StateSize()));
  physics_->ReadState(env, state.data());
  append(state.data(), state.size() * sizeof(mjtNum));
}

void EnvBatch::LoadState(int env, const std::byte* in) {
  const auto take = [&](void* data, size_t size) {
    if (size > 0) std::memcpy(data, in, size);
    in += size;
  };
  StateHeader header;
  take(&header, sizeof header);
  if (std::memcmp(header.magic, "GSEV", 4) != 0) throw InputError("checkpoint", "holds no environment state");
  if (header.version != kStateVersion)
    throw InputError("checkpoint", "environment state version", std::to_string(header.version),
                     std::to_string(kStateVersion));
  if (header.layout != (MixBits(HashSpecs(specs_)) ^ StateBytes()) || header.seed != seed_)
    throw InputError("checkpoint", "the environment state is of another task, model or seed");
  if (header.env_id != env_id_.Of(env))
    throw InputError("checkpoint", "environment", std::to_string(header.env_id), std::to_string(env_id_.Of(env)));
  VisitState(*this, env, take);
  if (object_.Of(env) < 0 || object_.Of(env) >= models_.Objects())
    throw InputError("checkpoint", "the environment state names an object that is not there");
  DrawEpisode(env);
  std::vector<mjtNum> state(static_cast<size_t>(physics_->StateSize()));
  take(state.data(), state.size() * sizeof(mjtNum));
  physics_->WriteState(env, state.data());
}

void EnvBatch::FinishLoad() {
  std::vector<int> all(static_cast<size_t>(n_));
  for (int env = 0; env < n_; ++env) all[static_cast<size_t>(env)] = env;
  UpdateModels(all);
  physics_->Forward(all, [](int, const SimView&) {});
}

}  // namespace gripstream
