// The shared-memory transport: the simulator makes one segment that holds its record slots and room for commands, and
// passes it with its join over a Unix socket. After that the socket carries only frames: slot numbers and sequence
// numbers. A payload that has no slot (a saved state, a very large command) travels as a segment of its own.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "core/log.h"
#include "wire/line.h"
#include "wire/shared_memory.h"
#include "wire/unix_socket.h"

namespace gripstream {
namespace {

constexpr size_t kMaxConnections = 1024;
constexpr size_t kPacket_bytes = sizeof(FrameHeader) + kMaxBody_bytes;

// One per command slot, at the head of the segment: 1 while a command is in it. Set by the learner, cleared by the
// simulator.
using SlotFlag = std::atomic<uint32_t>;
static_assert(SlotFlag::is_always_lock_free && sizeof(SlotFlag) == 4);

// The segment with its plan, as both sides use it.
class Region {
 public:
  Region(SharedMemory memory, const RegionPlan& plan) : memory_(std::move(memory)), plan_(plan) {}
  const RegionPlan& Plan() const { return plan_; }
  SharedMemory& Memory() { return memory_; }
  std::span<std::byte> Record(uint32_t slot) {
    return memory_.Bytes().subspan(plan_.RecordOffset(slot), plan_.shape.record_bytes);
  }
  std::span<std::byte> Command(uint32_t slot) {
    return memory_.Bytes().subspan(plan_.CommandOffset(slot), plan_.shape.command_bytes);
  }
  SlotFlag& Flag(uint32_t slot) { return reinterpret_cast<SlotFlag*>(memory_.Bytes().data())[slot]; }

 private:
  SharedMemory memory_;
  RegionPlan plan_;
};

// Sends one frame, waiting for room until the deadline.
SendResult SendFrame(int fd, std::span<const std::byte> frame, int passed_fd, Deadline deadline) {
  for (;;) {
    const PacketResult result = SendPacket(fd, frame, passed_fd);
    if (result == PacketResult::kDone) return SendResult::kSent;
    if (result == PacketResult::kClosed) return SendResult::kGone;
    if (deadline.Passed()) return SendResult::kFull;
    pollfd waiting{fd, POLLOUT, 0};
    poll(&waiting, 1, std::min(deadline.RemainingMilliseconds(), 1000));
  }
}

// The frame in `bytes` with the segment that came beside it, when it announces a payload outside the slots.
Event ReadFrame(int connection, std::span<const std::byte> bytes, UniqueFd& passed) {
  Event event = MakeEvent(Event::Kind::kMessage, connection);
  event.frame = ParseFrame(bytes);
  const FrameHeader& header = event.frame.header;
  if (header.slot == kNoSlot && header.payload_bytes > 0) {
    if (!passed) throw FrameError("a payload was announced and did not come");
    event.bulk = MapBlob(std::move(passed), header.payload_bytes);
  }
  return event;
}

class ShmLine : public SimulatorLine {
 public:
  ShmLine(const WireConfig& config, const LineShape& shape)
      : address_(config.address), buffer_(kPacket_bytes), region_(MakeRegion(shape)) {}

  std::span<std::byte> Slot(uint32_t slot) override { return region_->Record(slot); }

  void Open(const std::vector<std::byte>& join_frame, Deadline deadline) override {
    socket_ = ConnectUnix(address_, deadline);
    const SendResult result = SendFrame(socket_.Get(), join_frame, region_->Memory().Fd(), deadline);
    if (result != SendResult::kSent) throw RunError("the learner at " + address_ + " does not take the join");
    region_->Memory().CloseFd();
  }

  SendResult SendRecord(const std::vector<std::byte>& frame, uint32_t, Deadline deadline) override {
    return SendFrame(socket_.Get(), frame, -1, deadline);
  }
  SendResult Send(const std::vector<std::byte>& frame, std::span<const std::byte> payload, Deadline deadline) override {
    const UniqueFd blob = payload.empty() ? UniqueFd() : MakeBlob(payload);
    return SendFrame(socket_.Get(), frame, blob.Get(), deadline);
  }
  SendResult TrySend(const std::vector<std::byte>& frame) override {
    if (HasBacklog(socket_.Get())) return SendResult::kFull;
    const PacketResult result = SendPacket(socket_.Get(), frame, -1);
    if (result == PacketResult::kDone) return SendResult::kSent;
    return result == PacketResult::kClosed ? SendResult::kGone : SendResult::kFull;
  }

