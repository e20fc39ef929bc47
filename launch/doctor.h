// What a machine must have for a run, checked one by one, each failure with the package or setting that mends it.
//
// The checks look at the machine through Surroundings only, so that tests can show them any machine. What the
// configuration does not need may be absent; what is there must work. Plain functions, one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/run_config.h"

namespace gripstream {

// The machine, as far as the checks ask.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  // Why the shared library cannot be loaded; empty when it can.
  virtual std::string WhyNotLoad(const std::string& library) = 0;
  // GPUs that the driver's own library counts, by name; `problem` says why it cannot.
  virtual std::vector<std::string> Gpus(std::string& problem) = 0;
  virtual bool Exists(const std::string& path) = 0;
  virtual std::optional<std::string> FirstLine(const std::string& path) = 0;
  virtual std::optional<uint64_t> FreeBytes(const std::string& folder) = 0;
  virtual uint64_t AvailableMemory() = 0;
  virtual int Cores() = 0;      // that this process may use
  virtual int OpenFiles() = 0;  // the limit
  virtual std::string MujocoVersion() = 0;
  // Why a role's program cannot start; empty when it can. `last_line` is the last thing it said.
  virtual std::string WhyNotStart(const std::string& program) = 0;
  // Why nobody can listen at a loopback address "127.0.0.1:port" (port 0: any); empty when one can.
  virtual std::string WhyNotListen(int port) = 0;
  virtual std::string WhyNoSharedMemory() = 0;
};
Surroundings& ThisMachine();

struct Finding {
  enum class Verdict { kGood, kAbsent, kFailed };  // absent: not there, and not needed
  std::string what;
  Verdict verdict = Verdict::kGood;
  std::string found;
  std::string mend;  // of a failure
};

// One line per finding on stdout, two for a failure; returns the number of failures.
int PrintFindings(const std::vector<Finding>& findings);

std::vector<Finding> Diagnose(Surroundings& machine, const RunConfig& config);

}  // namespace gripstream
