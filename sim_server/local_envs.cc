#include "sim_server/local_envs.h"

#include <algorithm>
#include <atomic>

#include "core/cpus.h"
#include "core/error.h"
#include "envs/env_batch.h"
#include "sim_server/env_images.h"
#include "sim_server/env_view.h"

namespace gripstream {
namespace {

constexpr size_t kAlignment_bytes = 64;

int ThreadsOr(int wanted, int otherwise) {
  return wanted > 0 ? wanted : otherwise;
}

}  // namespace

OwnRecord::OwnRecord(size_t bytes) : storage_(bytes + kAlignment_bytes), bytes_(bytes) {
  void* begin = storage_.data();
  size_t space = storage_.size();
  begin_ = static_cast<std::byte*>(std::align(kAlignment_bytes, bytes, begin, space));
}

LocalEnvs::LocalEnvs(const SimulatorOptions& options) : options_(options) {
  options_.groups = 1;
  Build();
}

LocalEnvs::~LocalEnvs() = default;

void LocalEnvs::Build() {
  const int n = options_.sim.envs, physics_threads = ThreadsOr(options_.physics.threads, AvailableCpus());
  images_.reset();
  envs_ = EnvBatch::Make(options_.task, options_.physics, options_.seed, static_cast<uint32_t>(options_.index * n), n);
  images_ = std::make_unique<EnvImages>(options_.render, options_.task, options_.seed, envs_->DistinctModels(), n, n,
                                        ThreadsOr(options_.sim.render_threads, physics_threads));
  std::vector<TensorSpec> specs = envs_->RecordSpecs();
  specs.insert(specs.end(), images_->Specs().begin(), images_->Specs().end());
  layout_ = std::make_unique<Layout>(specs, n);
}

std::shared_ptr<OwnRecord> LocalEnvs::TakeRecord() {
  const auto free = std::ranges::find_if(records_, [](const auto& record) { return record.use_count() == 1; });
  if (free == records_.end()) return records_.emplace_back(std::make_shared<OwnRecord>(layout_->Bytes()));
  // Whatever its last holder did with it, on whichever thread, is over before it is written again.
  std::atomic_thread_fence(std::memory_order_acquire);
  return *free;
}

void LocalEnvs::Reset(std::optional<uint64_t> seed, OwnRecord& record) {
  if (seed && *seed != options_.seed) {
    options_.seed = *seed;
    Build();  // models are drawn from the seed, too
  }
  if (seed) next_episode_ = 0;
  envs_->Reset({.first_episode = next_episode_});
  step_ = 0;
  Fill(record);
}

void LocalEnvs::Step(std::span<const float> actions, OwnRecord& record) {
  GS_CHECK(actions.size() == envs_->ActionSpec().Elements() * static_cast<size_t>(envs_->Envs()),
           std::to_string(actions.size()) + " numbers are not an action for every environment");
  envs_->Step(actions.data());
  ++step_;
  Fill(record);
}

void LocalEnvs::Fill(OwnRecord& record) {
  const std::span<std::byte> bytes = record.Bytes();
  WriteTensors(*envs_, *layout_, bytes);
  images_->Render(*envs_, 0, *layout_, bytes);
  RecordHeader& header = Layout::Header(bytes);
  header = {};
  header.magic = kRecordMagic;
  header.version = kRecordVersion;
  header.step = step_;
  header.env_begin = static_cast<uint32_t>(options_.index * options_.sim.envs);
  header.env_count = static_cast<uint32_t>(envs_->Envs());
  header.payload_bytes = bytes.size();
  for (const uint32_t episode : layout_->View<uint32_t>(bytes, "episode")) {
    next_episode_ = std::max(next_episode_, episode + 1);
  }
}

}  // namespace gripstream
