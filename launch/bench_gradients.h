// What a gradient step costs two learners over a slow link, exact beside delayed by one minibatch
// (learner.gradient_delay).
//
//   bench process: SlowLink <-> two gripstream-bench processes, each a learner in a network of its own
//
// Both learners run PPO updates on random rollouts, exact and delayed in turn, over the same link. Needs root and
// /dev/net/tun: rows say so where they are missing. Call from the main thread.
#pragma once

#include <string>
#include <vector>

#include "core/bench.h"

namespace gripstream {

// About `seconds` for each of the figures compared.
std::vector<BenchRow> BenchGradients(double seconds);

// One of the two learners, in a process of its own: `folder` is where it meets the other and the relay. Learner 0
// writes the rows to FOLDER/rows.json.
void BenchGradientsLearner(int rank, const std::string& folder, double seconds);

}  // namespace gripstream
