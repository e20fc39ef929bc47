// Tests policies/operations.h.
#include "policies/operations.h"

#include <gtest/gtest.h>

#include "policies/network.h"

namespace gripstream {
namespace {

TEST(Operations, AreTwiceTheMultiplicationsOfEachLayer) {
  PolicyConfig config;
  config.encoder.channels = {2}, config.encoder.kernels = {3}, config.encoder.strides = {2};
  config.encoder.features = 5;
  config.actor_hidden = {7};
  config.critic_hidden = {11};
  config.aux.hidden = {13};
  const PolicyShapes shapes{
      .proprio = 4, .state = 6, .height_px = 9, .width_px = 7, .depth_scale_m = 1e-4, .aux = 3, .action = 8};
  const auto count = [&] {
    return ForwardOperations(ActorCritic(config, shapes, 1).Parameters(), config.encoder, shapes);
  };
  // 9x7 by kernels of 3 and strides of 2 gives 4x3.
  const double encoder = 2.0 * (2 * 3 * 3 * 4 * 3 + 2 * 4 * 3 * 5);
  const double actor = 2.0 * ((5 + 4 + 3) * 7 + 7 * 8), critic = 2.0 * (6 * 11 + 11),
               aux = 2.0 * ((5 + 4) * 13 + 13 * 3);
  EXPECT_DOUBLE_EQ(count(), encoder + actor + critic + aux);
  config.aux.enabled = false;
  EXPECT_DOUBLE_EQ(count(), encoder + 2.0 * ((5 + 4) * 7 + 7 * 8) + critic);
  config.name = "state_mlp";
  EXPECT_DOUBLE_EQ(count(), 2.0 * (6 * 7 + 7 * 8) + critic);
}

}  // namespace
}  // namespace gripstream
