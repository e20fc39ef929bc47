#include "core/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace gripstream {

ProgressLine::ProgressLine(double period_s)
    : terminal_(isatty(STDOUT_FILENO) == 1), period_s_(terminal_ ? period_s : 10 * period_s) {}

bool ProgressLine::Due() const {
  return std::chrono::steady_clock::now() >= next_;
}

namespace {

// A line that wraps cannot be rewritten in place.
std::string FitTerminal(const std::string& text) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return text;
  return text.substr(0, static_cast<size_t>(size.ws_col - 1));
}

}  // namespace

void ProgressLine::Show(const std::string& text) {
  // "\r" returns to the start of the line, "\x1b[K" clears what the longer line before left behind.
  if (terminal_) {
    std::printf("\r%s\x1b[K", FitTerminal(text).c_str());
  } else {
    std::printf("%s\n", text.c_str());
  }
  std::fflush(stdout);
  open_ = terminal_;
  next_ = std::chrono::steady_clock::now() +
          std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(period_s_));
}

void ProgressLine::Finish() {
  if (!open_) return;
  std::printf("\n");
  std::fflush(stdout);
  open_ = false;
}

std::string FormatDuration(double seconds) {
  const long total = seconds > 0 ? static_cast<long>(seconds + 0.5) : 0;
  char text[32];
  if (total >= 3600) {
    std::snprintf(text, sizeof(text), "%ld:%02ld:%02ld", total / 3600, total / 60 % 60, total % 60);
  } else {
    std::snprintf(text, sizeof(text), "%ld:%02ld", total / 60, total % 60);
  }
  return text;
}

std::string FormatCount(double count) {
  char text[32];
  if (count >= 1e9) {
    std::snprintf(text, sizeof(text), "%.2f G", count / 1e9);
  } else if (count >= 1e6) {
    std::snprintf(text, sizeof(text), "%.2f M", count / 1e6);
  } else if (count >= 1e4) {
    std::snprintf(text, sizeof(text), "%.1f k", count / 1e3);
  } else {
    std::snprintf(text, sizeof(text), "%.0f", count);
  }
  return text;
}

}  // namespace gripstream
