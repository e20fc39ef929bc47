#include "envs/own_models.h"

#include <algorithm>

#include "core/error.h"

namespace gripstream {
namespace {

// The arrays that an environment owns: visit(field of mjModel, number of entries).
template <class Visit>
void VisitOwn(const mjModel& m, Visit&& visit) {
  visit(&mjModel::geom_friction, 3 * m.ngeom);
  visit(&mjModel::actuator_gainprm, mjNGAIN * m.nactuator);
  visit(&mjModel::actuator_biasprm, mjNBIAS * m.nactuator);
  visit(&mjModel::dof_frictionloss, m.nv);
  visit(&mjModel::body_mass, m.nbody);
  visit(&mjModel::body_inertia, 3 * m.nbody);
  // What mj_setConst derives from the masses.
  visit(&mjModel::body_subtreemass, m.nbody);
  visit(&mjModel::body_invweight0, 2 * m.nbody);
  visit(&mjModel::dof_invweight0, m.nv);
  visit(&mjModel::dof_M0, m.nv);
  visit(&mjModel::tendon_invweight0, m.ntendon);
  visit(&mjModel::actuator_acc0, m.nout);
  visit(&mjModel::cam_poscom0, 3 * m.ncam);
  visit(&mjModel::light_poscom0, 3 * m.nlight);
}

// A deep copy; mjModel is released with it.
using ModelPtr = std::unique_ptr<mjModel, void (*)(mjModel*)>;

void ScaleFriction(mjModel* m, const RobotBinding& robot, const PhysicsDraw& draw) {
  const int root = m->body_rootid[m->site_bodyid[robot.palm_site]];
  for (int geom = 0; geom < m->ngeom; ++geom) {
    const bool of_robot = m->body_rootid[m->geom_bodyid[geom]] == root;
    m->geom_friction[3 * geom] *= of_robot ? draw.robot_friction : draw.object_friction;
  }
}

void ScaleGains(mjModel* m, const RobotBinding& robot, const PhysicsDraw& draw) {
  for (size_t j = 0; j < robot.actuators.size(); ++j) {
    const int actuator = robot.actuators[j];
    m->actuator_gainprm[mjNGAIN * actuator] *= draw.stiffness[j];
    m->actuator_biasprm[mjNBIAS * actuator + 1] *= draw.stiffness[j];
    m->actuator_biasprm[mjNBIAS * actuator + 2] *= draw.damping[j];
    m->dof_frictionloss[robot.dofs[j]] += draw.joint_friction[j];
  }
}

void ScaleMass(mjModel* m, const RobotBinding& robot, double factor) {
  for (int body = 0; body < m->nbody; ++body) {
    if (m->body_rootid[body] != robot.object_body) continue;
    m->body_mass[body] *= factor;
    for (int k = 0; k < 3; ++k) m->body_inertia[3 * body + k] *= factor;
  }
}

}  // namespace

struct OwnModels::Own {
  mjModel model;
  std::vector<mjtNum> numbers;
};

struct OwnModels::Scratch {
  ModelPtr model{nullptr, mj_deleteModel};
  std::unique_ptr<mjData, void (*)(mjData*)> data{nullptr, mj_deleteData};
};

OwnModels::OwnModels(const ModelSet& models, int envs)
    : models_(models), scratch_(static_cast<size_t>(models.Objects())) {
  size_t numbers = 0;
  VisitOwn(*models.Model(0), [&](auto, auto count) { numbers += static_cast<size_t>(count); });
  for (int env = 0; env < envs; ++env) {
    own_.push_back(std::make_unique<Own>());
    own_.back()->numbers.resize(numbers);
  }
}

OwnModels::~OwnModels() = default;

const mjModel* OwnModels::Model(int env) const {
  return &own_[static_cast<size_t>(env)]->model;
}

mjModel* OwnModels::ScratchOf(int object) {
  std::unique_ptr<Scratch>& scratch = scratch_[static_cast<size_t>(object)];
  if (!scratch) {
    scratch = std::make_unique<Scratch>();
    scratch->model.reset(mj_copyModel(nullptr, models_.Model(object)));
    scratch->data.reset(mj_makeData(models_.Model(object)));
    GS_CHECK(scratch->model != nullptr && scratch->data != nullptr, "no memory for a model");
  }
  return scratch->model.get();
}

void OwnModels::Set(int env, int object, const PhysicsDraw& draw) {
  const mjModel* base = models_.Model(object);
  mjModel* scratch = ScratchOf(object);
  VisitOwn(*base, [&](auto field, auto count) { std::copy_n(base->*field, count, scratch->*field); });
  const RobotBinding& robot = models_.Binding();
  ScaleFriction(scratch, robot, draw);
  ScaleGains(scratch, robot, draw);
  ScaleMass(scratch, robot, draw.object_mass);
  mj_setConst(scratch, scratch_[static_cast<size_t>(object)]->data.get());
  Own& own = *own_[static_cast<size_t>(env)];
  own.model = *base;
  own.model.stat = scratch->stat;
  mjtNum* next = own.numbers.data();
  VisitOwn(*base, [&](auto field, auto count) {
    std::copy_n(scratch->*field, count, next);
    own.model.*field = next;
    next += count;
  });
}

}  // namespace gripstream
