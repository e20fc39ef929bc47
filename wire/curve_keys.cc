#include "wire/curve_keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeyText_bytes = 40;
constexpr size_t kKey_bytes = 32;
constexpr mode_t kSecretMode = 0600;
constexpr mode_t kPublicMode = 0644;

struct Pair {
  std::string public_key;
  std::string secret_key;
};

Pair MakePair() {
  char public_key[kKeyText_bytes + 1], secret_key[kKeyText_bytes + 1];
  if (zmq_curve_keypair(public_key, secret_key) != 0) {
    throw RunError(std::string("libzmq cannot make CURVE keys: ") + zmq_strerror(zmq_errno()));
  }
  return {public_key, secret_key};
}

void WriteNew(const std::string& path, const std::string& key, mode_t mode) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0 && errno == EEXIST) throw InputError(path, "exists already; keys are never overwritten");
  if (fd < 0) throw RunError(path + ": cannot write: " + std::strerror(errno));
  const std::string line = key + "\n";
  const bool written = write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (close(fd) != 0 || !written) throw RunError(path + ": cannot write: " + std::strerror(errno));
}

void MakeFolder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw RunError(folder + ": cannot make the folder: " + error.message());
}

bool IsKey(const std::string& text) {
  uint8_t bytes[kKey_bytes];
  return text.size() == kKeyText_bytes && zmq_z85_decode(bytes, text.c_str()) != nullptr;
}

std::string ReadKey(const std::string& path) {
  std::error_code error;
  const uintmax_t bytes = fs::file_size(path, error);
  if (!error && bytes > 2 * kKeyText_bytes) throw InputError(path, "is not a key file: too long");
  std::string text = ReadText(path);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  if (!IsKey(text)) throw InputError(path, "is not a key file: expected one line of 40 characters in Z85");
  return text;
}

// A secret that others can read is none.
std::string ReadSecretKey(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw InputError(path, "can be read or written by other users, expected mode 0600 (chmod 600)");
  }
  return ReadKey(path);
}

}  // namespace

std::string PublicKeyOf(const std::string& secret_key, const std::string& path) {
  char public_key[kKeyText_bytes + 1];
  if (!IsKey(secret_key) || zmq_curve_public(public_key, secret_key.c_str()) != 0) {
    throw InputError(path, "is not a secret key");
  }
  return public_key;
}

CurveIdentity LearnerIdentity(const std::string& keys_folder) {
  if (keys_folder.empty()) return {};
  CurveIdentity identity;
  identity.secret_key = ReadSecretKey(keys_folder + "/learner.secret");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(keys_folder + "/allowed", error)) {
    if (entry.path().extension() == ".public") identity.allowed.push_back(ReadKey(entry.path().string()));
  }
  if (identity.allowed.empty()) {
    throw InputError(keys_folder + "/allowed", "holds no NAME.public, so no simulator could join");
  }
  std::sort(identity.allowed.begin(), identity.allowed.end());
  return identity;
}

CurveIdentity SimulatorIdentity(const std::string& keys_folder) {
  if (keys_folder.empty()) return {};
  CurveIdentity identity;
  identity.secret_key = ReadSecretKey(keys_folder + "/simulator.secret");
  identity.learner_key = ReadKey(keys_folder + "/learner.public");
  return identity;
}

void MakeSimulatorKeys(const std::string& folder, const std::string& name) {
  if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos) {
    throw InputError("command line", "--simulator", name, "a name that can be a file's");
  }
  MakeFolder(folder + "/allowed");
  const Pair pair = MakePair();
  WriteNew(folder + "/simulator.secret", pair.secret_key, kSecretMode);
  WriteNew(folder + "/allowed/" + name + ".public", pair.public_key, kPublicMode);
}

void MakeKeyFolder(const std::string& folder) {
  MakeFolder(folder);
  const Pair pair = MakePair();
  WriteNew(folder + "/learner.secret", pair.secret_key, kSecretMode);
  WriteNew(folder + "/learner.public", pair.public_key, kPublicMode);
  MakeSimulatorKeys(folder, "simulators");
}

}  // namespace gripstream
