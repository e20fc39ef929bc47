// A folder for what nobody needs afterwards: made under the system's temporary folder, removed with all that is in it.
//
// Throws RunError when it cannot be made. One thread.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "core/error.h"

namespace gripstream {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gripstream-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw RunError(name + ": cannot make a temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& Path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace gripstream
