// The `wire` section of a run's configuration: which transport carries experience, where, and how patient both ends
// are. A plain value; read it with core/config.h.
#pragma once

#include <string>

#include "core/config.h"
#include "core/error.h"

namespace gripstream {

struct CurveConfig {
  std::string keys;

  void Fields(FieldVisitor& v) {
    v.String("keys", keys,
             {.doc = "folder of CURVE keys (gripstream keygen); needed for zmq addresses beyond this machine"});
  }
};

struct WireConfig {
  std::string transport = "shm";
  // inproc: any name. shm: a Unix socket path, or "@name" in the abstract namespace. zmq, nccl: "ipc:///path" or
  // "tcp://host:port", with a host beyond this machine only with wire.curve.keys. Empty: made from the run folder by
  // whoever starts the roles.
  std::string address;
  double deadline_s = 30;
  double patience_s = 900;
  double join_s = 120;
  double heartbeat_s = 1;
  int slots = 3;
  std::string compression = "none";
  CurveConfig curve;

  void Fields(FieldVisitor& v) {
    v.Choice("transport", transport, {"inproc", "shm", "zmq", "nccl"}, {.doc = "how experience reaches the learner"});
    v.String("address", address, {.doc = "where the learner listens; empty = inside the run folder"});
    v.Float("deadline_s", deadline_s, {.doc = "silence after which a peer counts as dead", .unit = "s"}, {0.05, 86400});
    v.Float("patience_s", patience_s,
            {.doc = "longest wait for the answer of a peer that is alive (a long update, a slow step)", .unit = "s"},
            {0.05, 864000});
    v.Float("join_s", join_s, {.doc = "longest wait for the roles to find each other at the start", .unit = "s"},
            {0.05, 86400});
    v.Float("heartbeat_s", heartbeat_s, {.doc = "time between signs of life", .unit = "s"}, {0.01, 3600});
    v.Int("slots", slots, {.doc = "records a simulator may have in flight"}, {1, 64});
    v.Choice("compression", compression, {"none", "lz4", "zstd"},
             {.doc = "lossless, for slow links; below which bandwidth it pays: gripstream bench wire"});
    v.Group("curve", curve, "encryption");
  }

  // Throws InputError on values that do not go together. `file` names the configuration in the message.
  void Check(const std::string& file = "configuration") const {
    if (!curve.keys.empty() && transport != "zmq" && transport != "nccl") {
      throw InputError(file, "wire.curve.keys", curve.keys,
                       "nothing with wire.transport " + transport + ", which stays on this machine");
    }
    if (compression != "none" && transport != "zmq") {
      throw InputError(file, "wire.compression", compression, "none with wire.transport " + transport);
    }
    if (heartbeat_s * 2 > deadline_s) {
      throw InputError(file, "wire.heartbeat_s", std::to_string(heartbeat_s),
                       "at most half of wire.deadline_s (" + std::to_string(deadline_s) + ")");
    }
  }
};

}  // namespace gripstream
