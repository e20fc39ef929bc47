// Tests policies/published.h.
#include "policies/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "policies/initialise.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

constexpr PolicyShapes kShapes{
    .proprio = 5, .state = 9, .height_px = 32, .width_px = 40, .depth_scale_m = 1e-4, .aux = 3, .action = 4};

Policy MakePolicy(uint64_t seed, std::vector<int> hidden = {16}) {
  PolicyConfig config;
  config.actor_hidden = std::move(hidden);
  return Policy(config, kShapes, seed);
}

std::string WhyRefused(std::span<const std::byte> bytes, Policy& policy) {
  try {
    UnpackPolicy(bytes, policy);
  } catch (const RunError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(PublishedPolicy, ArrivesWithItsParametersAndNormalisersBitForBit) {
  Policy policy = MakePolicy(1), copy = MakePolicy(2);
  const RandomStream stream(3, "published test");
  const torch::Tensor depth = at::full({8, 32, 40}, 7000, torch::kInt32).to(torch::kUInt16);
  policy.UpdateNormalizers({.proprio = NormalTensor(stream.At(0, 0), {8, 5}, 1.0),
                            .depth = depth,
                            .state = NormalTensor(stream.At(1, 0), {8, 9}, 1.0),
                            .aux = NormalTensor(stream.At(2, 0), {8, 3}, 1.0)});
  UnpackPolicy(PackPolicy(policy), copy);
  const std::vector<NamedTensor> sent = policy.State(), arrived = copy.State();
  ASSERT_EQ(sent.size(), arrived.size());
  for (size_t i = 0; i < sent.size(); ++i) EXPECT_TRUE(at::equal(sent[i].value, arrived[i].value)) << sent[i].name;
}

TEST(PublishedPolicy, OfAnotherSizeOrShapeIsRefusedAndChangesNothing) {
  Policy policy = MakePolicy(1);
  const std::vector<std::byte> before = PackPolicy(policy);
  std::vector<std::byte> bytes = PackPolicy(MakePolicy(2));
  EXPECT_THAT(WhyRefused(std::span(bytes).first(bytes.size() - 1), policy), HasSubstr(std::to_string(bytes.size())));
  EXPECT_THAT(WhyRefused({}, policy), HasSubstr("0 bytes"));
  EXPECT_THAT(WhyRefused(PackPolicy(MakePolicy(2, {17})), policy), HasSubstr("bytes"));
  bytes[0] ^= std::byte{1};  // of the hash
  EXPECT_THAT(WhyRefused(bytes, policy), HasSubstr("other tensors"));
  EXPECT_EQ(PackPolicy(policy), before);
}

}  // namespace
}  // namespace gripstream
