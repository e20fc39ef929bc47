// libFuzzer entry for the decoder in wire/message.h. Built when the compiler is clang; run it with a time limit:
//   fuzz_message -max_total_time=600 -max_len=40000
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/wire/decode_any.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  try {
    gripstream::DecodeAny(std::as_bytes(std::span(data, bytes)));
  } catch (const gripstream::FrameError&) {
  }
  return 0;
}
