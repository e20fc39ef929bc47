// Tests control/fabric.h: terms against finite differences, energy, limits on motion, targets.
#include "control/fabric.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>

#include "control/fabric_kernels.h"
#include "core/error.h"
#include "tests/control/fabric_arm.h"

namespace gripstream {
namespace {

using testing::ArmFabric;
using testing::HomePosture;
using Joints = std::array<double, 23>;
using Synergies = std::array<double, 5>;

constexpr double kStep = 1e-6;

struct State {
  Joints q{}, qd{};
};

// Near home, moving.
State RandomState(uint32_t index, double spread = 0.4, double speed = 1.0) {
  Rng rng = RandomStream(11, "state").At(index, 0);
  State state;
  for (size_t j = 0; j < 23; ++j) {
    state.q[j] = HomePosture()[j] + spread * (2.0 * static_cast<double>(rng.Uniform()) - 1);
    state.qd[j] = speed * (2.0 * static_cast<double>(rng.Uniform()) - 1);
  }
  return state;
}

FabricTarget HomeTarget(const Synergies& synergies) {
  const testing::Arm arm = testing::MakeArm();
  return {.palm = FramePose(arm.tree, HomePosture(), arm.palm), .synergies = synergies.data()};
}

FabricGains Without(bool posture, bool synergies, bool palm, bool limits, bool repulsion) {
  FabricGains gains;
  if (posture) gains.posture.gain = 0;
  if (synergies) gains.synergies.mass = 0;
  if (palm) gains.palm.mass = 0;
  if (limits) gains.limits.metric = 1e-12, gains.limits.max_metric = 1e-12;
  if (repulsion) gains.repulsion.metric = 0;
  return gains;
}

// The centre of a sphere by the kinematic tree, which shares no code with the fabric's own sweep.
Vec3 SphereCentre(const FabricBody& body, const KinematicTree& tree, size_t i, const Joints& q) {
  int link = 0;
  while (tree.links[static_cast<size_t>(link)].name != body.links[i]) ++link;
  const Vec3 offset{body.offsets[3 * i], body.offsets[3 * i + 1], body.offsets[3 * i + 2]};
  return FramePose(tree, q, {link, {offset, {}}}).pos;
}

TEST(Fabric, SphereCentresEqualTheKinematicTrees) {
  const FabricBody body = testing::ShippedBody();
  const FabricModel model = ArmFabric();
  const testing::Arm arm = testing::MakeArm();
  ASSERT_EQ(model.spheres, 31);
  const Synergies none{};
  auto work = std::make_unique<FabricWork<double>>();
  for (uint32_t k = 0; k < 20; ++k) {
    const State s = RandomState(k);
    EvaluateFabric(model, OneTarget(HomeTarget(none)), s.q.data(), s.qd.data(), *work);
    for (size_t i = 0; i < 31; ++i)
      EXPECT_LT(
          Norm(Vec3{work->centre[i].x, work->centre[i].y, work->centre[i].z} - SphereCentre(body, arm.tree, i, s.q)),
          1e-12)
          << body.links[i];
  }
}

TEST(Fabric, LeversBoundHowFarSpheresMove) {
  const FabricBody body = testing::ShippedBody();
  const FabricModel model = ArmFabric();
  const testing::Arm arm = testing::MakeArm();
  for (uint32_t k = 0; k < 20; ++k) {
    const State s = RandomState(k, 1.5);
    for (size_t i = 0; i < 31; ++i) {
      const Vec3 at = SphereCentre(body, arm.tree, i, s.q);
      for (size_t j = 0; j < 23; ++j) {
        Joints moved = s.q;
        moved[j] += kStep;
        const double speed = Norm(SphereCentre(body, arm.tree, i, moved) - at) / kStep;
        EXPECT_LE(speed, model.sphere[i].lever[j] + 1e-6);
        EXPECT_TRUE(speed < 1e-6 || model.sphere[i].lever[j] > 0);
      }
    }
  }
}

// d(potential)/dq of a pull of gain g and sharpness s on an error e: potential g/s log cosh(s |e|).
double PullPotential(double gain, double sharpness, double error) {
  return gain / sharpness * std::log(std::cosh(sharpness * error));
}

// At rest, forcing terms are the gradient of their potentials times the constant metric.
TEST(Fabric, PalmForceAtRestIsTheGradientOfItsPotential) {
  FabricGains gains = Without(true, true, false, true, true);
  const FabricModel model = ArmFabric(gains);
  const testing::Arm arm = testing::MakeArm();
  const Synergies none{};
  const FabricTarget target = HomeTarget(none);
  const auto potential = [&](const Joints& q) {
    const Transform palm = FramePose(arm.tree, q, arm.palm);
    double square = 0;
    for (int i = -3; i <= 3; ++i) {
      const double lever = i < 0 ? -0.25 : 0.25;
      const int axis = std::abs(i);
      const Vec3 offset{axis == 1 ? lever : 0, axis == 2 ? lever : 0, axis == 3 ? lever : 0};
      const Vec3 error = palm * offset - target.palm * offset;
      square += Dot(error, error);
    }
    return PullPotential(50, 40, std::sqrt(square));
  };
  auto work = std::make_unique<FabricWork<double>>();
  for (uint32_t k = 0; k < 10; ++k) {
    const State s = RandomState(k, 0.05, 0);  // near the target: the potential is curved there
    EvaluateFabric(model, OneTarget(target), s.q.data(), s.qd.data(), *work);
    for (size_t j = 0; j < 23; ++j) {
      Joints up = s.q, down = s.q;
      up[j] += kStep, down[j] -= kStep;
      EXPECT_NEAR(work->forcing[j], (potential(up) - potential(down)) / (2 * kStep), 2e-5) << j;
    }
  }
}

TEST(Fabric, SynergyForceAtRestIsTheGradientOfItsPotential) {
  const FabricModel model = ArmFabric(Without(true, false, true, true, true));
  const HandSynergies rows = testing::FiveSynergies();
  const Synergies wanted = {0.3, -0.2, 0.5, 0.1, 0};
  FabricTarget target = HomeTarget(wanted);
  const auto potential = [&](const Joints& q) {
    Synergies x;
    rows.Project(std::span(q).subspan(7), x);
    double square = 0;
    for (size_t i = 0; i < 5; ++i) square += (x[i] - wanted[i]) * (x[i] - wanted[i]);
    return 8 * PullPotential(50, 40, std::sqrt(square));
  };
  auto work = std::make_unique<FabricWork<double>>();
  const State s = RandomState(1, 0.3, 0);
  EvaluateFabric(model, OneTarget(target), s.q.data(), s.qd.data(), *work);
  for (size_t j = 0; j < 23; ++j) {
    Joints up = s.q, down = s.q;
    up[j] += kStep, down[j] -= kStep;
    EXPECT_NEAR(work->forcing[j], (potential(up) - potential(down)) / (2 * kStep), 1e-4) << j;
  }
}

// J' m J by finite differences of the task maps.
TEST(Fabric, MetricIsThePulledBackSumOfTheTermsMetrics) {
  const FabricGains gains = Without(false, false, false, true, true);
  const FabricModel model = ArmFabric(gains);
  const HandSynergies rows = testing::FiveSynergies();
  const testing::Arm arm = testing::MakeArm();
  const Synergies none{};
  const State s = RandomState(4);
  auto work = std::make_unique<FabricWork<double>>();
  EvaluateFabric(model, OneTarget(HomeTarget(none)), s.q.data(), s.qd.data(), *work);
  std::vector<std::array<double, 21>> columns(23);
  for (size_t j = 0; j < 23; ++j) {
    Joints up = s.q, down = s.q;
    up[j] += kStep, down[j] -= kStep;
    const Transform a = FramePose(arm.tree, up, arm.palm), b = FramePose(arm.tree, down, arm.palm);
    for (int i = -3; i <= 3; ++i) {
      const double lever = i < 0 ? -0.25 : 0.25;
      const int axis = std::abs(i);
      const Vec3 offset{axis == 1 ? lever : 0, axis == 2 ? lever : 0, axis == 3 ? lever : 0};
      const Vec3 d = (0.5 / kStep) * (a * offset - b * offset);
      const size_t at = static_cast<size_t>(3 * (i + 3));
      columns[j][at] = d.x, columns[j][at + 1] = d.y, columns[j][at + 2] = d.z;
    }
  }
  for (size_t i = 0; i < 23; ++i) {
    for (size_t k = 0; k <= i; ++k) {
      double expected = i == k ? 1 : 0;
      for (size_t d = 0; d < 21; ++d) expected += columns[i][d] * columns[k][d];
      for (size_t r = 0; r < 5 && i >= 7 && k >= 7; ++r)
        expected += 8 * rows.Rows()[r * 16 + i - 7] * rows.Rows()[r * 16 + k - 7];
      EXPECT_NEAR(work->metric[i][k], expected, 1e-7) << i << " " << k;
    }
  }
}

// The repulsion of one sphere from one box, written out with a numerical Jacobian.
TEST(Fabric, RepulsionOfOneSphereEqualsTheWrittenOutFormula) {
  FabricBody body;
  body.links = {"palm"};
  body.offsets = {0.02, 0.01, -0.05};
  body.radii = {0.075};
  body.box_centres = {-0.5, -0.1, 0.2};
  body.box_sizes = {0.6, 0.6, 0.4};  // its top at z = 0.4
  const FabricModel model = ArmFabric(Without(true, true, true, true, false), body);
  const testing::Arm arm = testing::MakeArm();
  const Synergies none{};
  for (uint32_t k = 0; k < 8; ++k) {
    const State s = RandomState(k, 0.2);
    auto work = std::make_unique<FabricWork<double>>();
    EvaluateFabric(model, OneTarget(HomeTarget(none)), s.q.data(), s.qd.data(), *work);
    const Vec3 c = SphereCentre(body, arm.tree, 0, s.q);
    ASSERT_TRUE(c.z > 0.4 && std::abs(c.x + 0.5) < 0.3 && std::abs(c.y + 0.1) < 0.3) << "above the box";
    Vec3 velocity{};
    std::array<Vec3, 23> jacobian;
    for (size_t j = 0; j < 23; ++j) {
      Joints up = s.q, down = s.q;
      up[j] += kStep, down[j] -= kStep;
      jacobian[j] = (0.5 / kStep) * (SphereCentre(body, arm.tree, 0, up) - SphereCentre(body, arm.tree, 0, down));
      velocity = velocity + s.qd[j] * jacobian[j];
    }
    const double d = c.z - 0.4 - 0.075;
    const bool counts = d < 0.5 && velocity.z < 0.002 - 0.02;  // towards the box, well clear of the gate's edge
    const bool away = d >= 0.5 || velocity.z > 0.002 + 0.02;
    if (!counts && !away) continue;
    // One sphere, one obstacle: the base metric over its norm is n n'; n points down.
    const double metric = counts ? 0.01 / (d * d) : 0;
    for (size_t i = 0; i < 23; ++i) {
      EXPECT_NEAR(work->forcing[i], -metric * jacobian[i].z, 1e-5);
      EXPECT_NEAR(work->geometric[i], -metric * 5 * Dot(velocity, velocity) * jacobian[i].z, 1e-5);
      for (size_t m = 0; m <= i; ++m) {
        const double expected = (i == m ? 1 : 0) + 2 * metric * jacobian[i].z * jacobian[m].z;
        EXPECT_NEAR(work->metric[i][m], expected, 1e-5);
      }
    }
  }
}

TEST(Fabric, SolutionSatisfiesTheEquationItSolves) {
  const FabricModel model = ArmFabric();
  const Synergies wanted = {0.3, -0.2, 0.5, 0.1, 0};
  const State s = RandomState(9);
  auto work = std::make_unique<FabricWork<double>>(), terms = std::make_unique<FabricWork<double>>();
  EvaluateFabric(model, OneTarget(HomeTarget(wanted)), s.q.data(), s.qd.data(), *work);
  *terms = *work;
  SolveFabric(model, 0, s.qd.data(), *work);
  // M (acc - alpha qd) + geometric + forcing = 0 for one number alpha.
  Joints residual{}, along{};
  for (size_t i = 0; i < 23; ++i) {
    residual[i] = terms->geometric[i] + terms->forcing[i];
    for (size_t k = 0; k < 23; ++k) {
      const double m = i >= k ? terms->metric[i][k] : terms->metric[k][i];
      residual[i] += m * work->acceleration[k];
      along[i] += m * s.qd[k];
    }
  }
  const double alpha = residual[0] / along[0];
  for (size_t i = 0; i < 23; ++i) EXPECT_NEAR(residual[i], alpha * along[i], 1e-8) << i;
}

// Without forcing and damping the geometric terms only bend the path: kinetic energy stays, to the order of the step.
TEST(Fabric, GeometricPartPreservesEnergy) {
  FabricGains gains = Without(false, true, true, true, false);
  gains.repulsion.gain = 0;
  gains.dt_s = 1e-4;
  gains.posture.gain = 5;
  const FabricModel model = ArmFabric(gains);
  const Synergies none{};
  FabricTarget target = HomeTarget(none);
  target.damping = 0;
  State s = RandomState(2, 0.1, 0.8);
  const auto energy = [&] {
    double sum = 0;
    for (const double v : s.qd) sum += 0.5 * v * v;
    return sum;
  };
  const double before = energy();
  const Joints start = s.qd;
  auto work = std::make_unique<FabricWork<double>>();
  double turned = 0;
  for (int step = 0; step < 2000; ++step) {  // 0.2 s
    EvaluateFabric(model, OneTarget(target), s.q.data(), s.qd.data(), *work);
    SolveFabric(model, 0, s.qd.data(), *work);
    double power = 0;
    for (size_t j = 0; j < 23; ++j) power += s.qd[j] * work->acceleration[j];
    EXPECT_NEAR(power, 0, 1e-4);
    for (size_t j = 0; j < 23; ++j) {
      s.q[j] += gains.dt_s * s.qd[j];
      s.qd[j] += gains.dt_s * work->acceleration[j];
    }
  }
  for (size_t j = 0; j < 23; ++j) turned += std::abs(s.qd[j] - start[j]);
  EXPECT_NEAR(energy(), before, 0.02 * before);
  EXPECT_GT(turned, 0.5) << "the path must bend, or the test shows nothing";
}

TEST(Fabric, DampingTakesEnergyAway) {
  FabricGains gains = Without(true, true, true, true, true);
  const FabricModel model = ArmFabric(gains);
  const Synergies none{};
  FabricTarget target = HomeTarget(none);
  target.damping = 7;
  const State s = RandomState(5);
  auto work = std::make_unique<FabricWork<double>>();
  EvaluateFabric(model, OneTarget(target), s.q.data(), s.qd.data(), *work);
  SolveFabric(model, target.damping, s.qd.data(), *work);
  for (size_t j = 0; j < 23; ++j) EXPECT_NEAR(work->acceleration[j], -7 * s.qd[j], 1e-6);
}

TEST(Fabric, JointLimitPushesInwardsOnlyWhenApproached) {
  FabricGains gains = Without(true, true, true, false, true);
  const FabricModel model = ArmFabric(gains);
  const Synergies none{};
  State s;
  std::copy_n(HomePosture().begin(), 23, s.q.begin());
  s.q[1] = model.upper[1] - 0.15;
  auto work = std::make_unique<FabricWork<double>>();
  s.qd[1] = 0.5;
  EvaluateFabric(model, OneTarget(HomeTarget(none)), s.q.data(), s.qd.data(), *work);
  const double metric = 0.02 / (0.05 * 0.05);
  EXPECT_NEAR(work->forcing[1], metric * (8 + 8 * 0.5), 1e-9);
  EXPECT_NEAR(work->metric[1][1], 1 + metric, 1e-9);
  s.qd[1] = -0.5;
  EvaluateFabric(model, OneTarget(HomeTarget(none)), s.q.data(), s.qd.data(), *work);
  EXPECT_LT(std::abs(work->forcing[1]), 0.1) << "only the far limit, at 4 rad";
}

TEST(Fabric, AccelerationsAreScaledTogetherToTheirLimits) {
  const FabricModel model = ArmFabric();
  EXPECT_NEAR(model.acceleration[0], 7.5, 1e-12);
  EXPECT_NEAR(model.acceleration[10], 18.75, 1e-12) << "the hand's limit comes from jerk";
  Joints a{};
  a[0] = 15, a[10] = -9, a[3] = 4;
  LimitAccelerations(model, a.data());
  EXPECT_NEAR(a[0], 7.5, 1e-12);
  EXPECT_NEAR(a[10], -4.5, 1e-12);
  EXPECT_NEAR(a[3], 2, 1e-12);
}

TEST(Fabric, PalmAndHandArriveAtTheirTargets) {
  const FabricModel model = ArmFabric();
  const testing::Arm arm = testing::MakeArm();
  const HandSynergies rows = testing::FiveSynergies();
  std::vector<double> q = HomePosture(), qd(23), qdd(23);
  std::vector<double> posed = q;
  posed[0] -= 0.3, posed[3] -= 0.2, posed[5] += 0.2;
  for (size_t j = 7; j < 19; ++j) posed[j] += 0.2;
  Synergies wanted;
  rows.Project(std::span(posed).subspan(7), wanted);
  const FabricTarget target{.palm = FramePose(arm.tree, posed, arm.palm), .synergies = wanted.data()};
  const FabricEnv env{target, q.data(), qd.data(), qdd.data()};
  StepFabrics(model, std::span(&env, 1), 600);
  const Transform palm = FramePose(arm.tree, q, arm.palm);
  EXPECT_LT(Norm(palm.pos - target.palm.pos), 0.01);
  EXPECT_LT(Norm(RotationVector(palm.quat * Inverse(target.palm.quat))), 0.05);
  Synergies reached;
  rows.Project(std::span(q).subspan(7), reached);
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(reached[i], wanted[i], 0.05);
}

// The states and targets of N environments, some of them on their way into limits and boxes.
struct Crowd {
  std::vector<Joints> q, qd, qdd;
  std::vector<Synergies> synergies;
  std::vector<FabricEnv> envs;

