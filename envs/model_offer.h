// What a model offers to a task's names: actuators and what they are, sites, cameras, bodies that can be the object,
// touch sensors and key frames.
#pragma once

#include <string>

namespace gripstream {

// One paragraph per kind. Throws InputError when the file cannot be read or compiled.
std::string DescribeOffer(const std::string& path);

}  // namespace gripstream
