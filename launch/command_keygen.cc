// gripstream keygen: the CURVE keys that addresses beyond this machine need.
#include <cstdio>

#include "core/error.h"
#include "launch/commands.h"
#include "wire/curve_keys.h"

namespace gripstream {

int KeygenCommand(const KeygenArguments& arguments) {
  const char* folder = arguments.folder.c_str();
  if (arguments.simulator.empty()) {
    MakeKeyFolder(arguments.folder);
    std::printf("%s: keys of the learner and of its simulators.\n", folder);
    std::printf(
        "Machines with simulators: copy learner.public and simulator.secret there, or make keys of their own\n");
    std::printf("with --simulator NAME. learner.secret stays on the learner's machine. Run with wire.curve.keys=%s\n",
                folder);
    return kExitOk;
  }
  MakeSimulatorKeys(arguments.folder, arguments.simulator);
  std::printf("%s: keys of the simulators of '%s'.\n", folder, arguments.simulator.c_str());
  std::printf("Copy allowed/%s.public into allowed/ of the learner's keys, and its learner.public here.\n",
              arguments.simulator.c_str());
  return kExitOk;
}

}  // namespace gripstream
