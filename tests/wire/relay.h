// A userspace link for tests: a TCP relay on loopback that can be listened to and cut, as a network would be.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "wire/unix_socket.h"

namespace gripstream {

// Forwards every connection made to Port() to `target_port`, both ways. While cut, bytes stay where they are and no end
// is told: what a pulled cable looks like.
class Relay {
 public:
  explicit Relay(int target_port) : target_port_(target_port), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in any = Loopback(0);
    bind(listener_.Get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any));
    listen(listener_.Get(), 64);
    sockaddr_in bound{};
    socklen_t bytes = sizeof(bound);
    getsockname(listener_.Get(), reinterpret_cast<sockaddr*>(&bound), &bytes);
    port_ = ntohs(bound.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~Relay() {
    stop_ = true;
    thread_.join();
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int Port() const { return port_; }
  std::string Address() const { return "tcp://127.0.0.1:" + std::to_string(port_); }
  void Cut() { cut_ = true; }
  void Mend() { cut_ = false; }
  // Everything that has passed, both ways.
  std::string Heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  struct Link {
    UniqueFd ends[2];
    std::string waiting[2];  // to ends[i]
  };

  static sockaddr_in Loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    return address;
  }

  void Run() {
    while (!stop_) {
      if (cut_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      std::vector<pollfd> waiting = {{listener_.Get(), POLLIN, 0}};
      for (const Link& link : links_) {
        for (int i = 0; i < 2; ++i) {
          const short room = link.waiting[i].empty() ? 0 : POLLOUT;
          const short data = link.waiting[1 - i].size() < kMost_bytes ? POLLIN : 0;
          waiting.push_back({link.ends[i].Get(), static_cast<short>(room | data), 0});
        }
      }
      poll(waiting.data(), waiting.size(), 2);
      for (size_t i = links_.size(); i-- > 0;) {
        if (!Carry(links_[i], waiting[1 + 2 * i].revents, waiting[2 + 2 * i].revents)) {
          links_.erase(links_.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
      if (waiting[0].revents) Accept();
    }
  }

  void Accept() {
    Link link;
    link.ends[0] = UniqueFd(accept4(listener_.Get(), nullptr, nullptr, SOCK_CLOEXEC));
    link.ends[1] = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in target = Loopback(target_port_);
    if (connect(link.ends[1].Get(), reinterpret_cast<const sockaddr*>(&target), sizeof(target)) != 0) return;
    links_.push_back(std::move(link));
  }

  // Moves what can be moved; false when an end has closed.
  bool Carry(Link& link, int first_events, int second_events) {
    const int events[2] = {first_events, second_events};
    for (int i = 0; i < 2; ++i) {
      if (events[i] & (POLLIN | POLLHUP | POLLERR)) {
        char buffer[65536];
        const ssize_t bytes = recv(link.ends[i].Get(), buffer, sizeof(buffer), MSG_DONTWAIT);
        if (bytes == 0 || (bytes < 0 && errno != EAGAIN)) return false;
        if (bytes > 0) Hear(link.waiting[1 - i], {buffer, static_cast<size_t>(bytes)});
      }
      std::string& out = link.waiting[i];
      if (out.empty()) continue;
      const ssize_t sent = send(link.ends[i].Get(), out.data(), out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent > 0) out.erase(0, static_cast<size_t>(sent));
    }
    return true;
  }

  void Hear(std::string& to, const std::string& bytes) {
    to += bytes;
    const std::lock_guard lock(mutex_);
    if (heard_.size() < kMost_bytes) heard_ += bytes;
  }

  static constexpr size_t kMost_bytes = 1 << 20;
  int target_port_;
  int port_ = 0;
  UniqueFd listener_;
  std::vector<Link> links_;
  std::atomic<bool> stop_ = false, cut_ = false;
  mutable std::mutex mutex_;
  std::string heard_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace gripstream
