// The live progress line on stdout: rewritten in place on a terminal, plain lines without control characters otherwise.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <string>

namespace gripstream {

class ProgressLine {
 public:
  // Lines come at most once per `period_s` (a terminal) or ten times that (a file).
  explicit ProgressLine(double period_s = 1.0);
  // True when it is time for another line, so that callers need not format one in vain.
  bool Due() const;
  void Show(const std::string& text);
  // Ends the live line so that ordinary output starts on a line of its own.
  void Finish();

 private:
  bool terminal_;
  double period_s_;
  bool open_ = false;
  std::chrono::steady_clock::time_point next_;
};

// "850 s" -> "14:10"; hours when there are any.
std::string FormatDuration(double seconds);
// 1234567 -> "1.23 M".
std::string FormatCount(double count);

}  // namespace gripstream
