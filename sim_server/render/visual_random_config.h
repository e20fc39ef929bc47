// What a user writes under `render.randomise:`. Plain values; no MuJoCo header. Pairs are [low, high] of a uniform
// draw.
//
// The ranges are those published for this task (paper_facts 2.10) where the lighting models allow it. Roughness is one
// minus MuJoCo's shininess, metals are left out, and light intensity spans the published ratio of 4 about the model's
// own, because MuJoCo's colours end at 1.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"

namespace gripstream {

struct VisualRandomConfig {
  bool enabled = false;
  std::string textures, backgrounds;
  double object_texture_probability = 1;
  std::vector<double> object_tint = {0, 1}, object_repeats_per_dm = {0.7, 5};
  std::vector<double> object_specular = {0, 1}, object_shininess = {0, 1};
  std::vector<std::string> robot;
  std::vector<double> robot_specular = {0, 1}, robot_shininess = {0, 0.8};
  std::vector<std::string> table = {"table"};
  double table_texture_probability = 1;
  std::vector<double> table_tint_low = {0.3, 0.2, 0.1}, table_tint_high = {0.6, 0.4, 0.2};
  std::vector<double> table_repeats_per_m = {0.7, 5};
  std::vector<double> table_specular = {0, 1}, table_shininess = {0.1, 0.7};
  double light_probability = 0.3;
  std::vector<double> light_intensity = {0.4, 1.6}, light_tint = {0.8, 1};
  double light_yaw_deg = 180, light_tilt_deg = 30;
  double background_probability = 0.3;

  void Fields(FieldVisitor& v) {
    v.Bool("enabled", enabled, {.doc = "whether colour images are randomised, anew for every episode"});
    v.String("textures", textures, {.doc = "folder of PNG and JPEG images for objects and table; empty: shipped ones"});
    v.String("backgrounds", backgrounds, {.doc = "folder of PNG and JPEG background images; empty: shipped ones"});
    ObjectFields(v);
    v.Strings("robot", robot, {.doc = "bodies that the robot hangs from; empty: all but the world and the object"});
    v.Floats("robot_specular", robot_specular, 2, {.doc = "strength of highlights"}, {0, 1});
    v.Floats("robot_shininess", robot_shininess, 2, {.doc = "sharpness of highlights"}, {0, 1});
    TableFields(v);
    v.Float("light_probability", light_probability, {.doc = "of an episode whose lights differ from the model's"},
            {0, 1});
    v.Floats("light_intensity", light_intensity, 2, {.doc = "factor on the lights"}, {0, 10});
    v.Floats("light_tint", light_tint, 2, {.doc = "further factor on red, green and blue each"}, {0, 10});
    v.Float("light_yaw_deg", light_yaw_deg, {.doc = "greatest turn of the lights about the vertical", .unit = "deg"},
            {0, 180});
    v.Float("light_tilt_deg", light_tilt_deg, {.doc = "greatest tilt of the lights", .unit = "deg"}, {0, 90});
    v.Float("background_probability", background_probability, {.doc = "of an episode before a background image"},
            {0, 1});
  }

 private:
  void ObjectFields(FieldVisitor& v) {
    v.Float("object_texture_probability", object_texture_probability, {.doc = "of a textured object"}, {0, 1});
    v.Floats("object_tint", object_tint, 2, {.doc = "red, green and blue each"}, {0, 1});
    v.Floats("object_repeats_per_dm", object_repeats_per_dm, 2, {.doc = "texture images", .unit = "1/dm"}, {0, 1000});
    v.Floats("object_specular", object_specular, 2, {.doc = "strength of highlights"}, {0, 1});
    v.Floats("object_shininess", object_shininess, 2, {.doc = "sharpness of highlights"}, {0, 1});
  }
  void TableFields(FieldVisitor& v) {
    v.Strings("table", table, {.doc = "geoms, bodies or materials that are the table; empty: none"});
    v.Float("table_texture_probability", table_texture_probability, {.doc = "of a textured table"}, {0, 1});
    v.Floats("table_tint_low", table_tint_low, 3, {.doc = "least red, green, blue"}, {0, 1});
    v.Floats("table_tint_high", table_tint_high, 3, {.doc = "greatest red, green, blue"}, {0, 1});
    v.Floats("table_repeats_per_m", table_repeats_per_m, 2, {.doc = "texture images", .unit = "1/m"}, {0, 1000});
    v.Floats("table_specular", table_specular, 2, {.doc = "strength of highlights"}, {0, 1});
    v.Floats("table_shininess", table_shininess, 2, {.doc = "sharpness of highlights"}, {0, 1});
  }
};

}  // namespace gripstream
