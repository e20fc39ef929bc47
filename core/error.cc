#include "core/error.h"

#include <cstdio>
#include <exception>

namespace gripstream {
namespace {

std::string FormatInput(const std::string& where, const std::string& key, const std::string& value,
                        const std::string& expected) {
  std::string text = where;
  if (!key.empty()) text += ": " + key;
  text += ": got '" + value + "', expected " + expected;
  return text;
}

// A message is one line, whatever a library put into it.
std::string OneLine(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

int Report(const char* text, int code) {
  std::fprintf(stderr, "gripstream: %s\n", OneLine(text).c_str());
  return code;
}

}  // namespace

InputError::InputError(const std::string& where, const std::string& key, const std::string& value,
                       const std::string& expected)
    : std::runtime_error(OneLine(FormatInput(where, key, value, expected))) {}

InputError::InputError(const std::string& where, const std::string& problem)
    : std::runtime_error(OneLine(where + ": " + problem)) {}

void ThrowInternal(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(std::string("internal error at ") + file + ":" + std::to_string(line) + ": " + message +
                      " (violated: " + condition + ")");
}

int RunMain(int (*body)(int argc, char** argv), int argc, char** argv) {
  try {
    return body(argc, argv);
  } catch (const InputError& error) {
    return Report(error.what(), kExitBadInput);
  } catch (const InputAlreadyTold&) {
    return kExitBadInput;
  } catch (const std::exception& error) {
    return Report(error.what(), kExitFailed);
  }
}

}  // namespace gripstream
