#include "sim_server/render/mujoco_renderer.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "sim_server/render/camera.h"

namespace gripstream {
namespace {

constexpr int kGlRgba = 0x1908;
constexpr int kGlUnsignedByte = 0x1401;

template <class Function>
Function Symbol(void* library, const char* name) {
  void* address = dlsym(library, name);
  if (!address) throw RunError(std::string("libOSMesa has no ") + name + ": reinstall the Debian package libosmesa6");
  return reinterpret_cast<Function>(address);
}

}  // namespace

class MujocoRenderer::GlContext {
 public:
  GlContext(int width, int height) : width_(width), height_(height), pixels_(size_t{4} * width * height) {
    // Global, because MuJoCo looks the OpenGL functions up among the symbols already loaded.
    for (const char* name : {"libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"}) {
      if ((library_ = dlopen(name, RTLD_NOW | RTLD_GLOBAL))) break;
    }
    if (!library_) {
      throw RunError("render.backend mujoco needs the library libOSMesa.so.8: install the Debian package libosmesa6");
    }
    make_current_ = Symbol<MakeCurrentFunction>(library_, "OSMesaMakeCurrent");
    destroy_ = Symbol<DestroyFunction>(library_, "OSMesaDestroyContext");
    const auto create = Symbol<void* (*)(unsigned, int, int, int, void*)>(library_, "OSMesaCreateContextExt");
    context_ = create(kGlRgba, 24, 8, 0, nullptr);
    if (!context_) throw RunError("OSMesa cannot make a context: out of memory?");
  }
  ~GlContext() {
    make_current_(nullptr, nullptr, 0, 0, 0);
    destroy_(context_);
  }
  GlContext(const GlContext&) = delete;
  GlContext& operator=(const GlContext&) = delete;

  void MakeCurrent() {
    if (!make_current_(context_, pixels_.data(), kGlUnsignedByte, width_, height_)) {
      throw RunError("OSMesa cannot draw an image of " + std::to_string(width_) + "x" + std::to_string(height_));
    }
  }
  // A context belongs to one thread at a time.
  void Release() { make_current_(nullptr, nullptr, 0, 0, 0); }

 private:
  using MakeCurrentFunction = unsigned char (*)(void*, void*, unsigned, int, int);
  using DestroyFunction = void (*)(void*);

  int width_, height_;
  std::vector<unsigned char> pixels_;
  void* library_ = nullptr;
  void* context_ = nullptr;
  MakeCurrentFunction make_current_ = nullptr;
  DestroyFunction destroy_ = nullptr;
};

struct MujocoRenderer::ModelContext {
  ModelContext(const mjModel& m, const std::string& camera_name, const RenderConfig& config)
      : model(m), data(mj_makeData(&m)) {
    camera_id = FindCamera(m, camera_name);
    projection = ProjectionOf(m, camera_id, config.width, config.height);
    mjv_defaultCamera(&camera);
    camera.type = mjCAMERA_FIXED;
    camera.fixedcamid = camera_id;
    mjv_defaultOption(&option);
    std::fill_n(option.sitegroup, mjNGROUP, mjtByte{0});
    std::fill_n(option.tendongroup, mjNGROUP, mjtByte{0});
    mjv_defaultScene(&scene);
    mjv_makeScene(&m, &scene, static_cast<int>(m.ngeom) + 100);
    mjr_defaultContext(&context);
    // MuJoCo reads the offscreen size and sampling from the model: one sample per pixel, as depth has to be exact.
    mjModel settings = m;
    settings.vis.global.offwidth = config.width;
    settings.vis.global.offheight = config.height;
    settings.vis.quality.offsamples = 0;
    mjr_makeContext(&settings, &context, mjFONTSCALE_100);
    mjr_setBuffer(mjFB_OFFSCREEN, &context);
    if (context.currentBuffer != mjFB_OFFSCREEN) throw RunError("MuJoCo cannot make an offscreen buffer with OSMesa");
    mj_forward(&m, data);
  }
  ~ModelContext() {
    mjr_freeContext(&context);
    mjv_freeScene(&scene);
    mj_deleteData(data);
  }
  ModelContext(const ModelContext&) = delete;
  ModelContext& operator=(const ModelContext&) = delete;

