#include "sim_server/render/bench_render.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numbers>

#include "core/error.h"
#include "core/rng.h"
#include "sim_server/render/bench_embree.h"
#include "sim_server/render/bench_sampling.h"
#include "sim_server/render/cpu_renderer.h"
#include "sim_server/render/model_ptr.h"
#include "sim_server/render/mujoco_renderer.h"

namespace gripstream {
namespace {

// The environments' poses: the base pose with every hinge and slide moved up to 0.15 rad or 5 cm within its range and
// free bodies up to 10 cm sideways.
class Scenes {
 public:
  Scenes(std::span<const mjModel* const> models, int count, const std::vector<double>& qpos) {
    for (int i = 0; i < count; ++i) {
      const mjModel* model = models[static_cast<size_t>(i) % models.size()];
      data_.emplace_back(mj_makeData(model));
      Move(*model, qpos, data_.back().get(), RandomStream(1, "bench_render").At(static_cast<uint32_t>(i), 0));
      views_.push_back(ViewOf(model, data_.back().get()));
    }
  }
  std::span<const SceneView> Views() const { return views_; }

 private:
  static void Move(const mjModel& model, const std::vector<double>& qpos, mjData* data, Rng rng) {
    if (model.nkey > 0) mj_resetDataKeyframe(&model, data, 0);
    if (static_cast<mjtSize>(qpos.size()) == model.nq) std::copy(qpos.begin(), qpos.end(), data->qpos);
    for (int j = 0; j < model.njnt; ++j) {
      mjtNum* q = data->qpos + model.jnt_qposadr[j];
      const mjtNum* range = model.jnt_range + 2 * j;
      if (model.jnt_type[j] == mjJNT_FREE) {
        q[0] += rng.Uniform(-0.1f, 0.1f);
        q[1] += rng.Uniform(-0.1f, 0.1f);
      } else if (model.jnt_type[j] != mjJNT_BALL) {
        *q += rng.Uniform(-1.0f, 1.0f) * (model.jnt_type[j] == mjJNT_HINGE ? 0.15f : 0.05f);
        if (model.jnt_limited[j]) *q = std::clamp(*q, range[0], range[1]);
      }
    }
    mj_kinematics(&model, data);
    mj_camlight(&model, data);
  }

  std::vector<DataPtr> data_;
  std::vector<SceneView> views_;
};

// A bumpy ball of 2,000 triangles.
struct Ball {
  std::vector<float> vertices;
  std::vector<int> faces;
};
Ball BumpyBall() {
  constexpr int kSlices = 40, kStacks = 26;
  Ball ball = {{0, 0, -0.06f, 0, 0, 0.06f}, {}};
  for (int i = 1; i < kStacks; ++i) {
    for (int j = 0; j < kSlices; ++j) {
      const double a = std::numbers::pi * (1.0 * i / kStacks - 0.5), b = 2 * std::numbers::pi * j / kSlices;
      const double r = 0.06 * (1 + 0.1 * std::sin(4 * b) * std::cos(a));
      for (const double x : {r * std::cos(a) * std::cos(b), r * std::cos(a) * std::sin(b), r * std::sin(a)}) {
        ball.vertices.push_back(static_cast<float>(x));
      }
    }
  }
  const auto at = [](int i, int j) { return 2 + (i - 1) * kSlices + j % kSlices; };
  const auto face = [&](int p, int q, int r) { ball.faces.insert(ball.faces.end(), {p, q, r}); };
  for (int j = 0; j < kSlices; ++j) {
    face(0, at(1, j + 1), at(1, j));
    face(1, at(kStacks - 1, j), at(kStacks - 1, j + 1));
    for (int i = 1; i + 1 < kStacks; ++i) {
      face(at(i, j), at(i, j + 1), at(i + 1, j));
      face(at(i, j + 1), at(i + 1, j + 1), at(i + 1, j));
    }
  }
  return ball;
}

// Twelve such balls over a plane: a scene of meshes.
ModelPtr MeshModel() {
  std::string xml =
      "<mujoco><worldbody><camera name='c' pos='0 -.6 .5' xyaxes='1 0 0 0 .64 .77' fovy='45'/>"
      "<geom type='plane' size='1 1 1'/>";
  for (int i = 0; i < 12; ++i) {
    xml += "<body name='b" + std::to_string(i) + "' pos='" + std::to_string(0.16 * (i % 4) - 0.24) + " " +
           std::to_string(0.16 * (i / 4) - 0.16) + " .06'><freejoint/></body>";
  }
  char error[300] = "";
  mjSpec* spec = mj_parseXMLString((xml + "</worldbody></mujoco>").c_str(), nullptr, error, sizeof error);
  GS_CHECK(spec, error);
  const Ball ball = BumpyBall();
  mjsMesh* mesh = mjs_addMesh(spec, nullptr);
  mjs_setName(mesh->element, "ball");
  mjs_setFloat(mesh->uservert, ball.vertices.data(), static_cast<int>(ball.vertices.size()));
  mjs_setInt(mesh->userface, ball.faces.data(), static_cast<int>(ball.faces.size()));
  for (int i = 0; i < 12; ++i) {
    mjsGeom* geom = mjs_addGeom(mjs_findBody(spec, ("b" + std::to_string(i)).c_str()), nullptr);
    geom->type = mjGEOM_MESH;
    mjs_setString(geom->meshname, "ball");
  }
  ModelPtr model(mj_compile(spec, nullptr));
  mj_deleteSpec(spec);
  GS_CHECK(model, "the benchmark's mesh scene does not compile");
  return model;
}

// The model with its first flat texture on every material that has none.
ModelPtr Textured(const mjModel& model) {
  ModelPtr copy(mj_copyModel(nullptr, &model));
  int texture = 0;
  while (texture < model.ntex && model.tex_type[texture] != mjTEXTURE_2D) ++texture;
  for (int i = 0; i < model.nmat && texture < model.ntex; ++i) {
    int& role = copy->mat_texid[i * mjNTEXROLE + mjTEXROLE_RGB];
    if (role < 0) role = texture;
  }
  return copy;
}

class Bench {
 public:
  Bench(std::span<const mjModel* const> models, const RenderBenchOptions& options)
      : models_(models.begin(), models.end()), options_(options), scenes_(models, options.environments, options.qpos) {}

