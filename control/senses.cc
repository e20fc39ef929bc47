#include "control/senses.h"

#include <algorithm>

#include "core/error.h"

namespace gripstream {
namespace {

struct PartInfo {
  SensedPart part;
  const char* name;
  const char* unit;
};

constexpr PartInfo kParts[] = {
    {SensedPart::kJointPosition, "joint_position", "rad"},
    {SensedPart::kJointVelocity, "joint_velocity", "rad/s"},
    {SensedPart::kPalmPosition, "palm_position", "m"},
    {SensedPart::kHandPosition, "hand_position", "m"},
    {SensedPart::kHandVelocity, "hand_velocity", "m/s"},
    {SensedPart::kObjectPosition, "object_position", "m"},
    {SensedPart::kObjectRotation, "object_rotation", ""},
    {SensedPart::kGoal, "goal", "m"},
    {SensedPart::kObjectIdentity, "object", "one-hot"},
    {SensedPart::kObjectScale, "object_scale", ""},
    {SensedPart::kLastAction, "last_action", ""},
    {SensedPart::kCommandedPalm, "commanded_palm", "m"},
    {SensedPart::kCommandedPosition, "commanded_position", "rad"},
    {SensedPart::kCommandedVelocity, "commanded_velocity", "rad/s"},
    {SensedPart::kCommandedAcceleration, "commanded_acceleration", "rad/s2"},
    {SensedPart::kTimeLeft, "time_left", ""},
};

int SizeOf(SensedPart part, const TaskDims& dims) {
  switch (part) {
    case SensedPart::kJointPosition:
    case SensedPart::kJointVelocity:
    case SensedPart::kCommandedPosition:
    case SensedPart::kCommandedVelocity:
    case SensedPart::kCommandedAcceleration:
      return dims.joints;
    case SensedPart::kHandPosition:
    case SensedPart::kHandVelocity:
      return 3 * dims.hand_points;
    case SensedPart::kPalmPosition:
    case SensedPart::kObjectPosition:
    case SensedPart::kGoal:
    case SensedPart::kCommandedPalm:
      return 3;
    case SensedPart::kObjectRotation:
      return 4;
    case SensedPart::kObjectIdentity:
      return dims.objects;
    case SensedPart::kLastAction:
      return dims.actions;
    case SensedPart::kObjectScale:
    case SensedPart::kTimeLeft:
      return 1;
  }
  GS_CHECK(false, "unknown part of an observation");
}

void WritePart(SensedPart part, const Senses& s, NumberWriter& out) {
  switch (part) {
    case SensedPart::kJointPosition:
      return out.Put(s.q);
    case SensedPart::kJointVelocity:
      return out.Put(s.qd, s.velocity_factor);
    case SensedPart::kPalmPosition:
      return out.Put(s.hand.front().pos);
    case SensedPart::kHandPosition:
      for (const FrameMotion& point : s.hand) out.Put(point.pos);
      return;
    case SensedPart::kHandVelocity:
      for (const FrameMotion& point : s.hand) out.Put(s.velocity_factor * point.linear);
      return;
    case SensedPart::kObjectPosition:
      return out.Put(s.object.pos);
    case SensedPart::kObjectRotation:
      return out.Put(s.object.quat);
    case SensedPart::kGoal:
      return out.Put(s.goal);
    case SensedPart::kObjectIdentity:
      for (int i = 0; i < s.objects; ++i) out.Put(i == s.object_index ? 1.0 : 0.0);
      return;
    case SensedPart::kObjectScale:
      return out.Put(1.0);  // objects have one size
    case SensedPart::kLastAction:
      return out.Put(s.action);
    case SensedPart::kCommandedPalm:
      return out.Put(s.commanded_palm);
    case SensedPart::kCommandedPosition:
      return out.Put(s.command_q);
    case SensedPart::kCommandedVelocity:
      return out.Put(s.command_qd, s.velocity_factor);
    case SensedPart::kCommandedAcceleration:
      return out.Put(s.command_qdd, s.velocity_factor);
    case SensedPart::kTimeLeft:
      return out.Put(s.time_left);
  }
}

}  // namespace

std::vector<ObservationField> FieldsOf(std::span<const SensedPart> parts, const TaskDims& dims) {
  std::vector<ObservationField> fields;
  for (const SensedPart part : parts) {
    const PartInfo& info = *std::ranges::find(kParts, part, &PartInfo::part);
    fields.push_back({info.name, SizeOf(part, dims), info.unit});
  }
  return fields;
}

bool FindPart(const std::string& name, SensedPart& part) {
  for (const PartInfo& info : kParts) {
    if (name != info.name) continue;
    part = info.part;
    return true;
  }
  return false;
}

bool KnownToRobot(SensedPart part) {
  return part != SensedPart::kObjectPosition && part != SensedPart::kObjectRotation &&
         part != SensedPart::kObjectIdentity && part != SensedPart::kObjectScale;
}

void WriteParts(std::span<const SensedPart> parts, const Senses& senses, NumberWriter& out) {
  for (const SensedPart part : parts) WritePart(part, senses, out);
}

void WriteProprio(const ProprioRule& rule, const Senses& senses, std::span<float> out) {
  NumberWriter writer(out);
  WriteParts(rule.parts, senses, writer);
  GS_CHECK(writer.Written() == out.size(), "an observation is not filled as declared");
  if (rule.clip <= 0) return;
  const float clip = static_cast<float>(rule.clip);
  for (float& value : out) value = std::clamp(value, -clip, clip);
}

}  // namespace gripstream
