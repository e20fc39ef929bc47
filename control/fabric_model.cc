#include "control/fabric_model.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"

namespace gripstream {
namespace {

Mat3 ToMatrix(Quat q) {
  const Vec3 x = Rotate(q, {1, 0, 0}), y = Rotate(q, {0, 1, 0}), z = Rotate(q, {0, 0, 1});
  return {{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
}

Vec3 operator*(const Mat3& a, Vec3 v) {
  const double* m = a.m;
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
          m[6] * v.x + m[7] * v.y + m[8] * v.z};
}

// A rotation that takes z to `axis`.
Quat TurnZTo(Vec3 axis) {
  const Vec3 z{0, 0, 1};
  const double cosine = axis.z / Norm(axis);
  if (cosine > 1 - 1e-12) return {};
  if (cosine < -1 + 1e-12) return {0, 1, 0, 0};
  const Vec3 cross = Cross(z, (1 / Norm(axis)) * axis);
  return Normalized({1 + cosine, cross.x, cross.y, cross.z});
}

// Where a link of the tree lies in the fabric: the moving link that carries it, and its pose in that link's own frame.
struct Place {
  int link = -1;
  Transform pose{};
};

class Builder {
 public:
  Builder(const KinematicTree& tree, const std::string& where) : tree_(tree), where_(where) {
    for (const Link& link : tree.links) names_.push_back(link.name);
  }

  // The model's links, and where each link of the tree lies in them.
  void Links(FabricModel& out) {
    const size_t joints = static_cast<size_t>(tree_.Joints());
    if (joints > kMaxFabricJoints)
      throw InputError(where_, "joints", std::to_string(joints), "at most " + std::to_string(kMaxFabricJoints));
    out.joints = static_cast<int32_t>(joints);
    int count = 0;
    for (const Link& link : tree_.links) {
      const Place parent = link.parent < 0 ? Place{} : places_[static_cast<size_t>(link.parent)];
      const Transform in_parent = parent.pose * link.parent_pose;
      if (link.kind == JointKind::kFixed) {
        places_.push_back({parent.link, in_parent});
        continue;
      }
      const Transform frame{link.anchor, TurnZTo(link.axis)};  // the fabric's link in the tree's
      const Transform pose = in_parent * frame;
      out.link[count] = {parent.link, link.joint, link.kind == JointKind::kSlide ? 1 : 0, ToMatrix(pose.quat),
                         pose.pos};
      const Quat back = Inverse(frame.quat);
      places_.push_back({count, {-1.0 * Rotate(back, frame.pos), back}});
      ++count;
    }
    if (count != out.joints) throw InputError(where_, "the tree moves a joint twice or not at all");
  }

  const Place& Find(const std::string& key, const std::string& name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return places_[static_cast<size_t>(found - names_.begin())];
    const std::string nearest = NearestName(name, names_);
    throw InputError(where_, key, name,
                     "a body on the way from the base to the palm or a fingertip" +
                         (nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?"));
  }
  const Place& At(int tree_link) const { return places_[static_cast<size_t>(tree_link)]; }

 private:
  const KinematicTree& tree_;
  const std::string& where_;
  std::vector<std::string> names_;
  std::vector<Place> places_;
};

void RequireSize(const std::string& where, const std::string& key, size_t size, size_t wanted, size_t limit) {
  if (size != wanted)
    throw InputError(where, key, std::to_string(size) + " numbers", std::to_string(wanted) + " to go with the others");
  if (size > limit) throw InputError(where, key, std::to_string(size) + " numbers", "at most " + std::to_string(limit));
}

// The greatest distance of the sphere's centre from each joint's axis, over all postures. Seen from a link, the centre
// is somewhere in a ball; turning about the link's axis moves the ball's centre on a circle, which the next ball holds.
void Levers(const FabricModel& model, FabricSphere& sphere) {
  Vec3 centre = sphere.offset;
  double spread = 0;
  for (int link = sphere.link; link >= 0; link = model.link[link].parent) {
    const FabricLink& l = model.link[link];
    if (l.slide != 0) {
      sphere.lever[l.joint] = 1;
      spread += std::max(std::abs(model.lower[l.joint]), std::abs(model.upper[l.joint]));
    } else {
      spread += std::hypot(centre.x, centre.y);
      sphere.lever[l.joint] = spread;
      centre = {0, 0, centre.z};
    }
    centre = l.origin + l.rotation * centre;
  }
}

void Spheres(const FabricBody& body, const Builder& builder, const std::string& where, FabricModel& out) {
  const size_t count = body.links.size();
  RequireSize(where, "radii", body.radii.size(), count, kMaxFabricSpheres);
  RequireSize(where, "offsets", body.offsets.size(), 3 * count, 3 * kMaxFabricSpheres);
  const auto listed = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end() ? 1 : 0;
  };
  for (const std::string& name : body.self_movers) builder.Find("self_movers", name);
  for (const std::string& name : body.self_obstacles) builder.Find("self_obstacles", name);
  for (size_t i = 0; i < count; ++i) {
    const Place& place = builder.Find("links", body.links[i]);
    if (place.link < 0) throw InputError(where, "links", body.links[i], "a body that moves");
    FabricSphere& sphere = out.sphere[i];
    sphere.link = place.link;
    sphere.self_mover = listed(body.self_movers, body.links[i]);
    sphere.self_obstacle = listed(body.self_obstacles, body.links[i]);
    sphere.offset = place.pose * Vec3{body.offsets[3 * i], body.offsets[3 * i + 1], body.offsets[3 * i + 2]};
    sphere.radius = body.radii[i];
    Levers(out, sphere);
  }
  out.spheres = static_cast<int32_t>(count);
}

void Boxes(const FabricBody& body, const std::string& where, FabricModel& out) {
  RequireSize(where, "box_sizes", body.box_sizes.size(), body.box_centres.size(), 3 * kMaxFabricBoxes);
  if (body.box_sizes.size() % 3 != 0)
    throw InputError(where, "box_sizes", std::to_string(body.box_sizes.size()) + " numbers", "three per box");
  out.boxes = static_cast<int32_t>(body.box_sizes.size() / 3);
  for (size_t i = 0; i < body.box_sizes.size(); ++i) {
    FabricBox& box = out.box[i / 3];
    box.low[i % 3] = body.box_centres[i] - 0.5 * body.box_sizes[i];
    box.high[i % 3] = body.box_centres[i] + 0.5 * body.box_sizes[i];
  }
}

double PerJoint(const std::vector<double>& values, size_t joint, size_t joints, const std::string& where,
                const char* key) {
  if (values.size() == 1) return values.front();
  if (values.size() == joints) return values[joint];
  throw InputError(where, key, std::to_string(values.size()) + " numbers", std::to_string(joints) + " or one");
}

// Acceleration may rise from one limit to the other within a step, which the limit on jerk must allow.
void AccelerationLimits(const FabricBody& body, const std::string& where, FabricModel& out) {
  const size_t joints = static_cast<size_t>(out.joints);
  for (size_t j = 0; j < joints; ++j) {
    const double limit = PerJoint(body.acceleration, j, joints, where, "acceleration");
    const double jerk = PerJoint(body.jerk, j, joints, where, "jerk");
    out.acceleration[j] = std::min(limit, 0.5 * jerk * out.dt_s);
  }
}

void SynergyRows(const HandSynergies& synergies, int arm_joints, FabricModel& out) {
  const size_t hand = static_cast<size_t>(synergies.Joints());
  if (synergies.Count() > kMaxFabricSynergies) throw InputError("task", "more than 16 hand synergies");
  out.synergies = synergies.Count();
  for (size_t s = 0; s < static_cast<size_t>(synergies.Count()); ++s) {
    for (size_t j = 0; j < hand; ++j)
      out.synergy[s][static_cast<size_t>(arm_joints) + j] = synergies.Rows()[s * hand + j];
  }
  for (int i = 0; i < out.joints; ++i) {
    out.base_metric[i][i] = out.posture_gain.mass;
    for (int k = 0; k < out.joints; ++k) {
      for (int s = 0; s < out.synergies; ++s)
        out.base_metric[i][k] += out.synergy_gain.mass * out.synergy[s][i] * out.synergy[s][k];
    }
  }
}

FabricAttractor ToFlat(const AttractorGains& g) {
  return {g.mass, g.gain, g.sharpness, g.damping, g.damping_sharpness, g.damping_radius};
}

void Gains(const FabricGains& gains, FabricModel& out) {
  out.posture_gain = ToFlat(gains.posture);
  out.synergy_gain = ToFlat(gains.synergies);
  out.palm_gain = ToFlat(gains.palm);
  out.palm_lever = gains.palm_lever_m;
  const LimitGains& l = gains.limits;
  out.limit_metric = l.metric;
  out.limit_least = std::sqrt(l.metric / l.max_metric);
  out.limit_offset = l.offset;
  out.limit_gain = l.gain;
  out.limit_damping = l.damping;
  const RepulsionGains& r = gains.repulsion;
  out.engage = r.engage_m;
  out.min_distance = r.min_m;
  out.max_distance = r.max_m;
  out.repulsion_metric = r.metric;
  out.repulsion_gain = r.gain;
  out.geometric_gain = r.geometric_gain;
  out.gate_sharpness = r.gate_sharpness;
  out.gate_speed = r.gate_speed;
  out.guard_margin = gains.guard_margin_m;
  out.dt_s = gains.dt_s;
}

}  // namespace

FabricModel MakeFabricModel(const KinematicTree& tree, const LinkFrame& palm, int arm_joints,
                            const HandSynergies& synergies, std::span<const double> posture, const FabricGains& gains,
                            const FabricBody& body, const std::string& where) {
  GS_CHECK(static_cast<int>(posture.size()) == tree.Joints(), "one posture value per joint");
  GS_CHECK(arm_joints + synergies.Joints() == tree.Joints() || synergies.Count() == 0, "synergies over the hand");
  FabricModel out{};
  Builder builder(tree, where);
  builder.Links(out);
  for (size_t j = 0; j < posture.size(); ++j) {
    out.lower[j] = tree.limits[j].lower;
    out.upper[j] = tree.limits[j].upper;
    out.posture[j] = posture[j];
  }
  out.hand_begin = arm_joints;
  const Place& place = builder.At(palm.link);
  if (place.link < 0) throw InputError(where, "the palm does not move");
  const Transform pose = place.pose * palm.pose;
  out.palm_link = place.link;
  out.palm_rotation = ToMatrix(pose.quat);
  out.palm_origin = pose.pos;
  Gains(gains, out);
  AccelerationLimits(body, where, out);
  SynergyRows(synergies, arm_joints, out);
  Spheres(body, builder, where, out);
  Boxes(body, where, out);
  return out;
}

}  // namespace gripstream
