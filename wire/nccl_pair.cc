#include "wire/nccl_pair.h"

#include <utility>

#include "core/error.h"

namespace gripstream {
namespace {
constexpr int kRanks = 2;
}

NcclPair::NcclPair(std::shared_ptr<NcclApi> api, const NcclId& id, Rank rank)
    : api_(std::move(api)), rank_(rank), stream_(api_->NewStream()) {
  try {
    comm_ = api_->StartComm(id, kRanks, rank);
  } catch (...) {
    api_->FreeStream(stream_);
    throw;
  }
}

NcclPair::~NcclPair() {
  api_->Abort(comm_);
  for (const Group& group : going_) {
    if (group.event) api_->FreeEvent(group.event);
  }
  api_->FreeStream(stream_);
}

void NcclPair::QueueSend(std::span<const std::byte> from) {
  waiting_.push_back({from.data(), nullptr, from.size()});
  ++queued_;
}

void NcclPair::QueueReceive(std::span<std::byte> to) {
  waiting_.push_back({nullptr, to.data(), to.size()});
  ++queued_;
}

bool NcclPair::CommIsIdle() {
  std::string problem;
  const NcclState state = api_->State(comm_, problem);
  if (state == NcclState::kFailed) {
    throw RunError(std::string(made_ ? "NCCL: " : "NCCL could not make the communicator: ") + problem);
  }
  return state == NcclState::kDone;
}

// A launch may still be going on in the background after the group has been closed: only when the communicator is idle
// again does the stream hold it, and can the point behind it be marked.
void NcclPair::Progress() {
  if (!CommIsIdle()) return;
  made_ = true;
  if (!going_.empty() && !going_.back().event) going_.back().event = api_->NewEvent(stream_);
  while (!going_.empty()) {
    std::string problem;
    const NcclState state = api_->Query(going_.front().event, problem);
    if (state == NcclState::kFailed) throw RunError("CUDA, during a transfer: " + problem);
    if (state == NcclState::kInProgress) break;
    api_->FreeEvent(going_.front().event);
    ended_ += going_.front().transfers;
    going_.pop_front();
  }
  if (!waiting_.empty()) Start();
}

void NcclPair::Start() {
  const int peer = rank_ == kLearner ? kSimulator : kLearner;
  api_->GroupStart();
  for (const Transfer& transfer : waiting_) {
    if (transfer.from) api_->Send({transfer.from, transfer.bytes}, peer, comm_, stream_);
    if (transfer.to) api_->Receive({transfer.to, transfer.bytes}, peer, comm_, stream_);
  }
  api_->GroupEnd();
  going_.push_back({waiting_.size(), nullptr});
  waiting_.clear();
  if (CommIsIdle()) going_.back().event = api_->NewEvent(stream_);
}

}  // namespace gripstream
