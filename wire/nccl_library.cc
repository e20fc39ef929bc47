// NCCL and the CUDA runtime as wire/nccl_api.h wants them, opened with dlopen: one program serves machines with and
// without them. The process's first visible device is used; launchers show every role only its own.
#include "wire/nccl_api.h"

#include "core/error.h"

#ifdef GRIPSTREAM_NCCL
#include <dlfcn.h>
#include <nccl.h>
#endif

#include <cstring>

namespace gripstream {
namespace {

[[noreturn]] void RefuseNccl(const std::string& why) {
  throw InputError("configuration", "wire.transport", "nccl", "inproc, shm or zmq: " + why);
}

#ifdef GRIPSTREAM_NCCL

constexpr const char* kNcclName = "libnccl.so.2";
constexpr const char* kCudaName = "libcudart.so.13";

// A function of a library, by name and with the type that its header declares.
template <class Function>
Function* Symbol(void* library, const char* library_name, const char* name) {
  void* address = dlsym(library, name);
  if (!address) RefuseNccl(std::string(library_name) + " has no " + name);
  return reinterpret_cast<Function*>(address);
}

void* Open(const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) RefuseNccl(dlerror());
  return library;
}

#define GS_NCCL(name) decltype(&::name) name = Symbol<decltype(::name)>(nccl, kNcclName, #name)
#define GS_CUDA(name) decltype(&::name) name = Symbol<decltype(::name)>(cuda, kCudaName, #name)

// Stays loaded to the end of the process.
struct Libraries {
  void* nccl = Open(kNcclName);
  void* cuda = Open(kCudaName);
  GS_NCCL(ncclGetUniqueId);
  GS_NCCL(ncclCommInitRankConfig);
  GS_NCCL(ncclCommGetAsyncError);
  GS_NCCL(ncclCommAbort);
  GS_NCCL(ncclGroupStart);
  GS_NCCL(ncclGroupEnd);
  GS_NCCL(ncclSend);
  GS_NCCL(ncclRecv);
  GS_NCCL(ncclGetErrorString);
  GS_NCCL(ncclGetLastError);
  GS_CUDA(cudaGetErrorString);
  GS_CUDA(cudaGetDeviceCount);
  GS_CUDA(cudaStreamCreateWithFlags);
  GS_CUDA(cudaStreamDestroy);
  GS_CUDA(cudaEventCreateWithFlags);
  GS_CUDA(cudaEventRecord);
  GS_CUDA(cudaEventQuery);
  GS_CUDA(cudaEventDestroy);
  // Overloaded in the header: the type is written out.
  cudaError_t (*cudaHostAlloc)(void**, size_t,
                               unsigned) = Symbol<cudaError_t(void**, size_t, unsigned)>(cuda, kCudaName,
                                                                                         "cudaHostAlloc");
  GS_CUDA(cudaFreeHost);
};

#undef GS_NCCL
#undef GS_CUDA

class NcclLibrary : public NcclApi {
 public:
  NcclLibrary() {
    int devices = 0;
    const cudaError_t result = lib_.cudaGetDeviceCount(&devices);
    if (result != cudaSuccess) RefuseNccl(std::string("CUDA says: ") + lib_.cudaGetErrorString(result));
    if (devices == 0) RefuseNccl("no GPU is visible to this process");
  }

  NcclId NewId() override {
    ncclUniqueId id;
    Check(lib_.ncclGetUniqueId(&id), "ncclGetUniqueId");
    NcclId copy;
    static_assert(sizeof(copy) == sizeof(id));
    std::memcpy(copy.data(), &id, sizeof(id));
    return copy;
  }

  void* StartComm(const NcclId& id, int ranks, int rank) override {
    ncclUniqueId nccl_id;
    std::memcpy(&nccl_id, id.data(), sizeof(nccl_id));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t comm = nullptr;
    Check(lib_.ncclCommInitRankConfig(&comm, ranks, nccl_id, rank, &config), "ncclCommInitRankConfig");
    return comm;
  }

  NcclState State(void* comm, std::string& problem) override {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = lib_.ncclCommGetAsyncError(static_cast<ncclComm_t>(comm), &state);
    if (asked != ncclSuccess) state = asked;
    if (state == ncclSuccess) return NcclState::kDone;
    if (state == ncclInProgress) return NcclState::kInProgress;
    problem = Words(state, static_cast<ncclComm_t>(comm));
    return NcclState::kFailed;
  }

  void Abort(void* comm) override { lib_.ncclCommAbort(static_cast<ncclComm_t>(comm)); }

  void GroupStart() override { Check(lib_.ncclGroupStart(), "ncclGroupStart"); }
  void GroupEnd() override { Check(lib_.ncclGroupEnd(), "ncclGroupEnd"); }
  void Send(std::span<const std::byte> from, int peer, void* comm, void* stream) override {
    Check(lib_.ncclSend(from.data(), from.size(), ncclUint8, peer, static_cast<ncclComm_t>(comm),
                        static_cast<cudaStream_t>(stream)),
          "ncclSend");
  }
  void Receive(std::span<std::byte> to, int peer, void* comm, void* stream) override {
    Check(lib_.ncclRecv(to.data(), to.size(), ncclUint8, peer, static_cast<ncclComm_t>(comm),
                        static_cast<cudaStream_t>(stream)),
          "ncclRecv");
  }

  void* NewStream() override {
    cudaStream_t stream = nullptr;
    CheckCuda(lib_.cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    return stream;
  }
  void FreeStream(void* stream) override { lib_.cudaStreamDestroy(static_cast<cudaStream_t>(stream)); }

  void* NewEvent(void* stream) override {
    cudaEvent_t event = nullptr;
    CheckCuda(lib_.cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    CheckCuda(lib_.cudaEventRecord(event, static_cast<cudaStream_t>(stream)), "cudaEventRecord");
    return event;
  }
  NcclState Query(void* event, std::string& problem) override {
    const cudaError_t result = lib_.cudaEventQuery(static_cast<cudaEvent_t>(event));
    if (result == cudaSuccess) return NcclState::kDone;
    if (result == cudaErrorNotReady) return NcclState::kInProgress;
    problem = lib_.cudaGetErrorString(result);
    return NcclState::kFailed;
  }
  void FreeEvent(void* event) override { lib_.cudaEventDestroy(static_cast<cudaEvent_t>(event)); }

  // Pinned and mapped: the roles' code writes and reads records on the host, and the device reaches them over its bus.
  std::byte* Allocate(size_t bytes) override {
    void* memory = nullptr;
    CheckCuda(lib_.cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
    std::memset(memory, 0, bytes);
    return static_cast<std::byte*>(memory);
  }
  void Free(std::byte* memory) override { lib_.cudaFreeHost(memory); }

 private:
  std::string Words(ncclResult_t result, ncclComm_t comm) const {
    return std::string(lib_.ncclGetErrorString(result)) + ": " + lib_.ncclGetLastError(comm);
  }
  void Check(ncclResult_t result, const char* call) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    throw RunError(std::string(call) + ": " + Words(result, nullptr));
  }
  void CheckCuda(cudaError_t result, const char* call) const {
    if (result != cudaSuccess) throw RunError(std::string(call) + ": " + lib_.cudaGetErrorString(result));
  }

  Libraries lib_;
};

#endif

}  // namespace

std::shared_ptr<NcclApi> LoadNccl() {
#ifdef GRIPSTREAM_NCCL
  return std::make_shared<NcclLibrary>();
#else
  RefuseNccl("this build has no NCCL (its headers were not found)");
#endif
}

}  // namespace gripstream
