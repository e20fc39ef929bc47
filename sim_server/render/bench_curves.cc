// The benchmark's rows of how cost grows with what there is to draw: geoms or triangles per second must not fall as
// their number grows.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "sim_server/render/bench_sampling.h"
#include "sim_server/render/cpu_renderer.h"
#include "sim_server/render/model_ptr.h"

namespace gripstream {
namespace {

// A scene that can be drawn again and again: its model, pose and renderer.
class StillScene {
 public:
  explicit StillScene(const std::string& xml) {
    char error[300] = "";
    mjSpec* spec = mj_parseXMLString(xml.c_str(), nullptr, error, sizeof error);
    GS_CHECK(spec, error);
    model_.reset(mj_compile(spec, nullptr));
    mj_deleteSpec(spec);
    GS_CHECK(model_, "a scene of the benchmark does not compile");
    data_.reset(mj_makeData(model_.get()));
    mj_kinematics(model_.get(), data_.get());
    mj_camlight(model_.get(), data_.get());
    RenderConfig config;
    config.width = 160, config.height = 120;
    const mjModel* models[] = {model_.get()};
    renderer_ = std::make_unique<CpuRenderer>(config, "c", models, 1, AvailableKernels().front());
    depth_.resize(size_t{160} * 120);
  }
  void Draw() {
    const SceneView view = ViewOf(model_.get(), data_.get());
    renderer_->Render({&view, 1}, {.depth_u16 = depth_.data()});
  }

 private:
  ModelPtr model_;
  DataPtr data_;
  std::unique_ptr<CpuRenderer> renderer_;
  std::vector<uint16_t> depth_;
};

std::string Scene(const std::string& assets, const std::string& bodies) {
  return "<mujoco><asset>" + assets + "</asset><worldbody><camera name='c' fovy='45'/>" + bodies +
         "</worldbody></mujoco>";
}

// Geoms about a dozen pixels across, all in view; of the types in turn.
std::string Geoms(const std::vector<std::string>& types, int count) {
  std::string bodies;
  Rng rng = RandomStream(4, "bench_curves").At(0, 0);
  for (int i = 0; i < count; ++i) {
    bodies += "<geom type='" + types[static_cast<size_t>(i) % types.size()] + "' size='.04 .03 .05' pos='" +
              std::to_string(rng.Uniform(-.45f, .45f)) + " " + std::to_string(rng.Uniform(-.32f, .32f)) + " " +
              std::to_string(rng.Uniform(-1.3f, -1.0f)) + "' euler='" + std::to_string(rng.Uniform(0, 360)) + " " +
              std::to_string(rng.Uniform(0, 360)) + " 0'/>";
  }
  return bodies;
}

// A rough height field of about so many triangles that fills most of the image.
std::string HeightField(int triangles) {
  const int side = static_cast<int>(std::sqrt(triangles / 2.0)) + 1;
  std::string elevation;
  Rng rng = RandomStream(5, "bench_curves").At(0, 0);
  for (int i = 0; i < side * side; ++i) elevation += std::to_string(rng.Uniform()) + " ";
  const std::string n = std::to_string(side);
  return "<hfield name='h' nrow='" + n + "' ncol='" + n + "' size='.6 .5 .02 .1' elevation='" + elevation + "'/>";
}

// What is counted per second, beside a tenth as much of it.
BenchRow Against(const RenderBenchOptions& options, const std::string& name, int count, const std::string& unit,
                 StillScene& scene, StillScene& tenth) {
  Pair pair = Alternate(
      options, ThreadSeconds, count, [&] { scene.Draw(); }, count / 10, [&] { tenth.Draw(); });
  pair.ours *= 1e-6, pair.peer *= 1e-6;
  return RowOf(name, pair, "ours, a tenth of them", 1, unit);
}

}  // namespace

std::vector<BenchRow> CurveRows(const RenderBenchOptions& options) {
  std::vector<BenchRow> rows;
  const std::vector<std::string> mixed = {"sphere", "box", "capsule", "cylinder", "ellipsoid"};
  const auto geoms = [&](const std::string& name, const std::vector<std::string>& types, int count) {
    StillScene scene(Scene("", Geoms(types, count))), tenth(Scene("", Geoms(types, count / 10)));
    rows.push_back(
        Against(options, std::to_string(count) + " " + name + " in view", count, "million geoms/s", scene, tenth));
  };
  for (const int count : {100, 1000}) {
    geoms("spheres", {"sphere"}, count);
    geoms("boxes", {"box"}, count);
  }
  geoms("geoms of all kinds", mixed, 2000);
  for (const int count : {20000, 200000}) {
    const std::string body = "<geom type='hfield' hfield='h' pos='0 0 -1.2'/>";
    StillScene scene(Scene(HeightField(count), body)), tenth(Scene(HeightField(count / 10), body));
    rows.push_back(Against(options, "a height field of " + std::to_string(count) + " triangles", count,
                           "million triangles/s", scene, tenth));
  }
  return rows;
}

}  // namespace gripstream
