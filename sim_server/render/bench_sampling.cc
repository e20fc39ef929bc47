#include "sim_server/render/bench_sampling.h"

#include <limits>

#include "core/clock.h"
#include "core/statistics.h"

namespace gripstream {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// Images per second of `work`, which makes `images` of them.
double Rate(double (*clock)(), double seconds, int images, const std::function<void()>& work) {
  const double start = clock();
  int done = 0;
  double elapsed = 0;
  do {
    work();
    done += images;
    elapsed = clock() - start;
  } while (elapsed < seconds);
  return done / elapsed;
}

}  // namespace

Pair Alternate(const RenderBenchOptions& options, double (*clock)(), int our_images, const std::function<void()>& ours,
               int peer_images, const std::function<void()>& peer) {
  ours();  // warm up
  peer();
  std::vector<double> a, b;
  for (int i = 0; i < options.samples; ++i) {
    a.push_back(Rate(clock, options.sample_s, our_images, ours));
    b.push_back(Rate(clock, options.sample_s, peer_images, peer));
  }
  return {Median(a), Median(b)};
}

BenchRow RowOf(const std::string& name, const Pair& pair, const std::string& peer_name, double goal,
               const std::string& unit) {
  return {name, pair.ours, pair.peer, peer_name, pair.ours / pair.peer, goal, unit, ""};
}

BenchRow NotMeasured(const std::string& name, const std::string& peer_name, double goal, const std::string& why) {
  return {name, kNotMeasured, kNotMeasured, peer_name, kNotMeasured, goal, "images/s", why};
}

}  // namespace gripstream
