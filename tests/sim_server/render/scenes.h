// Scenes for the renderer's tests: the arm and hand with catalogue objects, random primitives, and mj_ray as the judge.
#pragma once

#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/rng.h"
#include "sim_server/render/camera.h"
#include "sim_server/render/model_ptr.h"
#include "sim_server/render/renderer.h"
#include "sim_server/render/scene_view.h"

namespace gripstream {

struct SpecDeleter {
  void operator()(mjSpec* s) const { mj_deleteSpec(s); }
};
using SpecPtr = std::unique_ptr<mjSpec, SpecDeleter>;

inline SpecPtr ParseAsset(const std::string& file) {
  char error[512] = "";
  SpecPtr spec(mj_parseXML((std::string(GRIPSTREAM_SOURCE_DIR "/envs/assets/") + file).c_str(), nullptr, error, 512));
  EXPECT_TRUE(spec) << error;
  return spec;
}

inline ModelPtr ModelFromText(const std::string& xml) {
  char error[512] = "";
  SpecPtr spec(mj_parseXMLString(xml.c_str(), nullptr, error, 512));
  EXPECT_TRUE(spec) << error << "\n" << xml;
  ModelPtr model(spec ? mj_compile(spec.get(), nullptr) : nullptr);
  EXPECT_TRUE(model) << (spec ? mjs_getError(spec.get()) : error);
  return model;
}

inline std::vector<std::string> CatalogueNames() {
  SpecPtr spec = ParseAsset("objects.xml");
  std::vector<std::string> names;
  mjsBody* world = mjs_findBody(spec.get(), "world");
  for (mjsElement* e = mjs_firstChild(world, mjOBJ_BODY, 0); e; e = mjs_nextChild(world, e, 0)) {
    names.emplace_back(mjs_getString(mjs_getName(e)));
  }
  return names;
}

// The arm and hand with the catalogue object in place of the model's own.
inline ModelPtr GraspModel(const std::string& object) {
  SpecPtr scene = ParseAsset("kuka_allegro.xml");
  SpecPtr catalogue = ParseAsset("objects.xml");
  mjsBody* body = mjs_findBody(scene.get(), "object");
  mjs_delete(scene.get(), mjs_firstChild(body, mjOBJ_GEOM, 0));
  mjsBody* source = mjs_findBody(catalogue.get(), object.c_str());
  for (mjsElement* e = mjs_firstChild(source, mjOBJ_GEOM, 0); e; e = mjs_nextChild(source, e, 0)) {
    const mjsGeom* from = mjs_asGeom(e);
    mjsGeom* to = mjs_addGeom(body, nullptr);
    to->type = from->type;
    to->alt = from->alt;
    std::copy_n(from->pos, 3, to->pos);
    std::copy_n(from->quat, 4, to->quat);
    std::copy_n(from->size, 3, to->size);
    std::copy_n(from->fromto, 6, to->fromto);
    std::copy_n(from->rgba, 4, to->rgba);
    to->group = from->group;
  }
  ModelPtr model(mj_compile(scene.get(), nullptr));
  EXPECT_TRUE(model) << mjs_getError(scene.get());
  return model;
}

// Every joint of the robot anywhere in its range, the object anywhere about the table in any orientation.
inline void RandomiseGrasp(const mjModel& model, mjData* data, Rng rng) {
  for (int i = 0; i < model.njnt; ++i) {
    mjtNum* q = data->qpos + model.jnt_qposadr[i];
    if (model.jnt_type[i] == mjJNT_FREE) {
      q[0] = rng.Uniform(-0.85f, -0.3f), q[1] = rng.Uniform(-0.3f, 0.5f), q[2] = rng.Uniform(0.26f, 0.5f);
      for (int k = 3; k < 7; ++k) q[k] = rng.Normal();
      mju_normalize4(q + 3);
    } else {
      const mjtNum* range = model.jnt_range + 2 * i;
      *q = range[0] + (range[1] - range[0]) * rng.Uniform();
    }
  }
  mj_kinematics(&model, data);
  mj_camlight(&model, data);
}

// The arm near its home pose, so that it is in the depth camera's view, and the object on or above the table.
inline void RandomiseNearHome(const mjModel& model, mjData* data, Rng rng) {
  mj_resetDataKeyframe(&model, data, 0);
  for (int i = 0; i < model.njnt; ++i) {
    mjtNum* q = data->qpos + model.jnt_qposadr[i];
    if (model.jnt_type[i] == mjJNT_FREE) {
      q[0] = rng.Uniform(-0.75f, -0.4f), q[1] = rng.Uniform(-0.15f, 0.3f), q[2] = rng.Uniform(0.26f, 0.4f);
      for (int k = 3; k < 7; ++k) q[k] = rng.Normal();
      mju_normalize4(q + 3);
    } else {
      *q = mju_clip(*q + rng.Uniform(-0.5f, 0.5f), model.jnt_range[2 * i], model.jnt_range[2 * i + 1]);
    }
  }
  mj_kinematics(&model, data);
  mj_camlight(&model, data);
}

struct Hit {
  double depth_m = 0;  // along the optical axis, 0 = none
  int geom = -1;
  double normal[3] = {0, 0, 0};  // optical frame
};

// What mj_ray sees through the centre of pixel (x, y), or through a point of it shifted by (dx, dy).
inline Hit RayHit(const mjModel& model, const mjData* data, int camera, const Projection& p, double x, double y,
                  double near_m, double far_m) {
  const double optical[3] = {(x + 0.5 - p.cx_px) / p.fx_px, (y + 0.5 - p.cy_px) / p.fy_px, 1.0};
  const double local[3] = {optical[0], -optical[1], -optical[2]};
  mjtNum ray[3], start[3], normal[3];
  mju_mulMatVec3(ray, data->cam_xmat + 9 * camera, local);
  // mj_ray sees everything from its start on: begin at the near plane.
  for (int i = 0; i < 3; ++i) start[i] = data->cam_xpos[3 * camera + i] + near_m * ray[i];
  const mjtByte groups[mjNGROUP] = {1, 1, 1, 0, 0, 0};
  Hit hit;
  // mj_ray wants no unit vector: the parameter is then the depth beyond the start.
  const mjtNum t = mj_ray(&model, data, start, ray, groups, 1, -1, &hit.geom, normal);
  if (t < 0 || t + near_m >= far_m) return {};
  hit.depth_m = t + near_m;
  mjtNum in_camera[3];
  mju_mulMatTVec3(in_camera, data->cam_xmat + 9 * camera, normal);
  hit.normal[0] = in_camera[0], hit.normal[1] = -in_camera[1], hit.normal[2] = -in_camera[2];
  return hit;
}

// One environment's images from one renderer.
struct Images {
  int width, height;
  std::vector<uint16_t> depth_u16;
  std::vector<float> depth;
  std::vector<int32_t> geom;
  std::vector<float> normals;

