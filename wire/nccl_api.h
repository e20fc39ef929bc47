// What the nccl transport needs of NCCL and CUDA: one virtual function per call, so that its logic runs against a test
// double where there is no GPU (tests/wire/nccl_double.h).
//
// Calls return at once; communicators are non-blocking, and their state is asked for. Handles are opaque. One thread
// uses a communicator, its stream and its events at a time. A call that fails throws RunError with NCCL's or CUDA's own
// words; what fails in the background shows in State and Query.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace gripstream {

// Names a communicator to be made; one side asks for it and tells the other.
using NcclId = std::array<char, 128>;

enum class NcclState { kDone, kInProgress, kFailed };

class NcclApi {
 public:
  virtual ~NcclApi() = default;

  virtual NcclId NewId() = 0;
  // Starts to make a communicator of `ranks` processes.
  virtual void* StartComm(const NcclId& id, int ranks, int rank) = 0;
  // Of the last call on the communicator; `problem` says what failed.
  virtual NcclState State(void* comm, std::string& problem) = 0;
  // Ends whatever is still going on, and frees. Never waits for the peer.
  virtual void Abort(void* comm) = 0;

  // Transfers between these two start together, in the order of their calls.
  virtual void GroupStart() = 0;
  virtual void GroupEnd() = 0;
  virtual void Send(std::span<const std::byte> from, int peer, void* comm, void* stream) = 0;
  virtual void Receive(std::span<std::byte> to, int peer, void* comm, void* stream) = 0;

  // A stream of its own: what renders or computes on others does not wait for transfers.
  virtual void* NewStream() = 0;
  virtual void FreeStream(void* stream) = 0;
  // Marks a point in the stream; Query tells whether everything before it is over.
  virtual void* NewEvent(void* stream) = 0;
  virtual NcclState Query(void* event, std::string& problem) = 0;
  virtual void FreeEvent(void* event) = 0;

  // Zeroed memory, 256-byte aligned, that both the device and the host's code reach.
  virtual std::byte* Allocate(size_t bytes) = 0;
  virtual void Free(std::byte* memory) = 0;
};

// NCCL itself, loaded at run time. InputError for wire.transport, with the reason, when this build or machine has none.
std::shared_ptr<NcclApi> LoadNccl();

}  // namespace gripstream
