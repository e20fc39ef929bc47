#include "sim_server/render/colour.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gripstream {
namespace {

Rgb operator*(Rgb a, Rgb b) {
  return {a.r * b.r, a.g * b.g, a.b * b.b};
}
Rgb operator*(float k, Rgb a) {
  return {k * a.r, k * a.g, k * a.b};
}
Rgb operator+(Rgb a, Rgb b) {
  return {a.r + b.r, a.g + b.g, a.b + b.b};
}
Rgb ToRgb(const float v[3]) {
  return {v[0], v[1], v[2]};
}
float F(double x) {
  return static_cast<float>(x);
}

uint8_t ToByte(float x) {
  return static_cast<uint8_t>(std::clamp(x, 0.0f, 1.0f) * 255.0f + 0.5f);
}

// Attenuation by distance and spot cone.
float Reach(const mjvLight& light, bool directional, Point from_light, Point direction) {
  if (directional) return 1;
  const double distance = std::sqrt(Dot(from_light, from_light));
  const float* a = light.attenuation;
  float reach = 1.0f / std::max(1e-6f, a[0] + F(distance) * (a[1] + F(distance) * a[2]));
  if (light.type == mjLIGHT_SPOT && !light.headlight && light.cutoff < 180) {
    const double cosine = Dot(Unit(from_light), direction);
    if (cosine < std::cos(light.cutoff * std::numbers::pi / 180)) return 0;
    reach *= std::pow(F(cosine), light.exponent);
  }
  return reach;
}

}  // namespace

ColourShader::ColourShader(const mjModel& model, TextureLibrary* library) {
  // MuJoCo itself says which colour, material and lights its renderer would use.
  mjvScene scene;
  mjvOption option;
  mjvCamera camera;
  mjv_defaultScene(&scene);
  mjv_defaultOption(&option);
  mjv_defaultCamera(&camera);
  mjv_makeScene(&model, &scene, static_cast<int>(model.ngeom) + 100);
  mjData* data = mj_makeData(&model);
  mj_forward(&model, data);
  mjv_updateScene(&model, data, &option, nullptr, &camera, mjCAT_STATIC | mjCAT_DYNAMIC, &scene);
  materials_.assign(static_cast<size_t>(model.ngeom), {{0.5f, 0.5f, 0.5f}, 0, 0.5f, 0.5f, nullptr, {1, 1, 1}});
  for (int i = 0; i < scene.ngeom; ++i) {
    if (scene.geoms[i].objtype == mjOBJ_GEOM) AddMaterial(model, scene.geoms[i], library);
  }
  lights_.assign(scene.lights, scene.lights + scene.nlight);
  for (int i = 0; i < model.ntex; ++i) {
    if (model.tex_type[i] == mjTEXTURE_SKYBOX) sky_ = library->Add(model, i);
  }
  mj_deleteData(data);
  mjv_freeScene(&scene);
}

void ColourShader::AddMaterial(const mjModel& model, const mjvGeom& geom, TextureLibrary* library) {
  const int texture = geom.matid >= 0 ? model.mat_texid[geom.matid * mjNTEXROLE + mjTEXROLE_RGB] : -1;
  Material material = {ToRgb(geom.rgba),
                       geom.emission,
                       geom.specular,
                       geom.shininess,
                       texture >= 0 ? library->Add(model, texture) : nullptr,
                       {1, 1, 1}};
  for (int k = 0; k < 3; ++k) {
    const float size = F(model.geom_size[3 * geom.objid + k]);
    const float per_size = geom.texuniform || !(size > 0) ? 1.0f : 1.0f / size;
    material.scale[k] =
        k < 2 && material.texture && !material.texture->IsCube() ? 0.5f * per_size * geom.texrepeat[k] : per_size;
  }
  materials_[static_cast<size_t>(geom.objid)] = material;
}

