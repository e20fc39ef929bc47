// gripstream doctor: what this machine has, what it lacks, and what mends it.
#include <cstdio>

#include "core/error.h"
#include "launch/commands.h"
#include "launch/doctor.h"

namespace gripstream {

int DoctorCommand(const std::string& config_path, const std::vector<std::string>& overrides) {
  RunConfig config;
  if (!config_path.empty()) config = ReadRunConfig(config_path, overrides);
  int failures = 0;
  for (const Finding& finding : Diagnose(ThisMachine(), config)) {
    const bool failed = finding.verdict == Finding::Verdict::kFailed;
    const char* word = failed ? "FAIL" : finding.verdict == Finding::Verdict::kGood ? "ok" : "-";
    std::printf("%-4s  %-18s %s\n", word, finding.what.c_str(), finding.found.c_str());
    if (failed) std::printf("      %-18s -> %s\n", "", finding.mend.c_str());
    failures += failed;
  }
  if (failures > 0) std::printf("%d to mend\n", failures);
  return failures == 0 ? kExitOk : kExitFailed;
}

}  // namespace gripstream
