// Tests learner/gradient_norms.h.
#include "learner/gradient_norms.h"

#include <gtest/gtest.h>

#include <cmath>

#include "policies/network.h"

namespace gripstream {
namespace {

TEST(GradientNorms, AreOfTheModulesInDeclaredOrderAndMakeUpTheWhole) {
  const PolicyShapes shapes{.proprio = 7, .state = 9, .height_px = 24, .width_px = 32, .aux = 3, .action = 4};
  ActorCritic network({.actor_hidden = {16}, .critic_hidden = {8}}, shapes, 1);
  const ParameterSet::Flat flat = network.Parameters().Flatten();
  flat.gradients.fill_(2.0f);
  const auto norms = GradientNorms(network.Parameters(), flat.gradients);
  ASSERT_GE(norms.size(), 4u);
  EXPECT_EQ(norms.front().first, "encoder");
  double squares = 0;
  for (const auto& [module, norm] : norms) {
    int64_t count = 0;
    for (const NamedTensor& parameter : network.Parameters().All()) {
      if (parameter.name == module || parameter.name.starts_with(module + ".")) count += parameter.value.numel();
    }
    EXPECT_NEAR(norm, 2 * std::sqrt(static_cast<double>(count)), 1e-3) << module;
    squares += norm * norm;
  }
  EXPECT_NEAR(std::sqrt(squares), flat.gradients.norm().item<double>(), 1e-3);
}

}  // namespace
}  // namespace gripstream
