// Signs of life: a thread that sends heartbeats, and the record of what a peer's heartbeats said.
//
// Pulse: SetStage and Progress from any thread; the send function is called on the pulse's own thread, and once from
// the constructor's. PeerWatch is a plain value of the thread that waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "wire/message.h"

namespace gripstream {

class Pulse {
 public:
  using SendFunction = std::function<void(const std::vector<std::byte>& frame)>;
  // `send` must not block; a heartbeat that cannot be sent is skipped.
  Pulse(double period_s, SendFunction send);
  ~Pulse();
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

  void SetStage(const std::string& stage);
  void Progress();

 private:
  void Beat();
  void Run();

  const double period_s_;
  const SendFunction send_;
  std::mutex mutex_;
  std::condition_variable stop_changed_;
  bool stop_ = false;    // guarded by mutex_
  Heartbeat heartbeat_;  // guarded by mutex_
  std::thread thread_;
};

// What a peer's signs of life have been like.
struct Liveness {
  double longest_silence_s = 0;
  int late_beats = 0;  // silences of more than two heartbeats
};

// When a peer was last heard and what it then did.
class PeerWatch {
 public:
  using Clock = std::chrono::steady_clock;
  // `period_s`: what the peer's heartbeats should come at.
  explicit PeerWatch(double period_s = 1) : period_s_(period_s) {}
  // Any message is a sign of life.
  void Heard();
  Liveness History() const { return history_; }
  void Note(const Heartbeat& heartbeat);
  double SilentSeconds() const { return Since(heard_); }
  Clock::time_point LastHeard() const { return heard_; }
  std::string Describe() const;  // "last stage 'physics' (for 2.1 s), last heard 0.4 s ago"

 private:
  static double Since(Clock::time_point when) { return std::chrono::duration<double>(Clock::now() - when).count(); }
  double period_s_;
  Liveness history_;
  Clock::time_point heard_ = Clock::now();
  Clock::time_point stage_since_ = Clock::now();
  std::string stage_ = "joining";
  uint64_t progress_ = 0;
};

// "12.3 s", for messages.
std::string Seconds(double seconds);

}  // namespace gripstream
