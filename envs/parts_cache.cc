#include "envs/parts_cache.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

// Another method, or another way of calling it, is another number.
constexpr std::string_view kMethod = "gripstream convex parts 1, V-HACD 4\n";
constexpr size_t kDigits = 64;  // of a digest

template <class T>
std::string_view BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string KeyOf(const TriangleMesh& mesh, const ConvexLimits& limits) {
  const int sizes[] = {limits.parts, limits.vertices, limits.resolution, static_cast<int>(mesh.vertices.size())};
  Sha256 digest;
  digest.Update(kMethod.data(), kMethod.size());
  digest.Update(sizes, sizeof sizes);
  for (const std::string_view bytes : {BytesOf(mesh.vertices), BytesOf(mesh.triangles)})
    digest.Update(bytes.data(), bytes.size());
  return digest.HexDigest();
}

// Method, key, number of parts; each part's counts, vertices and triangles; the checksum of all that.
std::string Pack(const std::vector<TriangleMesh>& parts, const std::string& key) {
  std::string out = std::string(kMethod) + key;
  const auto count = [&out](size_t n) {
    const uint64_t value = n;
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  count(parts.size());
  for (const TriangleMesh& part : parts) {
    count(part.vertices.size());
    count(part.triangles.size());
    out += BytesOf(part.vertices);
    out += BytesOf(part.triangles);
  }
  return out + Sha256Hex(out);
}

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  // False where there is less.
  bool Take(void* to, size_t bytes) {
    if (bytes > rest_.size()) return false;
    std::memcpy(to, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
    return true;
  }
  template <class T>
  bool Take(std::vector<T>& to, uint64_t count) {
    if (count > rest_.size() / sizeof(T)) return false;
    to.resize(count);
    return Take(to.data(), count * sizeof(T));
  }
  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool IsSound(const TriangleMesh& part) {
  for (const Vec3& v : part.vertices) {
    if (!std::isfinite(v.x) || !std::isfinite(v.y) || !std::isfinite(v.z)) return false;
  }
  for (const auto& triangle : part.triangles) {
    for (const int corner : triangle) {
      if (corner < 0 || static_cast<size_t>(corner) >= part.vertices.size()) return false;
    }
  }
  return SolidOf(part).volume > 0;
}

std::optional<std::vector<TriangleMesh>> Unpack(std::string_view file, const std::string& key) {
  const std::string head = std::string(kMethod) + key;
  if (file.size() < head.size() + kDigits || !file.starts_with(head)) return std::nullopt;
  const std::string_view body = file.substr(0, file.size() - kDigits);
  if (Sha256Hex(body) != file.substr(body.size())) return std::nullopt;
  Unpacker in(body.substr(head.size()));
  uint64_t count = 0;
  if (!in.Take(&count, sizeof count) || count == 0) return std::nullopt;
  std::vector<TriangleMesh> parts;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t vertices = 0, triangles = 0;
    TriangleMesh part;
    if (!in.Take(&vertices, sizeof vertices) || !in.Take(&triangles, sizeof triangles) ||
        !in.Take(part.vertices, vertices) || !in.Take(part.triangles, triangles) || !IsSound(part)) {
      return std::nullopt;
    }
    parts.push_back(std::move(part));
  }
  return in.AtEnd() ? std::optional(std::move(parts)) : std::nullopt;
}

std::optional<std::vector<TriangleMesh>> Find(const std::string& path, const std::string& key) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  return Unpack(file, key);
}

void Keep(const std::string& path, const std::vector<TriangleMesh>& parts, const std::string& key) {
  static std::mutex one_at_a_time;  // threads of a process would share a temporary file
  const std::lock_guard lock(one_at_a_time);
  try {
    fs::create_directories(fs::path(path).parent_path());
    WriteFileAtomically(path, std::string_view(Pack(parts, key)));
  } catch (const std::exception& error) {
    LogInfo("convex parts are not kept for the next start: ", error.what());
  }
}

}  // namespace

std::string PartsCacheFolder() {
  constexpr const char* kFolder = "/convex_parts";
  if (const char* own = std::getenv("GRIPSTREAM_CACHE")) return *own == '\0' ? "" : std::string(own) + kFolder;
  const char* base = std::getenv("XDG_CACHE_HOME");
  if (base && *base != '\0') return std::string(base) + "/gripstream" + kFolder;
  const char* home = std::getenv("HOME");
  return home && *home != '\0' ? std::string(home) + "/.cache/gripstream" + kFolder : "";
}

std::vector<TriangleMesh> CachedConvexParts(const TriangleMesh& mesh, const ConvexLimits& limits,
                                            const std::string& where, const std::string& folder) {
  if (folder.empty()) return ConvexParts(mesh, limits, where);
  const std::string key = KeyOf(mesh, limits), path = folder + "/" + key + ".parts";
  if (auto found = Find(path, key)) return std::move(*found);
  std::vector<TriangleMesh> parts = ConvexParts(mesh, limits, where);
  Keep(path, parts, key);
  return parts;
}

}  // namespace gripstream
