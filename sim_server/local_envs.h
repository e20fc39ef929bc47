// A simulator's environments and cameras in the caller's own hands, without a wire: for other programs' training loops.
//
//   Reset -> record -> Step(actions) -> record -> ...
//
// Records are those that a simulator role of one group sends, bit for bit; the header's times stay 0. A record belongs
// to whoever holds it: its memory is used again once nobody does, so a caller may keep records as long as it likes
// without copying them.
//
// One caller at a time. Throws what the simulator role throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim_server/role.h"
#include "wire/layout.h"

namespace gripstream {

class EnvBatch;
class EnvImages;

// A record's bytes; they start at a multiple of 64.
class OwnRecord {
 public:
  explicit OwnRecord(size_t bytes);
  std::span<std::byte> Bytes() { return {begin_, bytes_}; }

 private:
  std::vector<std::byte> storage_;
  size_t bytes_;
  std::byte* begin_;
};

class LocalEnvs {
 public:
  // options.groups is taken as 1.
  explicit LocalEnvs(const SimulatorOptions& options);
  ~LocalEnvs();

  const Layout& RecordLayout() const { return *layout_; }
  const EnvBatch& Envs() const { return *envs_; }

  // A record that nobody holds, to be filled by Reset or Step.
  std::shared_ptr<OwnRecord> TakeRecord();
  // New episodes everywhere. With a seed: those of a run with that run.seed from its start; without: the next that no
  // environment has begun yet.
  void Reset(std::optional<uint64_t> seed, OwnRecord& record);
  // One policy step; actions [N, A].
  void Step(std::span<const float> actions, OwnRecord& record);

 private:
  void Build();
  void Fill(OwnRecord& record);

  SimulatorOptions options_;
  std::unique_ptr<EnvBatch> envs_;
  std::unique_ptr<EnvImages> images_;
  std::unique_ptr<Layout> layout_;
  std::vector<std::shared_ptr<OwnRecord>> records_;
  uint32_t next_episode_ = 0;  // that no environment has begun
  uint32_t step_ = 0;
};

}  // namespace gripstream