  std::optional<Event> Receive(Deadline deadline) override {
    do {
      UniqueFd passed;
      size_t bytes = 0;
      switch (ReceivePacket(socket_.Get(), buffer_, bytes, passed)) {
        case PacketResult::kWouldBlock:
          break;
        case PacketResult::kClosed:
          return MakeEvent(Event::Kind::kClosed, 0);
        case PacketResult::kTooLong:
          return MakeEvent(Event::Kind::kBroken, 0, "a message too long to be ours");
        case PacketResult::kDone:
          return Read(std::span(buffer_).first(bytes), passed);
      }
    } while (WaitReadable(socket_.Get(), deadline));
    return std::nullopt;
  }

 private:
  static std::shared_ptr<Region> MakeRegion(const LineShape& shape) {
    const RegionPlan plan(shape);
    SharedMemory memory = SharedMemory::Make(plan.total_bytes, std::to_string(shape.slots) + " record slots");
    return std::make_shared<Region>(std::move(memory), plan);
  }

  Event Read(std::span<const std::byte> bytes, UniqueFd& passed) {
    try {
      Event event = ReadFrame(0, bytes, passed);
      const FrameHeader& header = event.frame.header;
      if (event.frame.Kind() == MessageKind::kCommand && header.slot != kNoSlot) event.bulk = CommandBulk(header);
      return event;
    } catch (const RunError& error) {
      return MakeEvent(Event::Kind::kBroken, 0, error.what());
    }
  }

  Bulk CommandBulk(const FrameHeader& header) {
    if (header.slot >= region_->Plan().shape.slots || header.payload_bytes > region_->Plan().shape.command_bytes) {
      throw FrameError("a command points outside its slots");
    }
    const std::span<const std::byte> bytes = region_->Command(header.slot).first(header.payload_bytes);
    const std::shared_ptr<const void> hold(bytes.data(), [region = region_, slot = header.slot](const std::byte*) {
      region->Flag(slot).store(0, std::memory_order_release);
    });
    return {bytes, hold};
  }

  std::string address_;
  std::vector<std::byte> buffer_;
  std::shared_ptr<Region> region_;
  UniqueFd socket_;
};

class ShmHub : public LearnerHub {
 public:
  explicit ShmHub(const WireConfig& config)
      : address_(config.address), listener_(ListenUnix(config.address, SOCK_SEQPACKET)), buffer_(kPacket_bytes) {}
  ~ShmHub() override { UnlinkUnix(address_); }

  std::string Address() const override { return address_; }

  std::optional<Event> Receive(Deadline deadline) override {
    while (ready_.empty()) {
      std::vector<pollfd> waiting = {{listener_.Get(), POLLIN, 0}};
      std::vector<int> ids = {0};
      for (const auto& [id, connection] : connections_) {
        waiting.push_back({connection.socket.Get(), POLLIN, 0});
        ids.push_back(id);
      }
      const int count = poll(waiting.data(), waiting.size(), std::min(deadline.RemainingMilliseconds(), 1'000'000));
      if (count <= 0 && deadline.Passed()) return std::nullopt;
      for (size_t i = 1; i < waiting.size(); ++i) {
        if (waiting[i].revents != 0) ReadFrom(ids[i]);
      }
      if (waiting[0].revents != 0) Accept();
    }
    Event event = std::move(ready_.front());
    ready_.pop_front();
    return event;
  }

  SendResult Send(int id, std::vector<std::byte> frame, std::span<const std::byte> payload,
                  Deadline deadline) override {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return SendResult::kGone;
    const Connection& connection = found->second;
    UniqueFd blob;
    if (!payload.empty() && !PlaceInSlot(connection, frame, payload)) blob = MakeBlob(payload);
    return SendFrame(connection.socket.Get(), frame, blob.Get(), deadline);
  }

  void TrySendAll(const std::vector<std::byte>& frame) override {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, connection] : connections_) {
      if (!HasBacklog(connection.socket.Get())) SendPacket(connection.socket.Get(), frame, -1);
    }
  }

  void Close(int id) override {
    const std::lock_guard lock(mutex_);
    connections_.erase(id);
  }

 private:
  struct Connection {
    UniqueFd socket;
    std::shared_ptr<Region> region;  // once joined
  };

