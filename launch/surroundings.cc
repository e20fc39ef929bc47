// This machine, as launch/doctor.h looks at it.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "launch/doctor.h"
#include "launch/program_output.h"
#include "launch/role_plan.h"

namespace gripstream {
namespace {

constexpr size_t kTrial_bytes = 1 << 20;
constexpr int kCudaSuccess = 0;
constexpr int kStart_s = 60;  // a cold disk and a busy machine

class RealSurroundings : public Surroundings {
 public:
  std::string WhyNotLoad(const std::string& library) override {
    void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!handle) return dlerror();
    dlclose(handle);
    return "";
  }

  // Asks the driver's library itself; needs no CUDA toolkit.
  std::vector<std::string> Gpus(std::string& problem) override {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      problem = dlerror();
      return {};
    }
    const auto init = Symbol<int (*)(unsigned)>(library, "cuInit");
    const auto count_of = Symbol<int (*)(int*)>(library, "cuDeviceGetCount");
    const auto name_of = Symbol<int (*)(char*, int, int)>(library, "cuDeviceGetName");
    int code = -1, count = 0;
    if (init && count_of && name_of) code = init(0);
    if (code == kCudaSuccess) code = count_of(&count);
    if (code != kCudaSuccess) problem = "the CUDA driver answers with error " + std::to_string(code);
    std::vector<std::string> gpus;
    for (int i = 0; code == kCudaSuccess && i < count; ++i) {
      char name[256] = {};
      name_of(name, sizeof(name) - 1, i);
      gpus.push_back(name);
    }
    return gpus;
  }

  bool Exists(const std::string& path) override { return std::filesystem::exists(path); }

  std::optional<std::string> FirstLine(const std::string& path) override {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) return std::nullopt;
    return line;
  }

  std::optional<uint64_t> FreeBytes(const std::string& folder) override {
    struct statvfs status {};
    if (statvfs(folder.c_str(), &status) != 0) return std::nullopt;
    return uint64_t{status.f_bavail} * status.f_frsize;
  }

  uint64_t AvailableMemory() override {
    std::ifstream file("/proc/meminfo");
    uint64_t kib = 0;
    for (std::string word; file >> word;) {
      if (word == "MemAvailable:" && file >> kib) break;
    }
    return kib * 1024;
  }

  int Cores() override {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  }

  int OpenFiles() override {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 30));
  }

  // Linked in already; its header has its door elsewhere.
  std::string MujocoVersion() override {
    const auto version = Symbol<const char* (*)()>(RTLD_DEFAULT, "mj_versionString");
    return version ? version() : "not loaded";
  }

  std::string WhyNotStart(const std::string& program) override {
    const std::string path = RoleProgram(program);
    if (!Exists(path)) return path + " is not there";
    const ProgramOutput output = RunProgram({path, "--help"}, Deadline::After(kStart_s));
    if (output.code == 0) return "";
    if (output.code == kNeverEnded) return path + " --help takes longer than " + std::to_string(kStart_s) + " s";
    return output.text.empty() ? path + " fails without a word" : output.LastLine();
  }

  std::string WhyNotListen(int port) override {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return std::string("no TCP socket: ") + std::strerror(errno);
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    const bool bound =
        bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 && listen(fd, 1) == 0;
    const std::string problem = bound ? "" : std::strerror(errno);
    close(fd);
    return problem;
  }

  std::string WhyNoSharedMemory() override {
    const int fd = memfd_create("gripstream_doctor", MFD_CLOEXEC);
    if (fd < 0) return std::string("memfd_create: ") + std::strerror(errno);
    const int error = posix_fallocate(fd, 0, kTrial_bytes);
    close(fd);
    return error == 0 ? "" : std::string("memfd cannot be filled: ") + std::strerror(error);
  }

 private:
  template <class Function>
  static Function Symbol(void* library, const char* name) {
    return reinterpret_cast<Function>(dlsym(library, name));
  }
};

}  // namespace

Surroundings& ThisMachine() {
  static RealSurroundings machine;
  return machine;
}

}  // namespace gripstream
