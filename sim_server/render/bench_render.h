// `gripstream bench render`: how fast depth images come out, beside MuJoCo's own renderer (OSMesa) and Embree.
//
// One-thread figures are images per second of the calling thread's processor time, so that other load on the machine
// hardly counts; figures of several threads are by the wall clock. Ours and the peer alternate and each figure is the
// median of its samples. Not to be used to compare machines of different load or clock. Throws what the renderers
// throw.
#pragma once

#include <mujoco/mujoco.h>

#include <span>
#include <string>
#include <vector>

#include "core/bench.h"

namespace gripstream {

struct RenderBenchOptions {
  std::string camera = "depth";
  int threads = 2;        // for the scaling row
  int samples = 5;        // of each figure
  double sample_s = 0.3;  // least length of a sample
  int environments = 256;
};

// `models`: the scenes' models; environment i uses model i modulo their number, posed near key frame 0 where it has
// one.
std::vector<BenchRow> RenderBenchmark(std::span<const mjModel* const> models, const RenderBenchOptions& options);

}  // namespace gripstream
