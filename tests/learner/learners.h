// Several learners as threads of this process, each with its own LearnerGroup, for tests of what they do together.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "learner/group.h"

namespace gripstream {

inline std::string FreshRendezvous() {
  static int count = 0;
  const std::string name = "gripstream_group_" + std::to_string(getpid()) + "_" + std::to_string(++count);
  return (std::filesystem::temp_directory_path() / name).string();
}

inline GroupOptions MemberOptions(int rank, int size, const std::string& rendezvous) {
  return {.rank = rank,
          .size = size,
          .rendezvous = rendezvous,
          .network = {},
          .join_s = 20,
          .deadline_s = 5,
          .patience_s = 20,
          .heartbeat_s = 0.1};
}

// Runs `body` once per learner and returns when all have ended.
inline void RunLearners(int size, const std::function<void(const LearnerGroup&)>& body) {
  const std::string rendezvous = FreshRendezvous();
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([=, &body] {
      const LearnerGroup group(MemberOptions(rank, size, rendezvous));
      body(group);
      group.Any(false, "the end of the test");
    });
  }
}

}  // namespace gripstream
