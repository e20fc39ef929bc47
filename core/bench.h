// One row of a benchmark: our figure beside a peer's or a limit's from the same run on the same machine.
//
// `ratio` is always better when larger; `goal` is the least ratio wanted. NaN marks what was not measured, and then
// `why` says the reason. Plain values.
#pragma once

#include <string>

namespace gripstream {

struct BenchRow {
  std::string name;
  double ours;
  double peer;
  std::string peer_name;
  double ratio;
  double goal;
  std::string unit;
  std::string why;
};

}  // namespace gripstream