  // Puts the poses into the scene.
  void Update(const SceneView& view) {
    std::copy_n(view.geom_xpos, 3 * model.ngeom, data->geom_xpos);
    std::copy_n(view.geom_xmat, 9 * model.ngeom, data->geom_xmat);
    std::copy_n(view.cam_xpos, 3 * model.ncam, data->cam_xpos);
    std::copy_n(view.cam_xmat, 9 * model.ncam, data->cam_xmat);
    if (view.light_xpos && view.light_xdir) {
      std::copy_n(view.light_xpos, 3 * model.nlight, data->light_xpos);
      std::copy_n(view.light_xdir, 3 * model.nlight, data->light_xdir);
    }
    mjv_updateScene(&model, data, &option, nullptr, &camera, mjCAT_STATIC | mjCAT_DYNAMIC, &scene);
    if (view.intrinsics) SetProjection(view.intrinsics[camera_id]);
  }

  // The frustum that gives an image of the context's size these intrinsics.
  void SetProjection(const Projection& p) {
    for (mjvGLCamera& gl : scene.camera) {
      const double near = double{gl.frustum_near};
      gl.frustum_top = static_cast<float>(near * p.cy_px / p.fy_px);
      gl.frustum_bottom = static_cast<float>(-near * (context.offHeight - p.cy_px) / p.fy_px);
      gl.frustum_width = static_cast<float>(near * 0.5 * context.offWidth / p.fx_px);
      gl.frustum_center = static_cast<float>(near * (0.5 * context.offWidth - p.cx_px) / p.fx_px);
    }
  }

  // Moves the near and far planes.
  void SetClipping(double near_m, double far_m) {
    const float near = static_cast<float>(near_m);
    for (mjvGLCamera& gl : scene.camera) {
      const float scale = near / gl.frustum_near;
      gl.frustum_center *= scale;
      gl.frustum_width *= scale;
      gl.frustum_bottom *= scale;
      gl.frustum_top *= scale;
      gl.frustum_near = near;
      gl.frustum_far = static_cast<float>(far_m);
    }
  }

  const mjModel& model;
  mjData* data;
  int camera_id;
  Projection projection;
  mjvCamera camera;
  mjvOption option;
  mjvScene scene;
  mjrContext context;
};

namespace {

// Window depth to metres along the optical axis; 0 beyond far_m.
double ToMetres(double window, const mjrContext& context, const mjvGLCamera& camera, double far_m) {
  const double from_near = context.readDepthMap == mjDEPTH_ZEROFAR ? 1.0 - window : window;
  const double near = camera.frustum_near, far = camera.frustum_far;
  const double metres = near * far / (far - from_near * (far - near));
  return metres < far_m ? metres : 0.0;
}

enum class Pass { kColour, kPlainColour, kDepth, kSegmentation };  // plain: without shadows, reflections, haze

// Draws the scene and reads it back; null buffers are not read. MuJoCo's rows start at the bottom.
void DrawScene(mjvScene& scene, const mjrContext& context, Pass pass, int width, int height, unsigned char* rgb,
               float* depth) {
  // Sky, haze and shadows are for colour; the sky would even leave its own depth.
  const bool colour = pass == Pass::kColour || pass == Pass::kPlainColour;
  scene.flags[mjRND_SHADOW] = scene.flags[mjRND_REFLECTION] = pass == Pass::kColour ? 1 : 0;
  scene.flags[mjRND_SKYBOX] = colour ? 1 : 0;
  scene.flags[mjRND_HAZE] = pass == Pass::kColour ? 1 : 0;
  scene.flags[mjRND_SEGMENT] = scene.flags[mjRND_IDCOLOR] = pass == Pass::kSegmentation ? 1 : 0;
  const mjrRect viewport = {0, 0, width, height};
  mjr_render(viewport, &scene, &context);
  mjr_readPixels(rgb, depth, viewport, &context);
}

int32_t GeomOf(const unsigned char* rgb, const std::vector<int32_t>& geom_of_segment) {
  const int segment = rgb[0] + 256 * rgb[1] + 65536 * rgb[2] - 1;
  return segment >= 0 && segment < static_cast<int>(geom_of_segment.size()) ? geom_of_segment[segment] : -1;
}

std::vector<int32_t> GeomsBySegment(const mjvScene& scene) {
  std::vector<int32_t> geoms(static_cast<size_t>(scene.ngeom), -1);
  for (int i = 0; i < scene.ngeom; ++i) {
    const mjvGeom& geom = scene.geoms[i];
    if (geom.segid >= 0 && geom.objtype == mjOBJ_GEOM) geoms[static_cast<size_t>(geom.segid)] = geom.objid;
  }
  return geoms;
}

}  // namespace

MujocoRenderer::MujocoRenderer(const RenderConfig& config, const std::string& camera,
                               std::span<const mjModel* const> models, Shadows shadows)
    : config_(config), shadows_(shadows), gl_(std::make_unique<GlContext>(config.width, config.height)) {
  gl_->MakeCurrent();
  for (const mjModel* model : models) {
    if (!contexts_.contains(model)) contexts_[model] = std::make_unique<ModelContext>(*model, camera, config);
  }
  gl_->Release();
}

MujocoRenderer::~MujocoRenderer() {
  gl_->MakeCurrent();
  contexts_.clear();
}

// One scene into one image of each kind. Row y of the output, counted from the top, is row H - 1 - y of MuJoCo's
// buffers.
class MujocoRenderer::ImageWriter {
 public:
  ImageWriter(ModelContext& model, const RenderConfig& config)
      : model_(model),
        config_(config),
        width_(config.width),
        height_(config.height),
        rgb_(size_t{3} * width_ * height_),
        depth_(size_t{1} * width_ * height_) {}

