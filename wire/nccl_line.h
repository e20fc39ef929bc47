// The nccl transport: frames go over zmq, as ever, and records from device to device beside them.
//
//   learner welcomes -> invites (NCCL's id) -> both make the communicator -> per record: frame over zmq, bytes over
//   NCCL
//
// A simulator that is not welcome never costs a communicator or memory. A record's frame is delivered once its bytes
// are there, with the order of everything that its simulator said kept. No call waits for NCCL: what does not end
// within wire.deadline_s is aborted and told, as NCCL's own errors are. NCCL neither encrypts nor authenticates what it
// moves: wire.curve.keys protect the frames, the network has to protect the records.
//
// Tests give their own NcclApi; both ends keep it alive.
#pragma once

#include <memory>

#include "wire/line.h"
#include "wire/nccl_api.h"

namespace gripstream {

std::unique_ptr<SimulatorLine> MakeNcclLine(const WireConfig& config, const LineShape& shape,
                                            std::shared_ptr<NcclApi> api);
std::unique_ptr<LearnerHub> MakeNcclHub(const WireConfig& config, std::shared_ptr<NcclApi> api);

}  // namespace gripstream