  Images(int w, int h) : width(w), height(h), depth_u16(Count()), depth(Count()), geom(Count()), normals(3 * Count()) {}
  size_t Count() const { return static_cast<size_t>(width) * height; }
  RenderTargets Targets() { return {depth_u16.data(), depth.data(), geom.data(), normals.data(), nullptr}; }
};

inline Images RenderScene(BatchRenderer& renderer, const RenderConfig& config, const mjModel& model,
                          const mjData* data) {
  Images images(config.width, config.height);
  const SceneView view = ViewOf(&model, data);
  renderer.Render({&view, 1}, images.Targets());
  return images;
}

// How an image compares with mj_ray, pixel by pixel.
struct RayComparison {
  int pixels = 0;
  int wrong_depth = 0;  // by more than 0.1 mm
  int wrong_geom = 0;
  int wrong_normal = 0;  // by more than 1 degree, where depth and geom are right
  std::string first;     // the first wrong depth, for the message
};

inline void CompareWithRays(const Images& images, const mjModel& model, const mjData* data, const std::string& camera,
                            const RenderConfig& config, RayComparison* sum) {
  const int id = FindCamera(model, camera);
  const Projection p = ProjectionOf(model, id, config.width, config.height);
  for (int y = 0; y < config.height; ++y) {
    for (int x = 0; x < config.width; ++x) {
      const Hit hit = RayHit(model, data, id, p, x, y, config.near_m, config.far_m);
      const size_t at = static_cast<size_t>(y) * config.width + x;
      ++sum->pixels;
      if (!(std::abs(hit.depth_m - images.depth[at]) <= 1e-4)) {
        if (sum->wrong_depth++ == 0) {
          sum->first = "pixel " + std::to_string(x) + "," + std::to_string(y) + ": ray " + std::to_string(hit.depth_m) +
                       " m geom " + std::to_string(hit.geom) + ", image " + std::to_string(images.depth[at]) +
                       " m geom " + std::to_string(images.geom[at]);
        }
        continue;
      }
      if (hit.geom != images.geom[at]) {
        ++sum->wrong_geom;
        continue;
      }
      double cosine = hit.geom < 0 ? 1.0 : 0.0;
      for (int i = 0; i < 3; ++i) cosine += hit.normal[i] * images.normals[3 * at + i];
      if (!(cosine > 0.99985)) ++sum->wrong_normal;
    }
  }
}

}  // namespace gripstream
