// bench_cuda_render MODEL.xml CAMERA [ENVIRONMENTS]: depth and colour images per second on a CUDA device.
//
// Prints a line per image size: uint16 depth into a buffer on the device, the same with sensor noise, and into
// page-locked host memory, poses gathered from MuJoCo's arrays and uploaded for every image. Without a device it says
// so and succeeds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/cpus.h"
#include "core/error.h"
#include "core/rng.h"
#include "sim_server/render/cpu_renderer.h"
#include "sim_server/render/cuda/tile_renderer.h"
#include "sim_server/render/model_ptr.h"

namespace gripstream {
namespace {

// The model's first key frame with every hinge moved up to 0.35 rad, differently in each environment.
DataPtr Posed(const mjModel& model, uint32_t env) {
  DataPtr data(mj_makeData(&model));
  if (model.nkey > 0) mj_resetDataKeyframe(&model, data.get(), 0);
  Rng rng = RandomStream(1, "bench_cuda_render").At(env, 0);
  for (int j = 0; j < model.njnt; ++j) {
    if (model.jnt_type[j] == mjJNT_HINGE) data->qpos[model.jnt_qposadr[j]] += rng.Uniform(-0.35f, 0.35f);
  }
  mj_kinematics(&model, data.get());
  mj_camlight(&model, data.get());
  return data;
}

// Images per second, best of 5 runs of at least 0.5 s after a warm-up.
double Rate(BatchRenderer& renderer, std::span<const SceneView> scenes, const RenderTargets& targets) {
  using Clock = std::chrono::steady_clock;
  renderer.Render(scenes, targets);
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    const Clock::time_point start = Clock::now();
    double images = 0, elapsed_s = 0;
    while (elapsed_s < 0.5) {
      renderer.Render(scenes, targets);
      images += static_cast<double>(scenes.size());
      elapsed_s = std::chrono::duration<double>(Clock::now() - start).count();
    }
    best = std::max(best, images / elapsed_s);
  }
  return best;
}

void Measure(const mjModel& model, const char* camera, std::span<const SceneView> scenes, int width, int height,
             bool has_device) {
  if (!has_device) {
    std::printf("depth %dx%d: not measured: no device\n", width, height);
    return;
  }
  RenderConfig config;
  config.width = width, config.height = height;
  const mjModel* models[] = {&model};
  TileRenderer renderer(config, camera, models, AvailableCpus(), MakeCudaDevice());
  const size_t pixels = scenes.size() * width * height;
  const DeviceArray<uint16_t> device(renderer.Device(), MemorySide::kDevice, pixels);
  const DeviceArray<uint16_t> host(renderer.Device(), MemorySide::kHost, pixels);
  const double on_device = Rate(renderer, scenes, {.depth_u16 = device.data()});
  const double in_host = Rate(renderer, scenes, {.depth_u16 = host.data()});
  DepthNoiseConfig noise;
  noise.enabled = true;
  renderer.TakeDepthNoise(noise, 1);
  std::printf(
      "depth %dx%d, %zu environments: %.0f images/s into device memory, %.0f into host memory, %.0f with noise into "
      "device memory\n",
      width, height, scenes.size(), on_device, in_host, Rate(renderer, scenes, {.depth_u16 = device.data()}));
}

// Of up to 64 environments.
double ShareOfCpusColour(const mjModel& model, const char* camera, const RenderConfig& config, TileRenderer& renderer,
                         std::span<const SceneView> scenes) {
  scenes = scenes.first(std::min<size_t>(64, scenes.size()));
  const mjModel* models[] = {&model};
  const size_t values = scenes.size() * 3 * config.width * config.height;
  std::vector<uint8_t> ours(values), expected(values);
  renderer.Render(scenes, {.rgb = ours.data()});
  CpuRenderer(config, camera, models, AvailableCpus(), AvailableKernels().front())
      .Render(scenes, {.rgb = expected.data()});
  size_t near = 0;
  for (size_t i = 0; i < values; ++i) near += std::abs(ours[i] - expected[i]) <= 1;
  return static_cast<double>(near) / static_cast<double>(values);
}

void MeasureColour(const mjModel& model, const char* camera, std::span<const SceneView> scenes, int width, int height,
                   bool has_device) {
  if (!has_device) {
    std::printf("colour %dx%d: not measured: no device\n", width, height);
    return;
  }
  RenderConfig config;
  config.width = width, config.height = height, config.colour = true;
  const mjModel* models[] = {&model};
  TileRenderer renderer(config, camera, models, AvailableCpus(), MakeCudaDevice());
  const DeviceArray<uint8_t> device(renderer.Device(), MemorySide::kDevice, scenes.size() * 3 * width * height);
  std::printf(
      "colour %dx%d, %zu environments: %.0f images/s into device memory; %.3f %% of values within 1 of 255 of the CPU "
      "renderer's\n",
      width, height, scenes.size(), Rate(renderer, scenes, {.rgb = device.data()}),
      100 * ShareOfCpusColour(model, camera, config, renderer, scenes));
}

bool HasDevice() {
  try {
    MakeCudaDevice();
    return true;
  } catch (const InputError& error) {
    std::printf("%s\n", error.what());
    return false;
  }
}

int Main(int argc, char** argv) {
  if (argc < 3) throw InputError("command line", "usage: bench_cuda_render MODEL.xml CAMERA [ENVIRONMENTS]");
  char message[500] = "";
  const ModelPtr model(mj_loadXML(argv[1], nullptr, message, sizeof message));
  if (!model) throw InputError(argv[1], message);
  const int count = argc > 3 ? std::atoi(argv[3]) : 4096;
  if (count < 1) throw InputError("command line", "ENVIRONMENTS", argv[3], "at least 1");
  std::vector<DataPtr> data;
  std::vector<SceneView> scenes;
  for (int i = 0; i < count; ++i) {
    // Enough different poses that neighbouring images differ, few enough to be made in a moment.
    if (i < 256) data.push_back(Posed(*model, static_cast<uint32_t>(i)));
    scenes.push_back(ViewOf(model.get(), data[static_cast<size_t>(i) % data.size()].get()));
  }
  const bool has_device = HasDevice();
  for (const auto& [width, height] : {std::pair{64, 48}, {160, 120}, {320, 240}}) {
    Measure(*model, argv[2], scenes, width, height, has_device);
  }
  for (const auto& [width, height] : {std::pair{160, 120}, {320, 240}}) {
    MeasureColour(*model, argv[2], scenes, width, height, has_device);
  }
  return kExitOk;
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(gripstream::Main, argc, argv);
}
