// How the renderer's benchmark measures: two figures in turn, medians of their samples.
//
// One-thread figures count the calling thread's processor time, so that other load on the machine hardly counts; those
// of several threads the wall clock. For the benchmark's files only. Nothing throws but what the work throws.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/bench.h"
#include "core/clock.h"
#include "sim_server/render/bench_render.h"
#include "sim_server/render/scene_view.h"

namespace gripstream {

inline constexpr double kReported = 0;  // the goal of a figure without one

// Per second of either.
struct Pair {
  double ours, peer;
};
// `ours` makes our_count of what is counted in a call, `peer` peer_count.
Pair Alternate(const RenderBenchOptions& options, double (*clock)(), int our_count, const std::function<void()>& ours,
               int peer_count, const std::function<void()>& peer);

BenchRow RowOf(const std::string& name, const Pair& pair, const std::string& peer_name, double goal,
               const std::string& unit = "images/s");
BenchRow NotMeasured(const std::string& name, const std::string& peer_name, double goal, const std::string& why);

// The rows of bench_noise.cc, bench_curves.cc and bench_augment.cc.
std::vector<BenchRow> NoiseRows(const RenderBenchOptions& options);
std::vector<BenchRow> CurveRows(const RenderBenchOptions& options);
std::vector<BenchRow> AugmentRows(const RenderBenchOptions& options, std::span<const mjModel* const> models,
                                  std::span<const SceneView> views);

}  // namespace gripstream
