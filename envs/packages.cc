#include "envs/packages.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/error.h"
#include "envs/shipped_files.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

const std::string kMark = "package:";

void AddSitePackages(const fs::path& environment, std::vector<fs::path>& folders) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(environment / "lib", error)) {
    if (entry.path().filename().string().starts_with("python3")) folders.push_back(entry.path() / "site-packages");
  }
}

std::vector<fs::path> PackageFolders() {
  std::vector<fs::path> folders;
  if (const char* given = std::getenv("GRIPSTREAM_PACKAGES")) folders.emplace_back(given);
  if (const char* active = std::getenv("VIRTUAL_ENV")) AddSitePackages(active, folders);
  folders.emplace_back(OwnPackagesFolder());
  return folders;
}

std::string FolderOf(const std::string& package, const std::string& where) {
  for (const fs::path& folder : PackageFolders()) {
    std::error_code error;
    if (fs::is_directory(folder / package, error)) return (folder / package).string();
  }
  throw InputError(where, kMark + package, "not installed",
                   "a Python package in the active virtual environment, in build/deps (tools/setup.sh "
                   "--tests) or in the folder that GRIPSTREAM_PACKAGES names");
}

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

std::string ResolvePackages(const std::string& text, const std::string& where) {
  std::string out;
  size_t done = 0;
  for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
    size_t end = at + kMark.size();
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    if (end == at + kMark.size() || end == text.size() || text[end] != '/') continue;
    out += text.substr(done, at - done) + FolderOf(text.substr(at + kMark.size(), end - at - kMark.size()), where);
    done = end;
  }
  return out + text.substr(done);
}

}  // namespace gripstream
