#include "envs/model_offer.h"

#include <cstdio>
#include <memory>
#include <vector>

#include "envs/catalogue.h"
#include "envs/servos.h"

namespace gripstream {
namespace {

std::string NameOf(const mjModel& model, mjtObj type, int id) {
  const char* name = mj_id2name(&model, type, id);
  return name == nullptr ? "(no name)" : name;
}

std::string Range(const mjtNum* range) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4g .. %.4g", range[0], range[1]);
  return text;
}

std::string Actuators(const mjModel& model) {
  std::string text = "actuators (task.binding.actuators), with their joint and its range:\n";
  for (int id = 0; id < model.nactuator; ++id) {
    const ActuatorKind kind = KindOf(model, id);
    text += "  " + NameOf(model, mjOBJ_ACTUATOR, id) + ": " + WordsFor(kind);
    if (kind != ActuatorKind::kNoJoint) {
      const int joint = model.actuator_trnid[2 * id];
      const bool limited = model.jnt_limited[joint] != 0;
      text += ", " + NameOf(model, mjOBJ_JOINT, joint) + " " +
              (limited ? Range(model.jnt_range + 2 * joint) : std::string("unlimited"));
    }
    text += "\n";
  }
  return text;
}

std::string List(const std::string& title, const std::vector<std::string>& names) {
  std::string text = title + ":";
  for (const std::string& name : names) text += " " + name;
  return text + (names.empty() ? " none\n" : "\n");
}

std::string Named(const mjModel& model, const std::string& title, mjtObj type, mjtSize count) {
  std::vector<std::string> names;
  for (int id = 0; id < count; ++id) {
    if (mj_id2name(&model, type, id) != nullptr) names.push_back(NameOf(model, type, id));
  }
  return List(title, names);
}

}  // namespace

std::string DescribeOffer(const std::string& path) {
  const SpecPtr spec = ParseModel(path);
  const std::unique_ptr<mjModel, void (*)(mjModel*)> model(CompileModel(spec.get(), path), mj_deleteModel);
  std::vector<std::string> free_bodies, touches;
  for (int body = 1; body < model->nbody; ++body) {
    const bool free = model->body_jntnum[body] == 1 && model->jnt_type[model->body_jntadr[body]] == mjJNT_FREE;
    if (free) free_bodies.push_back(NameOf(*model, mjOBJ_BODY, body));
  }
  for (int sensor = 0; sensor < model->nsensor; ++sensor) {
    if (model->sensor_type[sensor] == mjSENS_TOUCH) touches.push_back(NameOf(*model, mjOBJ_SENSOR, sensor));
  }
  char timestep[64];
  std::snprintf(timestep, sizeof timestep, "timestep: %g s (task.physics_hz %.0f)\n", model->opt.timestep,
                1 / model->opt.timestep);
  return Actuators(*model) + Named(*model, "sites (task.binding.palm_site, tip_sites)", mjOBJ_SITE, model->nsite) +
         Named(*model, "cameras (task.camera)", mjOBJ_CAMERA, model->ncam) +
         List("bodies with a free joint (task.binding.object_body)", free_bodies) +
         List("touch sensors (task.binding.touch_sensors)", touches) +
         Named(*model, "key frames (task.binding.home_key)", mjOBJ_KEY, model->nkey) + timestep;
}

}  // namespace gripstream
