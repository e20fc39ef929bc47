// Tests control/senses.h.
#include "control/senses.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr SensedPart kAll[] = {SensedPart::kJointPosition,
                               SensedPart::kJointVelocity,
                               SensedPart::kPalmPosition,
                               SensedPart::kHandPosition,
                               SensedPart::kHandVelocity,
                               SensedPart::kObjectPosition,
                               SensedPart::kObjectRotation,
                               SensedPart::kGoal,
                               SensedPart::kObjectIdentity,
                               SensedPart::kObjectScale,
                               SensedPart::kLastAction,
                               SensedPart::kCommandedPalm,
                               SensedPart::kCommandedPosition,
                               SensedPart::kCommandedVelocity,
                               SensedPart::kCommandedAcceleration,
                               SensedPart::kTimeLeft};
constexpr TaskDims kDims{.joints = 2, .actions = 1, .hand_points = 2, .touches = 0, .objects = 3};

struct Moment {
  std::vector<double> q = {0.1, 0.2}, qd = {1, 2}, command = {3, 4};
  std::vector<FrameMotion> hand = {{{1, 2, 3}, {4, 5, 6}, {}}, {{7, 8, 9}, {10, 11, 12}, {}}};
  std::vector<float> action = {0.5f};
  Senses Get() const {
    return {.q = q,
            .qd = qd,
            .hand = hand,
            .action = action,
            .commanded_palm = {20, 21, 22},
            .command_q = command,
            .command_qd = command,
            .command_qdd = command,
            .time_left = 0.25,
            .velocity_factor = 0.5,
            .goal = {30, 31, 32},
            .object = {{40, 41, 42}, {1, 0, 0, 0}},
            .object_index = 1,
            .objects = 3};
  }
};

std::vector<float> Written(const ProprioRule& rule, const Moment& moment) {
  size_t size = 0;
  for (const ObservationField& field : FieldsOf(rule.parts, kDims)) size += static_cast<size_t>(field.size);
  std::vector<float> out(size);
  WriteProprio(rule, moment.Get(), out);
  return out;
}

TEST(Senses, EveryPartIsWrittenInItsPlaceWithTheFactorOnSpeedsAndAccelerationsOnly) {
  const std::vector<float> expected = {0.1f, 0.2f, 0.5f, 1,    1,  2,  3,  1, 2, 3,    7, 8,    9,  2,    2.5f,
                                       3,    5,    5.5f, 6,    40, 41, 42, 1, 0, 0,    0, 30,   31, 32,   0,
                                       1,    0,    1,    0.5f, 20, 21, 22, 3, 4, 1.5f, 2, 1.5f, 2,  0.25f};
  EXPECT_EQ(Written({{std::begin(kAll), std::end(kAll)}}, {}), expected);
}

TEST(Senses, PartsAreFoundByTheNamesOfTheirFields) {
  for (const ObservationField& field : FieldsOf(kAll, kDims)) {
    SensedPart part;
    ASSERT_TRUE(FindPart(field.name, part)) << field.name;
    EXPECT_EQ(FieldsOf(std::span(&part, 1), kDims).front().name, field.name);
    EXPECT_EQ(KnownToRobot(part), field.name.rfind("object", 0) != 0) << field.name;
  }
  SensedPart part;
  EXPECT_FALSE(FindPart("joint_positions", part));
}

TEST(Senses, NumbersAreHeldWithinTheClip) {
  EXPECT_EQ(Written({{SensedPart::kGoal, SensedPart::kTimeLeft}, 31.5}, {}),
            (std::vector<float>{30, 31, 31.5f, 0.25f}));
}

TEST(Senses, ARowOfAnotherSizeIsRefused) {
  std::vector<float> row(4);
  EXPECT_THROW(WriteProprio({{SensedPart::kGoal}}, Moment().Get(), row), InternalError);
}

}  // namespace
}  // namespace gripstream
