#include "wire/bench_wire.h"

#include <unistd.h>
#include <zmq.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/clock.h"
#include "core/error.h"
#include "core/statistics.h"
#include "wire/bench_compression.h"
#include "wire/transport.h"

namespace gripstream {
namespace {

constexpr int kRounds = 7;
constexpr int kSendTimeout_ms = 100;
constexpr double kWait_s = 30;
constexpr double kBytesPerGigabyte = 1e9;

// Repeats `once` for `seconds` after a short warm-up; gigabytes per second when each call moves `bytes`.
double Rate(double seconds, size_t bytes, const std::function<void()>& once) {
  for (int i = 0; i < 4; ++i) once();
  const double start = SteadySeconds();
  double elapsed = 0;
  size_t calls = 0;
  for (; elapsed < seconds; elapsed = SteadySeconds() - start, ++calls) once();
  return static_cast<double>(bytes) * static_cast<double>(calls) / elapsed / kBytesPerGigabyte;
}

std::string FreshAddress(const std::string& transport) {
  static int count = 0;
  const std::string name = "gripstream_bench_" + std::to_string(getpid()) + "_" + std::to_string(++count);
  if (transport == "ipc") return "ipc://@" + name;
  if (transport == "tcp") return "tcp://127.0.0.1:*";
  return "@" + name;
}

// A simulator that publishes as fast as it gets credits, until the learner stops it.
void Produce(const WireConfig& config, const Layout& layout, bool copy) {
  Join join;
  join.env_count = 1;
  join.name = "bench";
  const auto end = ConnectToLearner(config, join, layout, Deadline::After(kWait_s));
  const std::vector<uint8_t> source(layout.TensorBytes(0), 1);
  for (;;) {
    const std::span<std::byte> record = end->AcquireRecord(Deadline::After(kWait_s));
    if (record.empty()) break;
    if (copy) std::memcpy(layout.View<uint8_t>(record, 0).data(), source.data(), source.size());
    end->PublishRecord();
  }
  end->WaitCommand(Deadline::After(kWait_s));
}

// Records of about `bytes` through one of our transports, with or without a copy into and out of the slot.
double OurRate(const std::string& transport, size_t bytes, bool copy, double seconds) {
  WireConfig config;
  config.transport = transport == "shm" ? "shm" : "zmq";
  config.address = FreshAddress(transport);
  const std::vector<TensorSpec> specs = {{"bytes", DType::kUint8, {static_cast<int>(bytes)}, "", 1.0}};
  const Layout layout(specs, 1);
  const auto learner = ListenForSimulators(config, {.run_id = "", .specs = specs, .config_hash = 0, .total_envs = 1});
  config.address = learner->Address();
  std::thread producer(Produce, config, layout, copy);
  learner->WaitForSimulators(1, Deadline::After(kWait_s));
  std::vector<uint8_t> target(bytes, 1);
  const double rate = Rate(seconds, bytes, [&] {
    const Received received = learner->ReceiveRecord(0, Deadline::After(kWait_s));
    if (copy) std::memcpy(target.data(), layout.View<uint8_t>(received.record, 0).data(), bytes);
    learner->ReleaseRecord(0, received);
  });
  learner->Stop("measured", Deadline::After(kWait_s));
  producer.join();
  return rate;
}

// Two threads that each copy `bytes` from a private buffer to `targets` private buffers in turn: what each reaches.
double TwoMemcpysRate(size_t bytes, size_t targets, double seconds) {
  double rates[2] = {};
  const auto copy = [&](int i) {
    const std::vector<uint8_t> source(bytes, 1);
    std::vector<std::vector<uint8_t>> target(targets, source);
    size_t next = 0;
    rates[i] = Rate(seconds, bytes, [&] {
      uint8_t* to = target[next++ % targets].data();
      std::memcpy(to, source.data(), bytes);
      asm volatile("" : : "r"(to) : "memory");  // the copy has a reader, as far as the compiler knows
    });
  };
  std::thread other(copy, 1);
  copy(0);
  other.join();
  return (rates[0] + rates[1]) / 2;
}

// The same two copies as ours, through as many shared slots, with nothing between the threads but a flag per slot: what
// data that changes cores can reach on this machine.
double HandOverRate(size_t bytes, double seconds) {
  constexpr size_t kSlots = 3;
  std::vector<std::vector<uint8_t>> slots(kSlots, std::vector<uint8_t>(bytes, 1));
  std::array<std::atomic<bool>, kSlots> full = {};
  std::atomic<bool> stop = false;
  const auto wait_until = [&](size_t slot, bool state) {
    while (full[slot].load(std::memory_order_acquire) != state && !stop) std::this_thread::yield();
  };
  std::thread producer([&] {
    const std::vector<uint8_t> source(bytes, 1);
    for (size_t slot = 0; !stop; slot = (slot + 1) % kSlots) {
      wait_until(slot, false);
      std::memcpy(slots[slot].data(), source.data(), bytes);
      full[slot].store(true, std::memory_order_release);
    }
  });
  std::vector<uint8_t> target(bytes, 1);
  size_t slot = 0;
  const double rate = Rate(seconds, bytes, [&] {
    wait_until(slot, true);
    std::memcpy(target.data(), slots[slot].data(), bytes);
    full[slot].store(false, std::memory_order_release);
    slot = (slot + 1) % kSlots;
  });
  stop = true;
  producer.join();
  return rate;
}

// Messages of `bytes` from a PUSH to a PULL socket, as libzmq's own throughput tools send them.
double PlainZmqRate(const std::string& transport, size_t bytes, double seconds) {
  void* context = zmq_ctx_new();
  void* pull = zmq_socket(context, ZMQ_PULL);
  const std::string wanted = FreshAddress(transport);
  if (zmq_bind(pull, wanted.c_str()) != 0) throw RunError(std::string("ZeroMQ: bind: ") + zmq_strerror(zmq_errno()));
  char address[256];
  size_t address_bytes = sizeof(address);
  zmq_getsockopt(pull, ZMQ_LAST_ENDPOINT, address, &address_bytes);
  std::atomic<bool> stop = false;
  std::thread pusher([&] {
    void* push = zmq_socket(context, ZMQ_PUSH);
    const int no_linger = 0;
    zmq_setsockopt(push, ZMQ_LINGER, &no_linger, sizeof(no_linger));
    zmq_setsockopt(push, ZMQ_SNDTIMEO, &kSendTimeout_ms, sizeof(kSendTimeout_ms));  // to notice the end
    zmq_connect(push, address);
    while (!stop) {
      zmq_msg_t message;
      zmq_msg_init_size(&message, bytes);
      if (zmq_msg_send(&message, push, 0) < 0) zmq_msg_close(&message);
    }
    zmq_close(push);
  });
  const double rate = Rate(seconds, bytes, [&] {
    zmq_msg_t message;
    zmq_msg_init(&message);
    zmq_msg_recv(&message, pull, 0);
    zmq_msg_close(&message);
  });
  stop = true;
  pusher.join();
  zmq_close(pull);
  zmq_ctx_term(context);
  return rate;
}

BenchRow Compare(const std::string& name, const std::string& peer_name, double goal, double seconds,
                 const std::function<double(double)>& ours, const std::function<double(double)>& peer) {
  std::vector<double> our_rates, peer_rates;
  for (int round = 0; round < kRounds; ++round) {
    our_rates.push_back(ours(seconds / (2 * kRounds)));
    peer_rates.push_back(peer(seconds / (2 * kRounds)));
  }
  const double our_rate = Median(our_rates);
  const double peer_rate = Median(peer_rates);
  return {name, our_rate, peer_rate, peer_name, our_rate / peer_rate, goal, "GB/s", ""};
}

}  // namespace

std::vector<BenchRow> BenchWire(double seconds) {
  constexpr size_t kMebibyte = size_t{1} << 20;
  const auto shm_row = [&](size_t mebibytes, size_t targets, const std::string& peer_name) {
    const size_t bytes = mebibytes * kMebibyte;
    return Compare(
        "wire shm, " + std::to_string(mebibytes) + " MiB records, against " + peer_name, "two concurrent memcpys, each",
        0.8, seconds, [&](double s) { return OurRate("shm", bytes, true, s); },
        [&](double s) { return TwoMemcpysRate(bytes, targets, s); });
  };
  std::vector<BenchRow> rows;
  for (const size_t mebibytes : {1, 4, 16}) rows.push_back(shm_row(mebibytes, 1, "one buffer each"));
  // A small buffer of one's own stays in the core's cache; what one core wrote and another reads cannot.
  rows.push_back(shm_row(1, 4, "4 buffers each in turn"));
  rows.push_back(Compare(
      "wire shm, 1 MiB records, against the same copies handed over by a flag", "the two copies and a flag", 0.8,
      seconds, [&](double s) { return OurRate("shm", kMebibyte, true, s); },
      [&](double s) { return HandOverRate(kMebibyte, s); }));
  for (const std::string transport : {"ipc", "tcp"}) {
    rows.push_back(Compare(
        "wire zmq over " + transport + ", 1 MiB records", "plain libzmq", 0.9, seconds,
        [&](double s) { return OurRate(transport, kMebibyte, false, s); },
        [&](double s) { return PlainZmqRate(transport, kMebibyte, s); }));
  }
  for (BenchRow& row : BenchCompression(seconds)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace gripstream
