// How LibTorch runs in this process.
#pragma once

namespace gripstream {

// Sets LibTorch's thread count and its deterministic mode, and keeps freed memory for what comes next.
void PrepareTorch(int threads);

}  // namespace gripstream
