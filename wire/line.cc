#include "wire/line.h"

#include <cstdlib>
#include <cstring>

#include "wire/nccl_line.h"

namespace gripstream {
namespace {
constexpr size_t kSlotAlignment_bytes = 64;
}

std::unique_ptr<SimulatorLine> MakeSimulatorLine(const WireConfig& config, const LineShape& shape) {
  if (config.transport == "inproc") return MakeInprocLine(config, shape);
  if (config.transport == "shm") return MakeShmLine(config, shape);
  if (config.transport == "nccl") return MakeNcclLine(config, shape, LoadNccl());
  GS_CHECK(config.transport == "zmq", "transport " + config.transport);
  return MakeZmqLine(config, shape);
}

std::unique_ptr<LearnerHub> MakeLearnerHub(const WireConfig& config) {
  if (config.transport == "inproc") return MakeInprocHub(config);
  if (config.transport == "shm") return MakeShmHub(config);
  if (config.transport == "nccl") return MakeNcclHub(config, LoadNccl());
  GS_CHECK(config.transport == "zmq", "transport " + config.transport);
  return MakeZmqHub(config);
}

void RecordRing::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

RecordRing::RecordRing(const LineShape& shape)
    : slots_(shape.slots),
      record_bytes_(shape.record_bytes),
      stride_bytes_((shape.record_bytes + kSlotAlignment_bytes - 1) / kSlotAlignment_bytes * kSlotAlignment_bytes) {
  const size_t total_bytes = stride_bytes_ * slots_;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kSlotAlignment_bytes, total_bytes)));
  if (!memory_) throw RunError("no memory for " + std::to_string(total_bytes) + " bytes of record slots");
  std::memset(memory_.get(), 0, total_bytes);
}

std::span<std::byte> RecordRing::Slot(uint32_t slot) {
  GS_CHECK(slot < slots_, "slot " + std::to_string(slot));
  return {memory_.get() + slot * stride_bytes_, record_bytes_};
}

Bulk CopyBulk(std::span<const std::byte> bytes) {
  // A vector's storage is aligned for every fundamental type.
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  return {*copy, copy};
}

}  // namespace gripstream
