// libFuzzer's entry for tests/wire/fuzz_wire.h. tools/fuzz.sh builds and runs it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/files.h"
#include "tests/wire/fuzz_seeds.h"

namespace {

// The well-formed inputs, where tools/fuzz.sh wants them.
void WriteSeeds() {
  const char* folder = std::getenv("GRIPSTREAM_FUZZ_SEEDS");
  if (!folder) return;
  int count = 0;
  for (const gripstream::Bytes& seed : gripstream::FuzzSeeds()) {
    gripstream::WriteFileAtomically(std::string(folder) + "/seed" + std::to_string(count++), std::span(seed));
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  WriteSeeds();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  gripstream::FuzzOne(std::as_bytes(std::span(data, bytes)));
  return 0;
}
