// The three kinds of failure, each with a spelling of its own.
//
//   InputError   the user's input is at fault: one line naming file, key, value and what was expected; exit code 2
//   RunError     the run failed for a reason outside the program (a peer died, the disk is full); exit code 1
//   GS_CHECK     our own bug: throws InternalError with the failed condition, in every build
//
// Thread-safe; exceptions own their text.
#pragma once

#include <stdexcept>
#include <string>

namespace gripstream {

// The process exit codes of every command.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitBadInput = 2;

class InputError : public std::runtime_error {
 public:
  // `where` is a file (or "--set", "command line"); `key` a dotted configuration key, a name inside the file, or empty.
  InputError(const std::string& where, const std::string& key, const std::string& value, const std::string& expected);
  // For input that is wrong as a whole: "file: problem".
  InputError(const std::string& where, const std::string& problem);
};

// Input at fault of which another process of ours has told the user: what is left is the exit code.
class InputAlreadyTold : public std::exception {};

class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void ThrowInternal(const char* condition, const char* file, int line, const std::string& message);

#define GS_CHECK(condition, message)                                                        \
  do {                                                                                      \
    if (!(condition)) ::gripstream::ThrowInternal(#condition, __FILE__, __LINE__, message); \
  } while (false)

// Runs `body`, prints a failure as one line "gripstream: ..." on stderr, and returns the exit code that belongs to it.
int RunMain(int (*body)(int argc, char** argv), int argc, char** argv);

}  // namespace gripstream
