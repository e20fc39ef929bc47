#include "envs/shipped_files.h"

#include <dlfcn.h>

#include <filesystem>

#include "core/error.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

// The library or program that holds this code.
fs::path OwnBinary() {
  Dl_info info{};
  GS_CHECK(dladdr(reinterpret_cast<const void*>(&ShippedFile), &info) != 0, "no binary holds this function");
  return fs::absolute(info.dli_fname);
}

// A build in a package says where things are from the library, any other one says it absolutely.
fs::path Place(const char* folder) {
  const fs::path path = folder;
  return path.is_absolute() ? path : (OwnBinary().parent_path() / path).lexically_normal();
}

}  // namespace

std::string ShippedFile(const std::string& name) {
  return (Place(GRIPSTREAM_ASSETS_DIR) / name).string();
}

std::string OwnPackagesFolder() {
  return Place(GRIPSTREAM_PACKAGES_DIR).string();
}

}  // namespace gripstream
