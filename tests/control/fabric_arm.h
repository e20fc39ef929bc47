// The shipped robot's fabric over the arm of arm.h: the same spheres and boxes, by other link names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "control/fabric.h"
#include "core/rng.h"
#include "tests/control/arm.h"

namespace gripstream::testing {

inline FabricBody ShippedBody() {
  FabricBody body;
  ConfigFile(std::string(GRIPSTREAM_SOURCE_DIR) + "/envs/assets/fabric_body.yaml", std::vector<std::string>())
      .Read(body);
  std::map<std::string, std::string> names = {{"palm_link", "palm"}};
  for (int i = 1; i <= 7; ++i) names["iiwa7_link_" + std::to_string(i)] = "link" + std::to_string(i - 1);
  int link = 8;
  for (const std::string finger : {"index", "middle", "ring", "thumb"}) {
    for (int i = 0; i < 4; ++i) names[finger + "_link_" + std::to_string(i)] = "link" + std::to_string(link++);
  }
  for (auto* list : {&body.links, &body.self_movers, &body.self_obstacles}) {
    for (std::string& name : *list) name = names.at(name);
  }
  return body;
}

inline HandSynergies FiveSynergies() {
  std::vector<std::vector<double>> rows(5, std::vector<double>(16));
  Rng rng = RandomStream(3, "rows").At(0, 0);
  for (auto& row : rows) {
    for (double& value : row) value = rng.Normal();
  }
  return HandSynergies(rows, "test");
}

inline FabricModel ArmFabric(const FabricGains& gains = {}, const FabricBody& body = ShippedBody()) {
  const Arm arm = MakeArm();
  std::vector<double> posture = {-0.85, -0.5, 0.76, 1.25, -1.76, 0.9,  0.64, 0,   0.75, 0.75, 0.75, 0,
                                 0.75,  0.75, 0.75, 0,    0.75,  0.75, 0.75, 1.5, 0.5,  0.5,  0.5};
  return MakeFabricModel(arm.tree, arm.palm, 7, FiveSynergies(), posture, gains, body, "test");
}

}  // namespace gripstream::testing
