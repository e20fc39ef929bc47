// gripstream doctor: what this machine has, what it lacks, and what mends it.
#include "core/error.h"
#include "launch/commands.h"
#include "launch/doctor.h"

namespace gripstream {

int DoctorCommand(const std::string& config_path, const std::vector<std::string>& overrides) {
  RunConfig config;
  if (!config_path.empty()) config = ReadRunConfig(config_path, overrides);
  return PrintFindings(Diagnose(ThisMachine(), config)) == 0 ? kExitOk : kExitFailed;
}

}  // namespace gripstream
