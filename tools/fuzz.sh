#!/usr/bin/env bash
# Fuzzes everything in wire that reads bytes from the other side (tests/wire/fuzz_wire.h) with libFuzzer:
#   tools/fuzz.sh [SECONDS]     600 by default; needs Debian's clang
# Finds are left in build/fuzz/finds; what widened the coverage, reduced to little, in build/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
command -v clang++ >/dev/null || { echo "tools/fuzz.sh: no clang++; install the Debian package clang" >&2; exit 2; }
mkdir -p build/fuzz/{seeds,corpus,finds}
cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ -DGRIPSTREAM_FUZZ=ON \
  -DGRIPSTREAM_CUDA=OFF -DGRIPSTREAM_TORCH=OFF "-DGRIPSTREAM_FOLDERS=core;wire" >build/fuzz/configure.log
cmake --build build/fuzz --target fuzz_wire
cd build/fuzz
# The long run's stderr is the decoders' own log of refusals: libFuzzer's lines come through all the same.
GRIPSTREAM_FUZZ_SEEDS=seeds ./fuzz_wire corpus seeds ../../tests/wire/corpus -max_total_time="$seconds" -max_len=20000 \
  -timeout=10 -rss_limit_mb=2048 -close_fd_mask=2 -print_final_stats=1 -artifact_prefix=finds/
