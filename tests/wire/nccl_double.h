// A test double of NCCL and CUDA: the calls of wire/nccl_api.h on the CPU, between threads or processes of one machine.
//
// A communicator is a Unix stream socket under an abstract name that its id holds; a stream is a queue of transfers
// that move whenever somebody asks for a state, as far as the socket lets them. As in NCCL, nothing waits, launches go
// on in the background after GroupEnd, and a peer that is gone is noticed only by a transfer.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "wire/nccl_api.h"
#include "wire/unix_socket.h"

namespace gripstream {

class NcclDouble : public NcclApi {
 public:
  // What goes wrong, when something is to.
  struct Faults {
    bool never_makes_communicators = false;
    bool refuses_communicators = false;
    std::atomic<int> transfers_left{1 << 30};  // after that many they stall
    std::atomic<bool> breaks{false};           // transfers fail
  };
  Faults faults;
  std::atomic<int> open_handles{0};  // communicators, streams, events and memory not given back

  NcclId NewId() override {
    static std::atomic<int> count = 0;
    NcclId id{};
    std::snprintf(id.data(), id.size(), "gripstream_nccl_double_%d_%d", getpid(), ++count);
    return id;
  }

  void* StartComm(const NcclId& id, int ranks, int rank) override {
    GS_CHECK(ranks == 2 && (rank == 0 || rank == 1), "the double knows pairs only");
    auto* comm = new Comm;
    ++open_handles;
    comm->address.sun_family = AF_UNIX;
    std::memcpy(comm->address.sun_path + 1, id.data(), std::strlen(id.data()));
    comm->address_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(id.data()));
    UniqueFd& socket_fd = rank == 0 ? comm->listener : comm->fd;
    socket_fd = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (rank == 0) {
      bind(comm->listener.Get(), reinterpret_cast<sockaddr*>(&comm->address), comm->address_bytes);
      listen(comm->listener.Get(), 1);
    }
    return comm;
  }

  NcclState State(void* handle, std::string& problem) override {
    Comm& comm = *static_cast<Comm*>(handle);
    if (!comm.made) Make(comm);
    if (comm.launching > 0) --comm.launching;
    problem = comm.problem;
    if (!comm.problem.empty()) return NcclState::kFailed;
    return comm.made && comm.launching == 0 ? NcclState::kDone : NcclState::kInProgress;
  }

  void Abort(void* handle) override {
    auto* comm = static_cast<Comm*>(handle);
    if (comm->stream) {
      const std::lock_guard lock(comm->stream->mutex);
      std::erase_if(comm->stream->transfers, [comm](const Transfer& transfer) { return transfer.comm == comm; });
    }
    delete comm;
    --open_handles;
  }

  void GroupStart() override {
    GS_CHECK(!grouping_, "groups do not nest here");
    grouping_ = true;
  }
  void GroupEnd() override {
    GS_CHECK(grouping_, "no group is open");
    grouping_ = false;
  }
  void Send(std::span<const std::byte> from, int, void* comm, void* stream) override {
    Add(stream, {static_cast<Comm*>(comm), from.data(), nullptr, from.size()});
  }
  void Receive(std::span<std::byte> to, int, void* comm, void* stream) override {
    Add(stream, {static_cast<Comm*>(comm), nullptr, to.data(), to.size()});
  }

  void* NewStream() override {
    auto* stream = new Stream;
    stream->thread = std::thread([this, stream] { Run(*stream); });
    return ++open_handles, stream;
  }
  void FreeStream(void* handle) override {
    auto* stream = static_cast<Stream*>(handle);
    stream->stop = true;
    stream->thread.join();
    delete stream;
    --open_handles;
  }
  void* NewEvent(void* stream) override {
    ++open_handles;
    const std::lock_guard lock(static_cast<Stream*>(stream)->mutex);
    return new Event{static_cast<Stream*>(stream), static_cast<Stream*>(stream)->added};
  }
  NcclState Query(void* handle, std::string& problem) override {
    const Event& event = *static_cast<Event*>(handle);
    const std::lock_guard lock(event.stream->mutex);
    if (faults.breaks) problem = "the double was told to break";
    if (!event.stream->problem.empty()) problem = event.stream->problem;
    if (!problem.empty()) return NcclState::kFailed;
    return event.stream->ended >= event.after ? NcclState::kDone : NcclState::kInProgress;
  }
  void FreeEvent(void* event) override {
    delete static_cast<Event*>(event);
    --open_handles;
  }

  std::byte* Allocate(size_t bytes) override {
    ++open_handles;
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    std::memset(memory, 0, bytes);
    return memory;
  }
  void Free(std::byte* memory) override {
    std::free(memory);
    --open_handles;
  }

 private:
  struct Stream;
  struct Comm {
    Stream* stream = nullptr;
    sockaddr_un address{};
    socklen_t address_bytes = 0;
    UniqueFd listener, fd;
    bool made = false;
    int launching = 0;
    std::string problem;
  };
  struct Transfer {
    Comm* comm;
    const std::byte* from;
    std::byte* to;
    size_t bytes;
    size_t moved = 0;
  };
  struct Stream {
    std::mutex mutex;                // guards the next four
    std::deque<Transfer> transfers;  // of communicators that live: Abort removes what is left of theirs
    size_t added = 0, ended = 0;
    std::string problem;
    std::atomic<bool> stop = false;
    std::thread thread;
  };
  struct Event {
    Stream* stream;
    size_t after;
  };

  void Add(void* stream, const Transfer& transfer) {
    GS_CHECK(grouping_, "transfers come in groups");
    GS_CHECK(transfer.comm->made, "a transfer before the communicator is made");
    Stream& to = *static_cast<Stream*>(stream);
    const std::lock_guard lock(to.mutex);
    to.transfers.push_back(transfer);
    ++to.added;
    transfer.comm->stream = &to;
    transfer.comm->launching = 2;
  }

  void Make(Comm& comm) {
    if (faults.never_makes_communicators) return;
    if (faults.refuses_communicators) comm.problem = "unhandled system error: the double was told to refuse";
    if (comm.listener) {
      comm.fd = UniqueFd(accept4(comm.listener.Get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      comm.made = static_cast<bool>(comm.fd);
    } else {
      comm.made = connect(comm.fd.Get(), reinterpret_cast<sockaddr*>(&comm.address), comm.address_bytes) == 0;
    }
  }

  void Run(Stream& stream) {
    while (!stream.stop) {
      Move(stream);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  void Move(Stream& stream) {
    const std::lock_guard lock(stream.mutex);
    while (!stream.transfers.empty() && stream.problem.empty()) {
      if (faults.transfers_left <= 0) return;
      Transfer& transfer = stream.transfers.front();
      if (!MoveSome(transfer, stream.problem)) return;
      if (transfer.moved < transfer.bytes) continue;
      stream.transfers.pop_front();
      ++stream.ended;
      --faults.transfers_left;
    }
  }

  static bool MoveSome(Transfer& transfer, std::string& problem) {
    const size_t left = transfer.bytes - transfer.moved;
    const int fd = transfer.comm->fd.Get();
    const ssize_t bytes = transfer.from ? send(fd, transfer.from + transfer.moved, left, MSG_DONTWAIT | MSG_NOSIGNAL)
                                        : recv(fd, transfer.to + transfer.moved, left, MSG_DONTWAIT);
    if (bytes < 0 && errno == EAGAIN) return false;
    if (bytes <= 0) {
      problem = "remote process exited or there was a network error";
      return false;
    }
    transfer.moved += static_cast<size_t>(bytes);
    return true;
  }

  inline static thread_local bool grouping_ = false;
};

}  // namespace gripstream
