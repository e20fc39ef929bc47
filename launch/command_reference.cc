// gripstream reference: every key of a run file, from the structs that read it. docs/configuration.md is its output.
#include <cstdio>

#include "core/error.h"
#include "launch/commands.h"
#include "launch/run_config.h"

namespace gripstream {
namespace {

constexpr char kHead[] =
    "# Every key of a run file\n"
    "\n"
    "<!-- Written by `gripstream reference`; a test compares them. Change the Fields of the structs instead. -->\n"
    "\n"
    "A run file is YAML; what it leaves out has the default. `--set key=value` lays a value over it. Unknown keys, "
    "wrong\n"
    "types and values out of range are refused in one line. `RUN/config.yaml` holds all keys as a run had them. A "
    "robot's\n"
    "runner has keys of its own: `gripstream run --reference`.\n"
    "\n"
    "| key | type | unit | default | range | meaning |\n"
    "| --- | --- | --- | --- | --- | --- |\n";

}  // namespace

int ReferenceCommand() {
  const RunConfig defaults;
  std::printf("%s%s", kHead, ToReference(defaults).c_str());
  return kExitOk;
}

}  // namespace gripstream
