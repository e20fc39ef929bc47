#include "envs/synergy_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "envs/model.h"

namespace gripstream {
namespace {

using DataPtr = std::unique_ptr<mjData, void (*)(mjData*)>;
using Posture = std::vector<double>;

constexpr double kClosing_s = 0.5, kHolding_s = 0.25;
constexpr int kSnapshots = 4;  // on the way; one more at the end

// One closing of the hand, from a random open posture to a random closed one.
struct Closing {
  Posture open, closed;
  Vec3 offset;  // of the object
  Quat turn;
};

Closing DrawClosing(const SynergyFitOptions& options, const RobotBinding& robot, Rng& rng) {
  const size_t arm = static_cast<size_t>(robot.arm_joints), hand = options.open.size();
  const auto uniform = [&](double low, double high) { return low + (high - low) * static_cast<double>(rng.Uniform()); };
  Closing closing{options.open, options.closed, {}, {}};
  constexpr size_t kFingerJoints = 4;
  double finger = 1;
  for (size_t j = 0; j < hand; ++j) {
    if (j % kFingerJoints == 0) finger = uniform(0.4, 1.2);
    const JointLimit& limit = robot.tree.limits[arm + j];
    const double weight = finger * uniform(0.7, 1.3), spread = options.spread_rad;
    const double reach = options.open[j] + weight * (options.closed[j] - options.open[j]);
    closing.open[j] = std::clamp(options.open[j] + uniform(-spread, spread), limit.lower, limit.upper);
    closing.closed[j] = std::clamp(reach + uniform(-spread, spread), limit.lower, limit.upper);
  }
  closing.offset = {uniform(-0.01, 0.01), uniform(-0.02, 0.02), uniform(-0.01, 0.01)};
  closing.turn = EulerZyx(uniform(-3.14, 3.14), uniform(-1.5, 1.5), uniform(-3.14, 3.14));
  return closing;
}

class Grasper {
 public:
  Grasper(const mjModel* model, const RobotBinding& robot)
      : model_(model), robot_(robot), data_(mj_makeData(model), mj_deleteData), hand_(robot.tree.Joints()) {
    hand_ -= robot.arm_joints;
  }

  // Appends the postures of one closing.
  void Run(const Closing& closing, std::vector<Posture>& out) {
    Start(closing);
    const int steps = static_cast<int>(kClosing_s / model_->opt.timestep);
    const int rest = static_cast<int>(kHolding_s / model_->opt.timestep);
    for (int step = 0; step < steps + rest; ++step) {
      if (step < steps && step % (steps / kSnapshots) == 0) out.push_back(HandPosture());
      const double share = std::min(1.0, static_cast<double>(step + 1) / steps);
      for (int j = 0; j < hand_; ++j) {
        const size_t k = static_cast<size_t>(j);
        data_->ctrl[Actuator(j)] = closing.open[k] + share * (closing.closed[k] - closing.open[k]);
      }
      mj_step(model_, data_.get());
      HoldObject();
    }
    out.push_back(HandPosture());
  }

 private:
  size_t Joint(int j) const { return static_cast<size_t>(robot_.arm_joints + j); }
  int Actuator(int j) const { return robot_.actuators[Joint(j)]; }

  Posture HandPosture() const {
    Posture q;
    for (int j = 0; j < hand_; ++j) q.push_back(data_->qpos[robot_.qpos[Joint(j)]]);
    return q;
  }

  // Where the fingertips are when the hand is half closed, on average.
  Vec3 MeetingPoint(const Closing& closing) const {
    Posture q;
    for (const int address : robot_.qpos) q.push_back(robot_.home_qpos[static_cast<size_t>(address)]);
    for (int j = 0; j < hand_; ++j) {
      const size_t k = static_cast<size_t>(j);
      q[Joint(j)] = 0.5 * (closing.open[k] + closing.closed[k]);
    }
    Vec3 sum{};
    for (const LinkFrame& tip : robot_.tips) sum = sum + FramePose(robot_.tree, q, tip).pos;
    return (1.0 / static_cast<double>(robot_.tips.size())) * sum;
  }

  void Start(const Closing& closing) {
    mj_resetData(model_, data_.get());
    std::ranges::copy(robot_.home_qpos, data_->qpos);
    for (size_t j = 0; j < robot_.qpos.size(); ++j) data_->ctrl[robot_.actuators[j]] = data_->qpos[robot_.qpos[j]];
    for (int j = 0; j < hand_; ++j)
      data_->qpos[robot_.qpos[Joint(j)]] = data_->ctrl[Actuator(j)] = closing.open[static_cast<size_t>(j)];
    const Vec3 at = MeetingPoint(closing) + closing.offset;
    object_ = {at.x, at.y, at.z, closing.turn.w, closing.turn.x, closing.turn.y, closing.turn.z};
    HoldObject();
  }

  void HoldObject() {
    std::ranges::copy(object_, data_->qpos + robot_.object_qpos);
    std::fill_n(data_->qvel + robot_.object_dof, 6, 0.0);
  }

