// A configuration as one line of text per key, to compare two of them. Pure functions.
#pragma once

#include <map>
#include <string>

#include "launch/run_config.h"

namespace gripstream {

// Dotted key -> its value as `--set` takes it.
std::map<std::string, std::string> FlatConfig(const RunConfig& config);

}  // namespace gripstream
