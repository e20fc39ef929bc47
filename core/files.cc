#include "core/files.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace gripstream {
namespace {

[[noreturn]] void FailWriting(const std::string& path, const std::string& temporary, int error) {
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  throw RunError(path + ": cannot write: " + std::strerror(error));
}

void WriteAll(int fd, std::span<const std::byte> bytes, const std::string& path, const std::string& temporary) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      const int error = errno;
      close(fd);
      FailWriting(path, temporary, error);
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

// A device or a pipe is written to where it is: a rename would put a file in its place.
void WriteThrough(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) FailWriting(path, "", errno);
  for (const std::span<const std::byte> piece : pieces) WriteAll(fd, piece, path, "");
  close(fd);
}

}  // namespace

std::string ReadText(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw InputError(path, "is a folder, expected a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(path, std::string("cannot be read: ") + std::strerror(errno));
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::byte> ReadBytes(const std::string& path) {
  const std::string text = ReadText(path);
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string BehindLinks(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::string target = std::filesystem::weakly_canonical(path, error).string();
  return error ? path : target;
}

void WriteFileAtomically(const std::string& path, std::span<const std::byte> bytes) {
  WriteFileAtomically(path, std::span(&bytes, 1));
}

void WriteFileAtomically(const std::string& given_path, std::span<const std::span<const std::byte>> pieces) {
  const std::string path = BehindLinks(given_path);
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (exists(status) && !is_regular_file(status) && !is_directory(status)) return WriteThrough(path, pieces);
  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) FailWriting(path, temporary, errno);
  for (const std::span<const std::byte> piece : pieces) WriteAll(fd, piece, path, temporary);
  if (fsync(fd) != 0) {
    const int error = errno;
    close(fd);
    FailWriting(path, temporary, error);
  }
  close(fd);
  if (rename(temporary.c_str(), path.c_str()) != 0) FailWriting(path, temporary, errno);
}

void WriteFileAtomically(const std::string& path, std::string_view text) {
  WriteFileAtomically(path, std::as_bytes(std::span(text.data(), text.size())));
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  GS_CHECK(context_ && EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_), EVP_sha256(), nullptr) == 1,
           "SHA-256 is not available");
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_));
}

void Sha256::Update(const void* data, size_t bytes) {
  GS_CHECK(EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_), data, bytes) == 1, "SHA-256 failed");
}

std::string Sha256::HexDigest() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  GS_CHECK(EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_), digest, &size) == 1, "SHA-256 failed");
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += kDigits[digest[i] >> 4];
    hex += kDigits[digest[i] & 15];
  }
  return hex;
}

std::string Sha256Hex(std::string_view text) {
  Sha256 hash;
  hash.Update(text.data(), text.size());
  return hash.HexDigest();
}

}  // namespace gripstream
