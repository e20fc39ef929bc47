// Whole-file reading and all-or-nothing writing. Thread-safe for different paths.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gripstream {

// Throws InputError naming the path when it cannot be read.
std::string ReadText(const std::string& path);
std::vector<std::byte> ReadBytes(const std::string& path);

// What a symbolic link leads to; any other path as it is.
std::string BehindLinks(const std::string& path);

// Writes beside the target, flushes to disk and renames over it: a reader sees the old file or the new one, never half.
// Throws RunError (disk full, no permission) and then leaves the old file as it was. Follows links, and writes devices
// and pipes as they are.
void WriteFileAtomically(const std::string& path, std::span<const std::byte> bytes);
// The pieces one after another, from where they are.
void WriteFileAtomically(const std::string& path, std::span<const std::span<const std::byte>> pieces);
void WriteFileAtomically(const std::string& path, std::string_view text);

// SHA-256 as 64 lower-case hexadecimal digits (OpenSSL).
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void Update(const void* data, size_t bytes);
  std::string HexDigest();  // ends the computation

 private:
  void* context_;
};

std::string Sha256Hex(std::string_view text);

}  // namespace gripstream