  std::vector<BenchRow> Run() {
    // OSMesa's rasteriser would start threads of its own: one thread means one.
    setenv("LP_NUM_THREADS", "0", 0);
    for (const RenderKernels& kernels : AvailableKernels()) {
      const std::string name = kernels.name;
      if (name != "avx512" && name != "avx2") continue;
      const bool widest = name == "avx512";
      AddOsmesa(kernels, 160, 120, widest ? 150 : 60);
      AddEmbree(kernels, 160, 120, widest ? 25 : 10);
      if (kernels.render != AvailableKernels().front().render) continue;
      AddOsmesa(kernels, 64, 48, kReported);
      AddOsmesa(kernels, 320, 240, kReported);
    }
    AddThreads();
    AddPixels();
    AddMeshes();
    for (const BenchRow& row : CurveRows(options_)) rows_.push_back(row);
    AddColour();
    for (const BenchRow& row : NoiseRows(options_)) rows_.push_back(row);
    rows_.push_back(NotMeasured("depth 160x120 on an H200, millions/s", "1 million/s", 1, "no device"));
    return rows_;
  }

 private:
  static RenderConfig Config(int width, int height) {
    RenderConfig config;
    config.width = width, config.height = height;
    return config;
  }
  static std::string Size(int width, int height) { return std::to_string(width) + "x" + std::to_string(height); }

  std::unique_ptr<CpuRenderer> Ours(int width, int height, int threads, const RenderKernels& kernels) const {
    return std::make_unique<CpuRenderer>(Config(width, height), options_.camera, models_, threads, kernels);
  }
  std::function<void()> Work(BatchRenderer& renderer, int width, int height, size_t count) {
    constexpr size_t kLine = 64 / sizeof(uint16_t);  // images start at a cache line, as in a transport's slots
    depth_.resize(std::max(depth_.size(), scenes_.Views().size() * width * height + kLine));
    return [this, &renderer, count] {
      const size_t past = reinterpret_cast<uintptr_t>(depth_.data()) / sizeof(uint16_t) % kLine;
      renderer.Render(scenes_.Views().first(count), {.depth_u16 = depth_.data() + (kLine - past) % kLine});
    };
  }

  void AddOsmesa(const RenderKernels& kernels, int width, int height, double goal) {
    const std::string name = "depth " + Size(width, height) + ", 1 thread, " + kernels.name;
    try {
      const auto ours = Ours(width, height, 1, kernels);
      MujocoRenderer peer(Config(width, height), options_.camera, models_);
      const size_t few = std::min<size_t>(16, scenes_.Views().size());
      rows_.push_back(RowOf(
          name,
          Alternate(options_, ThreadSeconds, options_.environments, Work(*ours, width, height, scenes_.Views().size()),
                    static_cast<int>(few), Work(peer, width, height, few)),
          "MuJoCo OSMesa", goal));
    } catch (const RunError& error) {
      rows_.push_back(NotMeasured(name, "MuJoCo OSMesa", goal, error.what()));
    }
  }

