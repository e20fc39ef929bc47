// Models inside installed Python packages, named without saying where Python keeps them: package:NAME/path in the model
// key of a task and in the file names of an MJCF file.
//
// A package is looked for in $GRIPSTREAM_PACKAGES (a folder that holds packages), in the active virtual environment and
// where tools/setup.sh puts wheels. Reads the environment; thread-safe otherwise.
#pragma once

#include <string>

namespace gripstream {

// `text` with every package:NAME/ replaced by the package's folder. Throws InputError naming `where` and the package.
std::string ResolvePackages(const std::string& text, const std::string& where);

}  // namespace gripstream
