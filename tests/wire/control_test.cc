// Tests wire/bench_control.h, and with it the control plane: a short run of the load, not what it measures.
#include "wire/bench_control.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

namespace gripstream {
namespace {

std::set<std::string> SharedMemoryNames() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) names.insert(entry.path().filename());
  return names;
}

TEST(Control, ManySimulatorsJoinStallAreStoppedAndLeaveWhileTheRestGoOn) {
  const std::set<std::string> before = SharedMemoryNames();
  for (const char* transport : {"shm", "zmq"}) {
    const ControlMeasured measured = MeasureControl({transport, 64, 0.5});
    EXPECT_EQ(measured.left, 7) << transport;  // numbers 3, 13, ... 63
    EXPECT_EQ(measured.stopped, 4) << transport;
    EXPECT_GE(measured.rounds, 6) << transport;
    EXPECT_GT(measured.join_s, 0) << transport;
    EXPECT_GT(measured.simulator_bytes, 0) << transport;
  }
  EXPECT_EQ(SharedMemoryNames(), before);
}

// Deadlines that followed the wall clock would pass when somebody sets it: nothing that waits may read it. Dates for
// people (file names, log lines) are made elsewhere.
TEST(Clocks, NothingThatWaitsReadsTheWallClock) {
  const std::regex wall(R"(system_clock|CLOCK_REALTIME|gettimeofday|std::time\(|[^_a-z]time\(nullptr\)|sem_timedwait)");
  int files = 0;
  for (const char* folder : {"wire", "sim_server", "learner", "core"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(GRIPSTREAM_SOURCE_DIR) + "/" + folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      // Writes the time of day into files that people read.
      if (entry.path().filename() == "event_file.cc") continue;
      std::ifstream in(entry.path());
      int number = 0;
      for (std::string line; std::getline(in, line);) {
        ++number;
        EXPECT_FALSE(std::regex_search(line, wall)) << entry.path() << ":" << number << ": " << line;
      }
      ++files;
    }
  }
  EXPECT_GT(files, 50);
}

}  // namespace
}  // namespace gripstream
