// What a run file says under `render:`: which cameras give which images of every environment. Plain values, no MuJoCo:
// every binary parses the whole run file.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"
#include "sim_server/render/augment_config.h"
#include "sim_server/render/camera_jitter_config.h"
#include "sim_server/render/config.h"
#include "sim_server/render/depth_noise_config.h"
#include "sim_server/render/stereo_matcher_config.h"
#include "sim_server/render/visual_random_config.h"

namespace gripstream {

// Stands for the value of task.camera in a list of cameras.
inline constexpr char kTaskCamera[] = "task.camera";

// One kind of image.
struct ModalityConfig {
  std::vector<std::string> cameras;
  int width = 0, height = 0;

  void Fields(FieldVisitor& v) {
    v.Strings("cameras", cameras,
              {.doc = "cameras in the order of the record's images; task.camera stands for that key's; empty: none"});
    v.Int("width", width, {.doc = "image width; 0: render.width", .unit = "px"}, {0, 4096});
    v.Int("height", height, {.doc = "image height; 0: render.height", .unit = "px"}, {0, 4096});
  }
};

struct DepthImagesConfig : ModalityConfig {
  std::string source = "rendered";

  DepthImagesConfig() { cameras = {kTaskCamera}; }
  void Fields(FieldVisitor& v) {
    ModalityConfig::Fields(v);
    v.Choice("source", source, {"rendered", "stereo_matcher"},
             {.doc = "the scene's depth, or what OpenCV's matcher makes of a stereo pair of colour images"});
  }
};

// Images that do not arrive: obs.depth and obs.rgb of all cameras at once are zeros.
struct OutageConfig {
  double share = 0, after_s = 0;

  bool Enabled() const { return share > 0 || after_s > 0; }
  void Fields(FieldVisitor& v) {
    v.Float("share", share, {.doc = "share of the steps without images, each drawn by itself"}, {0, 1});
    v.Float("after_s", after_s,
            {.doc = "from this time of each episode on there are none; 0: there always are", .unit = "s"}, {0, 3600});
  }
};

struct CamerasConfig : RenderConfig {
  DepthImagesConfig depth;
  ModalityConfig rgb, segmentation, bodies, normals;
  CameraJitterConfig jitter;
  VisualRandomConfig randomise;
  AugmentConfig augment;
  StereoMatcherConfig matcher;
  DepthNoiseConfig noise;
  OutageConfig outage;

  void Fields(FieldVisitor& v) {
    RenderConfig::Fields(v);
    v.Group("depth", depth, "depth images, obs.depth");
    v.Group("rgb", rgb, "colour images, obs.rgb");
    v.Group("segmentation", segmentation, "geom ids, obs.segmentation");
    v.Group("bodies", bodies, "body ids, obs.bodies");
    v.Group("normals", normals, "surface normals, obs.normals");
    v.Group("jitter", jitter, "cameras a little elsewhere, with other lenses, in every episode");
    v.Group("randomise", randomise, "another look in every episode, for colour images");
    v.Group("augment", augment, "colour images changed after rendering");
    v.Group("matcher", matcher, "the stereo pair of render.depth.source stereo_matcher");
    v.Group("noise", noise, "sensor noise of depth images");
    v.Group("outage", outage, "steps without images");
  }
};

}  // namespace gripstream
