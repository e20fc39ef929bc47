// What a user writes under `task:` and `physics:`. Plain values with the defaults of the shipped robot.
#pragma once

#include <string>
#include <vector>

#include "control/action_config.h"
#include "core/config.h"
#include "envs/grasp_config.h"
#include "envs/mesh_objects.h"

namespace gripstream {

// The names by which a task finds its way in a model. Any MJCF with actuators on its joints will do.
struct BindingConfig {
  std::vector<std::string> actuators;
  int arm_joints = 7;
  std::string palm_site = "palm";
  std::vector<std::string> tip_sites = {"index_tip", "middle_tip", "ring_tip", "thumb_tip"};
  std::vector<std::string> touch_sensors{};
  std::string object_body = "object";
  std::string home_key = "home";
  std::vector<double> servo_stiffness{}, servo_damping{};
  bool gravity_compensation = false;

  void Fields(FieldVisitor& v) {
    v.Strings("actuators", actuators, {.doc = "actuators in joint order; empty: all of the model"});
    v.Int("arm_joints", arm_joints, {.doc = "how many of them, from the first, move the palm; the rest are the hand"},
          {1, 32});
    v.String("palm_site", palm_site, {.doc = "site whose pose the palm_pose action commands"});
    v.Strings("tip_sites", tip_sites, {.doc = "fingertip sites"});
    v.Strings("touch_sensors", touch_sensors, {.doc = "touch sensors, for the critic; empty: all of the model"});
    v.String("object_body", object_body, {.doc = "free body that takes the catalogue object's geoms"});
    v.String("home_key", home_key, {.doc = "keyframe an episode starts from"});
    v.Floats("servo_stiffness", servo_stiffness, 0,
             {.doc = "joint servos in place of motors and velocity servos: one number for all of these, or one per "
                     "actuator, 0 keeping a position servo's own",
              .unit = "Nm/rad"},
             {0, 1e6});
    v.Floats("servo_damping", servo_damping, 0,
             {.doc = "of these servos, one number or one per actuator; empty or 0: critical", .unit = "Nms/rad"},
             {0, 1e6});
    v.Bool("gravity_compensation", gravity_compensation, {.doc = "the robot carries its own weight"});
  }
};

struct ReachConfig {
  double success_radius_m = 0.06;
  double distance_sharpness = 10.0;
  double weight_distance = 0.5, weight_aim = 0.5, weight_near = 0.5, weight_success = 0.0, weight_action_rate = 0.0;
  double wait_s = 0;

  void Fields(FieldVisitor& v) {
    v.Float("success_radius_m", success_radius_m, {.doc = "palm to object centre at the end", .unit = "m"}, {1e-3, 1});
    v.Float("distance_sharpness", distance_sharpness, {.doc = "k in exp(-k distance)", .unit = "1/m"}, {0, 1000});
    v.Float("weight_distance", weight_distance, {.doc = "of exp(-k |palm - object|), per step"});
    v.Float("weight_aim", weight_aim, {.doc = "of exp(-k |commanded palm - object|), per step"});
    v.Float("weight_near", weight_near, {.doc = "of 1 while the palm is within the success radius, per step"});
    v.Float("weight_success", weight_success, {.doc = "of 1 at the end of an episode that succeeded"});
    v.Float("weight_action_rate", weight_action_rate, {.doc = "of -mean((action - last action)^2), per step"});
    v.Float("wait_s", wait_s,
            {.doc = "for so long from the episode's start actions count as zeros: with render.outage.after_s, what was "
                    "seen meanwhile has to be remembered",
             .unit = "s"},
            {0, 3600});
  }
};

struct TaskConfig {
  std::string name = "reach", library;
  std::vector<std::string> settings;
  std::string model, catalogue;
  std::vector<std::string> objects = {"train"}, held_out_objects = {"heldout"};
  MeshesConfig meshes;
  std::string camera = "depth";
  int physics_hz = 120, decimation = 12, control_decimation = 2;
  double episode_s = 1.2;
  bool stagger = false;
  std::vector<double> spawn_center = {-0.55, 0.1}, spawn_size = {0.3, 0.4};
  double table_z_m = 0.25;
  double start_noise_rad = 0.05;
  BindingConfig binding;
  ActionConfig action;
  ReachConfig reach;
  GraspConfig grasp;
  CurriculumConfig curriculum;
  RandomiseConfig randomise;

  void Fields(FieldVisitor& v) {
    v.Choice("name", name, {"reach", "grasp", "library"}, {.doc = "task; library: your own (task.library)"});
    v.String("library", library, {.doc = "with name library: the shared library that holds the task"});
    v.Strings("settings", settings, {.doc = "with name library: what it is told, name=value each"});
    v.String("model", model, {.doc = "MJCF file; empty: the shipped KUKA iiwa 7 with Allegro hand"});
    v.String("catalogue", catalogue, {.doc = "MJCF file with one body per object; empty: the shipped one"});
    v.Strings(
        "objects", objects,
        {.doc = "objects by name, or train, heldout, all, meshes, heldout_meshes; empty: the model's own object"});
    v.Strings("held_out_objects", held_out_objects, {.doc = "objects of held-out evaluation; empty: there is none"});
    v.Group("meshes", meshes, "your own objects, beside the catalogue's");
    v.String("camera", camera, {.doc = "camera that the policy sees through"});
    v.Int("physics_hz", physics_hz, {.doc = "physics steps per second", .unit = "Hz"}, {1, 10000});
    v.Int("decimation", decimation, {.doc = "physics steps per policy step"}, {1, 10000});
    v.Int("control_decimation", control_decimation, {.doc = "physics steps per update of the joint targets"},
          {1, 10000});
    v.Float("episode_s", episode_s, {.doc = "length of an episode", .unit = "s"}, {1e-3, 3600});
    v.Bool("stagger", stagger,
           {.doc = "training's first episodes end at random times, so that a rollout shorter than an episode sees all "
                   "of its phases"});
    v.Floats("spawn_center", spawn_center, 2, {.doc = "middle of the spawn area, x y", .unit = "m"});
    v.Floats("spawn_size", spawn_size, 2, {.doc = "extent of the spawn area, x y", .unit = "m"}, {0, 10});
    v.Float("table_z_m", table_z_m, {.doc = "height on which objects rest", .unit = "m"});
    v.Float("start_noise_rad", start_noise_rad, {.doc = "joints start within +- this of home", .unit = "rad"}, {0, 3});
    v.Group("binding", binding, "names in the model");
    v.Group("action", action, "from the policy's numbers to joint targets");
    v.Group("reach", reach, "the reach task");
    v.Group("grasp", grasp, "the grasp task");
    v.Group("curriculum", curriculum, "how far randomisation and the task's ramps are open");
    v.Group("randomise", randomise, "randomisation per environment and episode");
  }
};

struct PhysicsConfig {
  std::string backend = "mujoco";
  int threads = 0;

  void Fields(FieldVisitor& v) {
    v.Choice("backend", backend, {"mujoco", "mjwarp"}, {.doc = "mujoco: CPU; mjwarp: GPU"});
    v.Int("threads", threads, {.doc = "physics threads; 0: one per CPU that the process may use"}, {0, 1024});
  }
};

}  // namespace gripstream
