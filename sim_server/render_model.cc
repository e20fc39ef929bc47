#include "sim_server/render_model.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/error.h"
#include "core/rng.h"
#include "envs/catalogue.h"
#include "sim_server/render/contact_sheet.h"
#include "sim_server/render/image_io.h"
#include "sim_server/render/model_ptr.h"
#include "sim_server/render/renderer.h"

namespace gripstream {
namespace {

// One image of every modality, [H, W] each.
struct Images {
  explicit Images(size_t pixels) : depth(pixels), segmentation(pixels), normals(3 * pixels), rgb(3 * pixels) {}
  std::vector<uint16_t> depth;
  std::vector<int32_t> segmentation;
  std::vector<float> normals;
  std::vector<uint8_t> rgb;
};

void Check(const RenderModelOptions& options) {
  std::vector<std::string> known = {"depth", "rgb", "seg"};
  if (options.backend != "mujoco") known.push_back("normals");
  for (const std::string& name : options.modalities) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw InputError("command line", "--modalities", name,
                       known.size() > 3 ? "depth, rgb, seg or normals" : "depth, rgb or seg with --backend mujoco");
    }
  }
  if (std::isnan(options.far_m)) throw InputError("command line", "--far", "nan", "a distance in metres");
}

std::string CameraOf(const mjModel& model, const RenderModelOptions& options) {
  if (!options.camera.empty()) return options.camera;
  if (model.ncam == 0) throw InputError(options.model, "has no camera to look through");
  const char* name = mj_id2name(&model, mjOBJ_CAMERA, 0);
  if (!name)
    throw InputError(options.model, "its first camera has no name: give it one, or choose another by --camera");
  return name;
}

// A colour of its own for every geom, far from its neighbours'.
std::vector<uint8_t> ColourIds(const std::vector<int32_t>& segmentation) {
  std::vector<uint8_t> rgb;
  for (const int32_t id : segmentation) {
    const uint64_t bits = id < 0 ? 0 : MixBits(static_cast<uint64_t>(id) + 1);
    for (int shift = 0; shift < 24; shift += 8) rgb.push_back(static_cast<uint8_t>(bits >> shift));
  }
  return rgb;
}

std::vector<uint8_t> ColourNormals(const std::vector<float>& normals) {
  std::vector<uint8_t> rgb;
  for (const float x : normals) rgb.push_back(static_cast<uint8_t>(127.5f * (x + 1.0f)));
  return rgb;
}

cv::Mat PictureOf(const std::string& modality, const Images& images, int width_px, int height_px) {
  if (modality == "depth") return ColourDepth(images.depth.data(), width_px, height_px);
  if (modality == "rgb") return FromRgb(images.rgb.data(), width_px, height_px);
  const std::vector<uint8_t> colours =
      modality == "seg" ? ColourIds(images.segmentation) : ColourNormals(images.normals);
  return FromRgb(colours.data(), width_px, height_px);
}

}  // namespace

void RenderModel(const RenderModelOptions& options) {
  Check(options);
  const SpecPtr spec = ParseModel(options.model);
  const ModelPtr model(CompileModel(spec.get(), options.model));
  const DataPtr data(mj_makeData(model.get()));
  if (model->nkey > 0) mj_resetDataKeyframe(model.get(), data.get(), 0);
  mj_forward(model.get(), data.get());

  RenderConfig config;
  config.width = options.width_px;
  config.height = options.height_px;
  config.backend = options.backend;
  config.far_m = options.far_m;
  const auto wanted = [&](const char* name) {
    return std::find(options.modalities.begin(), options.modalities.end(), name) != options.modalities.end();
  };
  config.colour = wanted("rgb");
  const std::string camera = CameraOf(*model, options);
  const mjModel* const models[] = {model.get()};
  const auto renderer = BatchRenderer::Make(config, camera, models, 1);
  Images images(static_cast<size_t>(config.width) * static_cast<size_t>(config.height));
  RenderTargets targets;
  if (wanted("depth")) targets.depth_u16 = images.depth.data();
  if (wanted("seg")) targets.segmentation = images.segmentation.data();
  if (wanted("normals")) targets.normals = images.normals.data();
  if (wanted("rgb")) targets.rgb = images.rgb.data();
  const SceneView scene = ViewOf(model.get(), data.get());
  renderer->Render({&scene, 1}, targets);

  ContactSheet sheet(static_cast<int>(options.modalities.size()));
  for (const std::string& modality : options.modalities) {
    sheet.Add(PictureOf(modality, images, config.width, config.height), camera + ": " + modality);
  }
  sheet.WritePng(options.output);
}

}  // namespace gripstream
