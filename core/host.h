// This machine's name, for messages and records. Thread-safe; nothing throws.
#pragma once

#include <unistd.h>

#include <string>

namespace gripstream {

inline std::string HostName() {
  char name[256] = "localhost";
  gethostname(name, sizeof(name) - 1);
  return name;
}

}  // namespace gripstream
