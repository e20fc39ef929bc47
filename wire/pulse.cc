#include "wire/pulse.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace gripstream {

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", seconds);
  return text;
}

Pulse::Pulse(double period_s, SendFunction send) : period_s_(period_s), send_(std::move(send)) {
  heartbeat_.stage = "joined";
  Beat();
  // Signals are for the process's own threads to handle, not for this one.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Pulse::~Pulse() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stop_changed_.notify_all();
  thread_.join();
}

void Pulse::SetStage(const std::string& stage) {
  const std::lock_guard lock(mutex_);
  ++heartbeat_.progress;
  heartbeat_.stage = stage;
}

void Pulse::Progress() {
  const std::lock_guard lock(mutex_);
  ++heartbeat_.progress;
}

void Pulse::Beat() {
  Heartbeat heartbeat;
  {
    const std::lock_guard lock(mutex_);
    heartbeat = heartbeat_;
  }
  send_(Encode(heartbeat));
}

void Pulse::Run() {
  std::unique_lock lock(mutex_);
  const auto period = std::chrono::duration<double>(period_s_);
  while (!stop_changed_.wait_for(lock, period, [this] { return stop_; })) {
    lock.unlock();
    Beat();
    lock.lock();
  }
}

void PeerWatch::Heard() {
  const double silence_s = SilentSeconds();
  history_.longest_silence_s = std::max(history_.longest_silence_s, silence_s);
  if (silence_s > 2 * period_s_) ++history_.late_beats;
  heard_ = Clock::now();
}

void PeerWatch::Note(const Heartbeat& heartbeat) {
  if (heartbeat.stage != stage_ || heartbeat.progress != progress_) stage_since_ = Clock::now();
  stage_ = heartbeat.stage;
  progress_ = heartbeat.progress;
}

std::string PeerWatch::Describe() const {
  return "last stage '" + stage_ + "' (no progress for " + Seconds(Since(stage_since_)) + "), last heard " +
         Seconds(SilentSeconds()) + " ago";
}

}  // namespace gripstream
