// Tests core/trace.h.
#include "core/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

namespace gripstream {
namespace {

std::string Path(const char* name) {
  return testing::TempDir() + "/gripstream_trace_" + name;
}

nlohmann::json Events(const std::string& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in)["traceEvents"];
}

std::map<std::string, int> Count(const nlohmann::json& events) {
  std::map<std::string, int> count;
  for (const auto& event : events) ++count[event["name"]];
  return count;
}

TEST(Trace, HoldsEachSpanOfEachThreadInsideTheOneAroundIt) {
  {
    const TraceSession session(Path("part"), "role");
    const TraceSpan whole("whole");
    std::thread other([] {
      NameTraceThread("other");
      const TraceSpan outer("outer");
      for (int i = 0; i < 3; ++i) const TraceSpan inner("inner");
    });
    other.join();
  }
  { const TraceSpan nobody_looks("later"); }
  MergeTraces({Path("part"), Path("of a role that died")}, Path("all.json"));
  const nlohmann::json events = Events(Path("all.json"));
  const auto count = Count(events);
  EXPECT_EQ(count.at("outer"), 1);
  EXPECT_EQ(count.at("inner"), 3);
  EXPECT_FALSE(count.contains("later"));
  EXPECT_EQ(count.at("process_name"), 1);
  EXPECT_EQ(count.at("thread_name"), 2);
  const auto outer = *std::find_if(events.begin(), events.end(), [](const auto& e) { return e["name"] == "outer"; });
  const double begin = outer["ts"], end = begin + outer["dur"].get<double>();
  for (const auto& event : events) {
    if (event["name"] != "inner") continue;
    EXPECT_EQ(event["tid"], outer["tid"]);
    EXPECT_GE(event["ts"].get<double>(), begin);
    EXPECT_LE(event["ts"].get<double>() + event["dur"].get<double>(), end + 0.002);  // printed to nanoseconds
  }
}

TEST(Trace, OfSeveralProcessesIsOneFile) {
  for (const char* part : {"a", "b"}) {
    const TraceSession session(Path(part), part);
    const TraceSpan span("work");
  }
  MergeTraces({Path("a"), Path("b")}, Path("both.json"));
  EXPECT_EQ(Count(Events(Path("both.json"))).at("process_name"), 2);
}

TEST(Trace, IsNotKeptUnlessAsked) {
  { const TraceSession none("", "role"); }
  MergeTraces({}, Path("none.json"));
  EXPECT_TRUE(Events(Path("none.json")).empty());
}

}  // namespace
}  // namespace gripstream