  explicit Crowd(size_t n) : q(n), qd(n), qdd(n), synergies(n) {
    for (size_t i = 0; i < n; ++i) {
      const State state = RandomState(static_cast<uint32_t>(i), i % 3 == 2 ? 1.5 : 0.4);
      q[i] = state.q, qd[i] = state.qd;
      synergies[i] = {0.3 * static_cast<double>(i % 4), -0.2, 0.5, 0.1, 0};
      FabricTarget target = HomeTarget(synergies[i]);
      target.palm.pos.z -= 0.15 * static_cast<double>(i % 5);
      target.damping = 5 + static_cast<double>(i % 7);
      envs.push_back({target, q[i].data(), qd[i].data(), qdd[i].data()});
    }
  }
};

TEST(Fabric, EveryNumberOfLanesGivesTheSameBitsAsOneEnvironmentAlone) {
  const FabricModel model = ArmFabric();
  constexpr int kSteps = 60;
  for (const FabricKernel& kernel : FabricKernels()) {
    for (int count = 1; count <= kernel.lanes; ++count) {
      Crowd together(8), alone(8);
      kernel.step(model, together.envs.data(), count, kSteps);
      for (int i = 0; i < count; ++i)
        FabricKernels().back().step(model, &alone.envs[static_cast<size_t>(i)], 1, kSteps);
      EXPECT_EQ(together.q, alone.q) << kernel.name << ", " << count << " environments";
      EXPECT_EQ(together.qd, alone.qd) << kernel.name << ", " << count;
      EXPECT_EQ(together.qdd, alone.qdd) << kernel.name << ", " << count;
    }
  }
}

TEST(Fabric, EnvironmentsInABatchDoNotTouchEachOther) {
  const FabricModel model = ArmFabric();
  Crowd together(19), alone(19);
  StepFabrics(model, together.envs, 50);
  for (const FabricEnv& env : alone.envs) StepFabrics(model, std::span(&env, 1), 50);
  EXPECT_EQ(together.q, alone.q);
  EXPECT_EQ(together.qd, alone.qd);
  EXPECT_NE(together.q[0], Crowd(1).q[0]) << "they must move, or the test shows nothing";
}

// Against the library's, over the range in which a fabric calls them.
TEST(Fabric, ElementaryFunctionsAgreeWithTheLibrarys) {
  double sine, cosine;
  for (double x = -20; x <= 20; x += 0.00137) {
    SinCos(x, sine, cosine);
    EXPECT_NEAR(sine, std::sin(x), 4e-16) << x;
    EXPECT_NEAR(cosine, std::cos(x), 4e-16) << x;
    EXPECT_NEAR(Tanh(x), std::tanh(x), 4e-16 + 4e-16 * std::abs(std::tanh(x))) << x;
  }
  for (double x = 1e-9; x < 1; x *= 1.7) EXPECT_NEAR(Tanh(x) / std::tanh(x), 1, 5e-16) << x;
  EXPECT_EQ(Tanh(1e6), 1);
  EXPECT_EQ(Tanh(-1e6), -1);
}

TEST(Fabric, ARobotThatTheBodyDoesNotFitIsRefusedByName) {
  FabricBody body = testing::ShippedBody();
  body.links[3] = "link33";
  EXPECT_THROW(ArmFabric({}, body), InputError);
  body = testing::ShippedBody();
  body.radii.pop_back();
  EXPECT_THROW(ArmFabric({}, body), InputError);
  body = testing::ShippedBody();
  body.box_sizes.pop_back();
  EXPECT_THROW(ArmFabric({}, body), InputError);
  body = testing::ShippedBody();
  body.acceleration = {1, 2};
  EXPECT_THROW(ArmFabric({}, body), InputError);
}

}  // namespace
}  // namespace gripstream
