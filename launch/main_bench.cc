// The benchmarks that need LibTorch: gripstream-bench pipeline --json FILE. `gripstream bench` runs it and shows the
// rows.
#include <CLI/CLI.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "launch/bench_pipeline.h"
#include "launch/bench_rows.h"
#include "launch/supervisor.h"

namespace gripstream {
namespace {

int Main(int argc, char** argv) {
  StartLog("bench");
  CatchInterrupts();
  PrepareRoleEnvironment();
  std::string what, json_path;
  double seconds = 1;
  CLI::App app("Benchmarks that need LibTorch; gripstream bench shows their rows");
  app.add_option("what", what, "pipeline")->required()->check(CLI::IsMember({"pipeline"}));
  app.add_option("--seconds", seconds, "time per measurement");
  app.add_option("--json", json_path, "file for the rows")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    throw InputError("command line", std::string(error.what()) + " (see --help)");
  }
  WriteFileAtomically(json_path, ToJson(BenchPipeline(seconds)));
  return kExitOk;
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(gripstream::Main, argc, argv);
}