  void Accept() {
    UniqueFd socket = AcceptUnix(listener_.Get());
    if (!socket) return;
    if (connections_.size() >= kMaxConnections) {
      LogWarning("closed a connection: ", connections_.size(), " are open");
      return;
    }
    const std::lock_guard lock(mutex_);
    connections_[++last_id_].socket = std::move(socket);
  }

  void ReadFrom(int id) {
    UniqueFd passed;
    size_t bytes = 0;
    const PacketResult result = ReceivePacket(connections_.at(id).socket.Get(), buffer_, bytes, passed);
    if (result == PacketResult::kWouldBlock) return;
    if (result == PacketResult::kClosed) {
      Close(id);
      ready_.push_back(MakeEvent(Event::Kind::kClosed, id));
    } else if (result == PacketResult::kTooLong) {
      ready_.push_back(MakeEvent(Event::Kind::kBroken, id, "a message too long to be ours"));
    } else {
      ready_.push_back(Read(id, std::span(buffer_).first(bytes), passed));
    }
  }

  Event Read(int id, std::span<const std::byte> bytes, UniqueFd& passed) {
    try {
      Connection& connection = connections_.at(id);
      Event event = ReadFrame(id, bytes, passed);
      const FrameHeader& header = event.frame.header;
      if (event.frame.Kind() == MessageKind::kJoin) Attach(connection, Decode<Join>(event.frame), passed);
      if (event.frame.Kind() == MessageKind::kRecord) event.bulk = RecordBulk(connection, header);
      return event;
    } catch (const RunError& error) {
      return MakeEvent(Event::Kind::kBroken, id, error.what());
    }
  }

  static void Attach(Connection& connection, const Join& join, UniqueFd& passed) {
    // Bounds that keep the plan's sums far from overflow; what the run really wants is checked by the learner.
    constexpr uint64_t kLargest_bytes = uint64_t{1} << 40;
    if (connection.region || !passed) throw FrameError("a join without its shared memory, or a second one");
    if (join.slots == 0 || join.slots > 64 || join.record_bytes > kLargest_bytes ||
        join.command_bytes > kLargest_bytes) {
      throw FrameError("a join with impossible sizes");
    }
    const RegionPlan plan({join.slots, join.record_bytes, join.command_bytes});
    connection.region = std::make_shared<Region>(SharedMemory::Attach(std::move(passed), plan.total_bytes), plan);
    connection.region->Memory().CloseFd();
  }

  static Bulk RecordBulk(const Connection& connection, const FrameHeader& header) {
    if (!connection.region) throw FrameError("a record before the join");
    const LineShape& shape = connection.region->Plan().shape;
    if (header.slot >= shape.slots || header.payload_bytes != shape.record_bytes) {
      throw FrameError("a record points outside its slots");
    }
    return {connection.region->Record(header.slot), connection.region};
  }

  // Copies the payload into a free command slot and says so in the frame; false when none is free or large enough.
  static bool PlaceInSlot(const Connection& connection, std::vector<std::byte>& frame,
                          std::span<const std::byte> payload) {
    if (!connection.region || payload.size() > connection.region->Plan().shape.command_bytes) return false;
    for (uint32_t slot = 0; slot < connection.region->Plan().shape.slots; ++slot) {
      SlotFlag& flag = connection.region->Flag(slot);
      if (flag.load(std::memory_order_acquire) != 0) continue;
      std::memcpy(connection.region->Command(slot).data(), payload.data(), payload.size());
      flag.store(1, std::memory_order_relaxed);
      std::memcpy(frame.data() + offsetof(FrameHeader, slot), &slot, sizeof(slot));
      return true;
    }
    return false;
  }

  std::string address_;
  UniqueFd listener_;
  std::vector<std::byte> buffer_;
  std::mutex mutex_;  // connections_ changes on the owner's thread under it; the heartbeat thread reads under it
  std::map<int, Connection> connections_;
  int last_id_ = 0;
  std::deque<Event> ready_;
};

}  // namespace

std::unique_ptr<SimulatorLine> MakeShmLine(const WireConfig& config, const LineShape& shape) {
  return std::make_unique<ShmLine>(config, shape);
}

std::unique_ptr<LearnerHub> MakeShmHub(const WireConfig& config) {
  return std::make_unique<ShmHub>(config);
}

}  // namespace gripstream