  void Colour(Shadows shadows, uint8_t* out) {
    Draw(shadows == Shadows::kNone ? Pass::kPlainColour : Pass::kColour, rgb_.data(), nullptr);
    for (int y = 0; y < height_; ++y) std::copy_n(rgb_.data() + 3 * From(0, y), 3 * width_, out + 3 * At(0, y));
  }

  void Depth(uint16_t* u16, float* f32) {
    // Far somewhat beyond far_m: the cut there is then made on the depth itself, as in our renderer.
    model_.SetClipping(config_.near_m, 1.5 * config_.far_m);
    Draw(Pass::kDepth, nullptr, depth_.data());
    ForPixels([&](size_t at, size_t from) {
      const double z = ToMetres(depth_[from], model_.context, model_.scene.camera[0], config_.far_m);
      if (f32) f32[at] = static_cast<float>(z);
      if (u16) u16[at] = static_cast<uint16_t>(std::lround(z / kDepthQuantum_m));
    });
  }

  void Segmentation(int32_t* out) {
    model_.SetClipping(config_.near_m, config_.far_m);
    Draw(Pass::kSegmentation, rgb_.data(), nullptr);
    const std::vector<int32_t> geoms = GeomsBySegment(model_.scene);
    ForPixels([&](size_t at, size_t from) { out[at] = GeomOf(rgb_.data() + 3 * from, geoms); });
  }

 private:
  size_t At(int x, int y) const { return static_cast<size_t>(y) * width_ + x; }
  size_t From(int x, int y) const { return At(x, height_ - 1 - y); }
  void Draw(Pass pass, unsigned char* rgb, float* depth) {
    DrawScene(model_.scene, model_.context, pass, width_, height_, rgb, depth);
  }
  template <class Body>
  void ForPixels(Body body) const {
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x) body(At(x, y), From(x, y));
    }
  }

  ModelContext& model_;
  const RenderConfig& config_;
  int width_, height_;
  std::vector<unsigned char> rgb_;
  std::vector<float> depth_;
};

void MujocoRenderer::Render(std::span<const SceneView> scenes, const RenderTargets& targets) {
  GS_CHECK(!targets.normals, "MuJoCo's renderer has no normals");
  gl_->MakeCurrent();
  const int64_t pixels = int64_t{config_.width} * config_.height;
  for (size_t i = 0; i < scenes.size(); ++i) {
    const auto found = contexts_.find(scenes[i].model);
    GS_CHECK(found != contexts_.end(), "a scene of a model that the renderer was not made with");
    GS_CHECK(!scenes[i].appearance, "MuJoCo's renderer shows models as they are");
    found->second->Update(scenes[i]);
    ImageWriter image(*found->second, config_);
    const auto at = static_cast<int64_t>(i);
    if (targets.rgb) image.Colour(shadows_, targets.rgb.Image(at, 3 * pixels));
    if (targets.depth_u16 || targets.depth_f32) {
      image.Depth(targets.depth_u16.Image(at, pixels), targets.depth_f32.Image(at, pixels));
    }
    if (targets.segmentation) image.Segmentation(targets.segmentation.Image(at, pixels));
    if (targets.bodies) {
      int32_t* out = targets.bodies.Image(at, pixels);
      image.Segmentation(out);
      for (int64_t k = 0; k < pixels; ++k) {
        if (out[k] >= 0) out[k] = scenes[i].model->geom_bodyid[out[k]];
      }
    }
  }
  gl_->Release();
}

}  // namespace gripstream
