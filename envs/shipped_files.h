// Where the files that come with gripstream are: in the source tree, or beside the library inside a Python package.
//
// Thread-safe.
#pragma once

#include <string>

namespace gripstream {

// A model or table of envs/assets.
std::string ShippedFile(const std::string& name);

// The folder of Python packages that gripstream was built or installed with.
std::string OwnPackagesFolder();

}  // namespace gripstream