Rgb ColourShader::TextureOf(const Material& material, const SurfacePoint& point, const View& view,
                            double depth_m) const {
  const float x = F(point.local.x) * material.scale[0], y = F(point.local.y) * material.scale[1];
  if (material.texture->IsCube()) return material.texture->LookCube(x, y, F(point.local.z) * material.scale[2]);
  // Texels across a pixel, by the side of it that a slant does not stretch: sharp, as anisotropic filters make it.
  const float texels = F(depth_m / view.fx) * std::min(material.scale[0] * F(material.texture->Width()),
                                                       material.scale[1] * F(material.texture->Height()));
  return material.texture->Look(x - 0.5f, -y - 0.5f, texels);
}

Rgb ColourShader::Sky(const View& view, const SceneJob& scene, int x, int y) const {
  if (!sky_) return {0, 0, 0};
  const Point d =
      TransposedTimes(scene.optical_from_world, {(x + 0.5 - view.cx) / view.fx, (y + 0.5 - view.cy) / view.fy, 1.0});
  return sky_->LookCube(F(d.x), F(d.z), F(-d.y));
}

void ColourShader::AddLight(const PlacedLight& placed, const Material& material, const SurfacePoint& point,
                            Point to_eye, Rgb* sum) {
  const mjvLight& light = *placed.light;
  const Point from_light = point.world - placed.position;
  const float reach = Reach(light, placed.directional, from_light, placed.direction);
  if (reach <= 0) return;
  const Point to_light = placed.directional ? -1.0 * placed.direction : Unit(-1.0 * from_light);
  const float facing = F(Dot(point.normal, to_light));
  *sum = *sum + reach * (ToRgb(light.ambient) * material.colour);
  if (facing <= 0) return;
  *sum = *sum + reach * facing * (ToRgb(light.diffuse) * material.colour);
  if (material.specular <= 0) return;
  const float half = F(Dot(point.normal, Unit(to_light + to_eye)));
  if (half > 0) {
    *sum = *sum + reach * material.specular * std::pow(half, 128 * material.shininess) * ToRgb(light.specular);
  }
}

int ColourShader::Place(const SceneJob& scene, const double* light_xpos, const double* light_xdir,
                        PlacedLight* placed) const {
  int count = 0;
  for (const mjvLight& light : lights_) {
    Point position = {light.pos[0], light.pos[1], light.pos[2]}, direction = {light.dir[0], light.dir[1], light.dir[2]};
    if (light.headlight) {
      position = {scene.camera_xpos[0], scene.camera_xpos[1], scene.camera_xpos[2]};
      direction = TransposedTimes(scene.optical_from_world, {0, 0, 1});
    } else if (light_xpos && light_xdir) {
      const double* p = light_xpos + 3 * light.id;
      const double* d = light_xdir + 3 * light.id;
      position = {p[0], p[1], p[2]}, direction = {d[0], d[1], d[2]};
    }
    placed[count++] = {position, direction, light.type == mjLIGHT_DIRECTIONAL, &light};
  }
  return count;
}

void ColourShader::Shade(const View& view, const SceneJob& scene, const Canvas& canvas, const double* light_xpos,
                         const double* light_xdir, uint8_t* rgb) const {
  const Point eye = {scene.camera_xpos[0], scene.camera_xpos[1], scene.camera_xpos[2]};
  PlacedLight placed[mjMAXLIGHT];
  const int count = Place(scene, light_xpos, light_xdir, placed);
  const auto lit = [&](const SurfacePoint& point, double depth_m) {
    const Material& material = materials_[static_cast<size_t>(point.geom->id)];
    const Point to_eye = Unit(eye - point.world);
    Rgb sum = material.emission * material.colour;
    for (int i = 0; i < count; ++i) AddLight(placed[i], material, point, to_eye, &sum);
    return material.texture ? sum * TextureOf(material, point, view, depth_m) : sum;
  };
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      SurfacePoint point;
      const bool hit = PointAt(view, scene, canvas, x, y, &point);
      const int64_t at = static_cast<int64_t>(y) * canvas.stride + x;
      const Rgb colour = hit ? lit(point, 1.0 / canvas.inverse_depth[at]) : Sky(view, scene, x, y);
      uint8_t* out = rgb + 3 * (static_cast<int64_t>(y) * view.width + x);
      out[0] = ToByte(colour.r), out[1] = ToByte(colour.g), out[2] = ToByte(colour.b);
    }
  }
}

}  // namespace gripstream
