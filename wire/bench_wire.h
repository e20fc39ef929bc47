// Throughput of the wire beside its limits: shm against the machine's memcpy, zmq against plain libzmq,
// compression with its filter against the same without.
//
// Each row takes about `seconds`: ours and the peer alternate in short rounds and medians are compared, so that a busy
// machine slows both alike. Both ends run as two threads of this process; shm still maps its segment twice, as two
// processes would. Not a measure of latency, nor of a network.
#pragma once

#include <vector>

#include "core/bench.h"

namespace gripstream {

std::vector<BenchRow> BenchWire(double seconds);

}  // namespace gripstream