  void AddEmbree(const RenderKernels& kernels, int width, int height, double goal) {
    const std::string name = "depth " + Size(width, height) + ", 1 thread, " + kernels.name;
    const auto peer = EmbreePeer::Make(*models_[0], options_.camera, Config(width, height));
    if (!peer) return rows_.push_back(NotMeasured(name, "Embree", goal, "built without libembree-dev"));
    const auto ours = Ours(width, height, 1, kernels);
    // Embree's scene is that of the first model: only its environments.
    std::vector<SceneView> views;
    for (const SceneView& view : scenes_.Views()) {
      if (view.model == models_[0] && views.size() < 32) views.push_back(view);
    }
    std::vector<float> image(static_cast<size_t>(width) * height);
    const auto cast = [&] {
      for (const SceneView& view : views) peer->Render(view, image.data());
    };
    rows_.push_back(
        RowOf(name,
              Alternate(options_, ThreadSeconds, options_.environments,
                        Work(*ours, width, height, scenes_.Views().size()), static_cast<int>(views.size()), cast),
              "Embree", goal));
  }

  void AddThreads() {
    const RenderKernels kernels = AvailableKernels().front();
    const auto one = Ours(160, 120, 1, kernels), many = Ours(160, 120, options_.threads, kernels);
    const size_t count = scenes_.Views().size();
    rows_.push_back(RowOf("depth 160x120, " + std::to_string(options_.threads) + " threads",
                          Alternate(options_, SteadySeconds, options_.environments, Work(*many, 160, 120, count),
                                    options_.environments, Work(*one, 160, 120, count)),
                          "ours, 1 thread", 0.9 * options_.threads));
  }

  // Cost no worse than linear in pixels: pixels per second must not fall as images grow.
  void AddPixels() {
    const RenderKernels kernels = AvailableKernels().front();
    const size_t count = scenes_.Views().size();
    const auto base = Ours(80, 60, 1, kernels);
    for (const int scale : {2, 4}) {
      const auto large = Ours(80 * scale, 60 * scale, 1, kernels);
      Pair pair = Alternate(options_, ThreadSeconds, options_.environments, Work(*large, 80 * scale, 60 * scale, count),
                            options_.environments, Work(*base, 80, 60, count));
      pair.ours *= 4800e-6 * scale * scale;
      pair.peer *= 4800e-6;
      rows_.push_back(RowOf("pixels per second at " + Size(80 * scale, 60 * scale), pair, "ours at 80x60", 1.0,
                            "million pixels/s"));
    }
  }

  // A pair of cameras in colour, without shadows for both.
  void AddColour() {
    std::vector<ModelPtr> textured;
    std::vector<const mjModel*> models;
    for (const mjModel* model : models_) models.push_back(textured.emplace_back(Textured(*model)).get());
    RenderBenchOptions options = options_;
    options.environments = std::min(options.environments, 8);
    Bench inner(models, options);
    inner.AddStereo();
    rows_.push_back(inner.rows_.back());
    for (const BenchRow& row : AugmentRows(options, models, inner.scenes_.Views())) rows_.push_back(row);
  }

  void AddStereo() {
    const std::string name = "stereo colour 2 x 320x240, textured, 1 thread";
    try {
      RenderConfig config = Config(320, 240);
      config.colour = true;
      std::vector<std::unique_ptr<BatchRenderer>> ours, theirs;
      for (const std::string& camera : options_.stereo) {
        ours.push_back(std::make_unique<CpuRenderer>(config, camera, models_, 1, AvailableKernels().front()));
        theirs.push_back(std::make_unique<MujocoRenderer>(config, camera, models_, MujocoRenderer::Shadows::kNone));
      }
      std::vector<uint8_t> rgb(scenes_.Views().size() * 3 * 320 * 240);
      const auto work = [&](const std::vector<std::unique_ptr<BatchRenderer>>& renderers) {
        return [&] {
          for (const auto& renderer : renderers) renderer->Render(scenes_.Views(), {.rgb = rgb.data()});
        };
      };
      const int images = static_cast<int>(options_.stereo.size() * scenes_.Views().size());
      rows_.push_back(RowOf(name, Alternate(options_, ThreadSeconds, images, work(ours), images, work(theirs)),
                            "MuJoCo OSMesa", 20));
    } catch (const RunError& error) {
      rows_.push_back(NotMeasured(name, "MuJoCo OSMesa", 20, error.what()));
    }
  }

  void AddMeshes() {
    const auto model = MeshModel();
    const mjModel* models[] = {model.get()};
    RenderBenchOptions options = options_;
    options.camera = "c";
    options.environments = std::min(options.environments, 32);
    Bench inner(models, options);
    inner.AddEmbree(AvailableKernels().front(), 160, 120, 2);
    inner.rows_.back().name = "24,000 triangles in 12 meshes, " + inner.rows_.back().name;
    rows_.push_back(inner.rows_.back());
  }

  std::vector<const mjModel*> models_;
  RenderBenchOptions options_;
  Scenes scenes_;
  std::vector<uint16_t> depth_;
  std::vector<BenchRow> rows_;
};

}  // namespace

std::vector<BenchRow> RenderBenchmark(std::span<const mjModel* const> models, const RenderBenchOptions& options) {
  GS_CHECK(!models.empty() && options.environments > 0 && options.samples > 0, "an empty benchmark");
  return Bench(models, options).Run();
}

}  // namespace gripstream
