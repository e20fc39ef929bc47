// What the wire tests share: a small record layout with content that can be checked, and both ends over each transport.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/wire/nccl_double.h"
#include "wire/curve_keys.h"
#include "wire/nccl_line.h"
#include "wire/transport.h"

namespace gripstream {

inline std::vector<TensorSpec> TestSpecs() {
  return {{"obs.joints", DType::kFloat32, {7}, "rad", 1.0},
          {"obs.depth", DType::kUint16, {12, 16}, "m", 1e-4},
          {"env_id", DType::kInt64, {}, "", 1.0},
          {"done", DType::kUint8, {}, "", 1.0}};
}

// Fills every tensor with numbers that follow from (sequence, first environment, position).
inline void FillRecord(const Layout& layout, std::span<std::byte> record, uint64_t sequence) {
  const RecordHeader& header = Layout::Header(record);
  const std::span<float> joints = layout.View<float>(record, "obs.joints");
  for (size_t i = 0; i < joints.size(); ++i) joints[i] = static_cast<float>(sequence * 1000 + i) * 0.5f;
  const std::span<uint16_t> depth = layout.View<uint16_t>(record, "obs.depth");
  for (size_t i = 0; i < depth.size(); ++i) depth[i] = static_cast<uint16_t>(sequence * 31 + i);
  const std::span<int64_t> ids = layout.View<int64_t>(record, "env_id");
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(header.env_begin + i);
  for (uint8_t& done : layout.View<uint8_t>(record, "done")) done = static_cast<uint8_t>(sequence % 3);
}

// Whether `received` holds exactly what FillRecord wrote.
inline bool HoldsRecord(const Layout& layout, const Received& received, uint64_t sequence) {
  std::vector<uint64_t> storage(layout.Bytes() / 8);
  const std::span<std::byte> expected(reinterpret_cast<std::byte*>(storage.data()), layout.Bytes());
  std::memcpy(expected.data(), &received.header, sizeof(RecordHeader));
  FillRecord(layout, expected, sequence);
  for (const char* name : {"obs.joints", "obs.depth", "env_id", "done"}) {
    const size_t offset = layout.Offset(layout.Index(name));
    const size_t bytes = layout.TensorBytes(layout.Index(name));
    if (std::memcmp(expected.data() + offset, received.record.data() + offset, bytes) != 0) return false;
  }
  return received.header.sequence == sequence;
}

inline int FreeTcpPort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), bytes), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  close(fd);
  return ntohs(address.sin_port);
}

// A folder of its own for sockets, gone at the end.
class SocketFolder {
 public:
  SocketFolder() {
    char path[] = "/tmp/gripstream_wire_XXXXXX";
    path_ = mkdtemp(path);
  }
  ~SocketFolder() { std::filesystem::remove_all(path_); }  // a killed listener leaves its socket's file
  const std::string& Path() const { return path_; }

 private:
  std::string path_;
};

// Configuration of a transport, by the name the tests give it.
inline WireConfig ConfigFor(const std::string& kind, const std::string& folder) {
  static std::atomic<int> count = 0;
  WireConfig config;
  config.deadline_s = 10;
  config.heartbeat_s = 0.1;
  if (kind == "inproc") {
    config.transport = "inproc";
    config.address = "test " + std::to_string(++count);
  } else if (kind == "shm") {
    config.address = folder + "/shm.sock";
  } else if (kind == "shm_abstract") {
    config.address = "@gripstream_test_" + std::to_string(getpid()) + "_" + std::to_string(++count);
  } else if (kind == "zmq_ipc") {
    config.transport = "zmq";
    config.address = "ipc://" + folder + "/zmq.sock";
  } else {
    config.transport = "zmq";
    config.address = "tcp://127.0.0.1:" + std::to_string(FreeTcpPort());
    if (kind == "zmq_curve") {
      config.curve.keys = folder + "/keys";
      if (!std::filesystem::exists(config.curve.keys)) MakeKeyFolder(config.curve.keys);
    }
    if (kind == "zmq_lz4") config.compression = "lz4";
    if (kind == "zmq_zstd") config.compression = "zstd";
    if (kind.starts_with("nccl")) config.transport = kind;
  }
  return config;
}

inline Join JoinFor(int env_begin, int env_count, const std::string& name) {
  Join join;
  join.run_id = "run";
  join.config_hash = 77;
  join.env_begin = static_cast<uint32_t>(env_begin);
  join.env_count = static_cast<uint32_t>(env_count);
  join.name = name;
  return join;
}

inline LearnerOptions OptionsFor(int total_envs) {
  return {"run", TestSpecs(), 77, total_envs};
}

// Transports that a configuration cannot name: "nccl_double" is nccl over the test double of NCCL.
inline std::shared_ptr<NcclDouble> Double() {
  static const auto api = std::make_shared<NcclDouble>();
  return api;
}

inline std::unique_ptr<LearnerEnd> Listen(const WireConfig& config, const LearnerOptions& options) {
  if (config.transport != "nccl_double") return ListenForSimulators(config, options);
  return std::make_unique<LearnerEnd>(config, options, MakeNcclHub(config, Double()));
}

inline std::unique_ptr<SimulatorEnd> ConnectTo(const WireConfig& config, const Join& join, const Layout& layout,
                                               Deadline deadline) {
  if (config.transport != "nccl_double") return ConnectToLearner(config, join, layout, deadline);
  return std::make_unique<SimulatorEnd>(config, join, layout,
                                        MakeNcclLine(config, ShapeOf(config, join, layout), Double()), deadline);
}

// Why this machine cannot run a transport; empty when it can.
inline std::string WhyNot(const std::string& kind) {
  if (kind != "nccl") return "";
  try {
    LoadNccl();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// The message of the exception that `body` throws, or "" when it does not throw.
template <class Exception, class Body>
std::string MessageOf(Body body) {
  try {
    body();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace gripstream
