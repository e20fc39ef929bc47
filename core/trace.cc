#include "core/trace.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"

namespace gripstream {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostSpans = 4 << 20;  // 160 MB; beyond, spans are counted only

struct Span {
  const char* name;
  int thread;
  Clock::time_point start, end;
};

struct Kept {
  std::mutex mutex;
  std::string role;  // guarded by mutex, as all below
  std::vector<Span> spans;
  std::vector<std::pair<int, std::string>> threads;
  uint64_t left_out = 0;
};

std::atomic<bool> keeping{false};

Kept& Everything() {
  static Kept kept;
  return kept;
}

int ThisThread() {
  static std::atomic<int> count{0};
  thread_local const int number = ++count;
  return number;
}

double Microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

std::string NameEvent(const char* what, int thread, const std::string& name) {
  char text[256];
  std::snprintf(text, sizeof(text), R"({"name":"%s","ph":"M","pid":%d,"tid":%d,"args":{"name":"%s"}})", what, getpid(),
                thread, name.c_str());
  return std::string(text) + "\n";
}

std::string SpanEvent(const Span& span) {
  char text[256];
  std::snprintf(text, sizeof(text), R"({"name":"%s","ph":"X","pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f})", span.name,
                getpid(), span.thread, Microseconds(span.start.time_since_epoch()),
                Microseconds(span.end - span.start));
  return std::string(text) + "\n";
}

// One event a line.
std::string TakeEvents() {
  Kept& kept = Everything();
  const std::lock_guard lock(kept.mutex);
  std::string text = NameEvent("process_name", 0, kept.role);
  for (const auto& [thread, name] : kept.threads) text += NameEvent("thread_name", thread, name);
  for (const Span& span : kept.spans) text += SpanEvent(span);
  if (kept.left_out > 0) LogWarning("the trace leaves out the last ", kept.left_out, " spans of this process");
  kept.spans.clear();
  kept.threads.clear();
  kept.left_out = 0;
  return text;
}

}  // namespace

TraceSession::TraceSession(std::string part, const std::string& role) : part_(std::move(part)) {
  if (part_.empty()) return;
  {
    const std::lock_guard lock(Everything().mutex);
    Everything().role = role;
  }
  keeping = true;
  NameTraceThread(role);
}

TraceSession::~TraceSession() {
  if (part_.empty()) return;
  keeping = false;
  try {
    WriteFileAtomically(part_, TakeEvents());
  } catch (const std::exception& error) {
    LogWarning("no trace of this process: ", error.what());
  }
}

void NameTraceThread(const std::string& name) {
  if (!keeping) return;
  const std::lock_guard lock(Everything().mutex);
  Everything().threads.emplace_back(ThisThread(), name);
}

TraceSpan::TraceSpan(const char* name) : name_(keeping ? name : nullptr) {
  if (name_) start_ = Clock::now();
}

TraceSpan::~TraceSpan() {
  if (!name_ || !keeping) return;
  const Clock::time_point end = Clock::now();
  Kept& kept = Everything();
  const std::lock_guard lock(kept.mutex);
  if (kept.spans.size() < kMostSpans) {
    kept.spans.push_back({name_, ThisThread(), start_, end});
  } else {
    ++kept.left_out;
  }
}

void MergeTraces(const std::vector<std::string>& parts, const std::string& path) {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  const char* separator = "\n";
  for (const std::string& part : parts) {
    std::ifstream in(part);
    for (std::string event; std::getline(in, event); separator = ",\n") text += separator + event;
  }
  WriteFileAtomically(path, text + "\n]}\n");
}

}  // namespace gripstream
