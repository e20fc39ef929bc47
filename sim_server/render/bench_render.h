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
  std::vector<std::string> stereo = {"stereo_left", "stereo_right"};
  int threads = 2;        // for the scaling row
  int samples = 5;        // of each figure
  double sample_s = 0.3;  // least length of a sample
  int environments = 256;
  // The pose that environments vary, for models with as many numbers; others start from key frame 0. Default: the arm
  // and hand of envs/assets closed about the object, so that both are in the depth camera's view.
  std::vector<double> qpos = {0.944, -0.26, 1.77,  -1.982, 1.389, 0.496, 0.968, 0,     0.644, 0.461,
                              0.69,  0,     0.644, 0.461,  0.69,  0,     0.644, 0.461, 0.69,  1.442,
                              0.608, 0.776, 0.346, -0.55,  0.1,   0.275, 1,     0,     0,     0};
};

// `models`: the scenes' models; environment i uses model i modulo their number, posed near options.qpos.
std::vector<BenchRow> RenderBenchmark(std::span<const mjModel* const> models, const RenderBenchOptions& options);

}  // namespace gripstream