  const mjModel* model_;
  const RobotBinding& robot_;
  DataPtr data_;
  int hand_;
  std::array<double, 7> object_{};
};

std::vector<double> SecondMoments(const std::vector<Posture>& postures, std::span<const double> about) {
  const size_t n = about.size();
  std::vector<double> matrix(n * n, 0.0);
  for (const Posture& q : postures) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) matrix[i * n + j] += (q[i] - about[i]) * (q[j] - about[j]);
    }
  }
  return matrix;
}

Posture Mean(const std::vector<Posture>& postures) {
  Posture mean(postures.front().size(), 0.0);
  for (const Posture& q : postures) {
    for (size_t j = 0; j < mean.size(); ++j) mean[j] += q[j] / static_cast<double>(postures.size());
  }
  return mean;
}

// Rows, signs and ranges; a row points to the side on which the mean posture lies.
SynergyTable MakeTable(const std::vector<Posture>& postures, const SynergyFitOptions& options) {
  const size_t n = postures.front().size(), rows = static_cast<size_t>(options.components);
  const Posture mean = Mean(postures), zero(n, 0.0);
  std::vector<double> values;
  std::vector<double> vectors = SymmetricEigenvectors(SecondMoments(postures, zero), n, values);
  SynergyTable table;
  table.joints = static_cast<int>(n);
  table.seed = options.seed;
  table.postures = static_cast<int>(postures.size());
  const auto along = [&](size_t row, const Posture& q) {
    return std::inner_product(q.begin(), q.end(), vectors.begin() + static_cast<ptrdiff_t>(row * n), 0.0);
  };
  const std::vector<double> about_mean = SecondMoments(postures, mean);
  double total = 0, held = 0;
  for (size_t j = 0; j < n; ++j) total += about_mean[j * n + j];
  for (size_t row = 0; row < rows; ++row) {
    const double sign = along(row, mean) < 0 ? -1 : 1;
    for (size_t j = 0; j < n; ++j) vectors[row * n + j] *= sign;
    double low = along(row, postures.front()), high = low;
    for (const Posture& q : postures) {
      const double x = along(row, q);
      low = std::min(low, x), high = std::max(high, x);
      held += (x - along(row, mean)) * (x - along(row, mean));
    }
    table.low.push_back(low), table.high.push_back(high);
  }
  table.directions.assign(vectors.begin(), vectors.begin() + static_cast<ptrdiff_t>(rows * n));
  table.share = held / total;
  return table;
}

void CheckOptions(const SynergyFitOptions& options, const RobotBinding& robot) {
  const size_t hand = static_cast<size_t>(robot.tree.Joints() - robot.arm_joints);
  if (options.open.size() != hand || options.closed.size() != hand)
    throw InputError("synergies", "open and closed",
                     std::to_string(options.open.size()) + " and " + std::to_string(options.closed.size()) + " numbers",
                     std::to_string(hand) + ", one per hand joint");
  if (options.components < 1 || options.components > static_cast<int>(std::min<size_t>(hand, kMaxSynergies)))
    throw InputError("synergies", "components", std::to_string(options.components), "1 to the number of hand joints");
}

}  // namespace

std::vector<double> SymmetricEigenvectors(std::vector<double> a, size_t n, std::vector<double>& values) {
  std::vector<double> v(n * n, 0.0);  // rows are eigenvectors
  for (size_t i = 0; i < n; ++i) v[i * n + i] = 1;
  const auto rotate = [&](size_t p, size_t q) {
    if (std::abs(a[p * n + q]) < 1e-300) return;
    const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
    const double c = 1 / std::sqrt(t * t + 1), s = t * c;
    const auto turn = [&](double& x, double& y) {
      const double old = x;
      x = c * old - s * y, y = s * old + c * y;
    };
    for (size_t k = 0; k < n; ++k) turn(a[k * n + p], a[k * n + q]);
    for (size_t k = 0; k < n; ++k) turn(a[p * n + k], a[q * n + k]);
    for (size_t k = 0; k < n; ++k) turn(v[p * n + k], v[q * n + k]);
  };
  constexpr int kSweeps = 30;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (size_t p = 0; p < n; ++p) {
      for (size_t q = p + 1; q < n; ++q) rotate(p, q);
    }
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t i, size_t j) { return a[i * n + i] > a[j * n + j]; });
  std::vector<double> sorted;
  values.clear();
  for (const size_t row : order) {
    values.push_back(a[row * n + row]);
    sorted.insert(sorted.end(), v.begin() + static_cast<ptrdiff_t>(row * n),
                  v.begin() + static_cast<ptrdiff_t>((row + 1) * n));
  }
  return sorted;
}

SynergyTable FitSynergies(const TaskConfig& task, const SynergyFitOptions& options) {
  const ModelSet models(task);
  const RobotBinding& robot = models.Binding();
  CheckOptions(options, robot);
  const RandomStream stream(options.seed, "synergies");
  std::vector<Posture> postures;
  for (const int object : models.Train()) {
    Grasper grasper(models.Model(object), robot);
    for (int trial = 0; trial < options.trials; ++trial) {
      Rng rng = stream.At(static_cast<uint32_t>(object), static_cast<uint64_t>(trial));
      grasper.Run(DrawClosing(options, robot, rng), postures);
    }
  }
  return MakeTable(postures, options);
}

}  // namespace gripstream
