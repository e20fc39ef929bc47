// Where time goes, span by span, in Chrome's trace format: for Perfetto or chrome://tracing.
//
//   TraceSession (one per process) <- TraceSpan (any thread) -> a part file -> MergeTraces -> one trace of all roles
//
// Times are the machine's monotonic clock, the same for all its processes. Without a session a span costs one load.
// Spans of a thread nest, because they are scopes. Thread-safe; a session begins before the threads that use it and
// ends after them. Throws RunError when a file cannot be written, but never from a destructor.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace gripstream {

// From now on spans of this process are kept; the end writes them to `part`. An empty `part`: nothing is kept.
class TraceSession {
 public:
  TraceSession(std::string part, const std::string& role);
  ~TraceSession();
  TraceSession(const TraceSession&) = delete;
  TraceSession& operator=(const TraceSession&) = delete;

 private:
  std::string part_;
};

// What the calling thread is called in the trace.
void NameTraceThread(const std::string& name);

// From its construction to its destruction. `name` must outlive the session: a literal.
class TraceSpan {
 public:
  explicit TraceSpan(const char* name);
  ~TraceSpan();
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  const char* name_;  // null: nothing is kept
  std::chrono::steady_clock::time_point start_;
};

// Makes one trace of those parts that are there.
void MergeTraces(const std::vector<std::string>& parts, const std::string& path);

}  // namespace gripstream
