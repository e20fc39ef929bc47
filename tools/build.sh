#!/usr/bin/env bash
# Configures and builds a preset:  tools/build.sh [release|debug|asan|cuda] [ninja targets...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
[[ $# -gt 0 ]] && shift
mkdir -p build
echo "== Build: preset $preset in build/$preset"
cmake --preset "$preset" >"build/configure-$preset.log" 2>&1 || { tail -n 40 "build/configure-$preset.log" >&2; exit 1; }
cmake --build --preset "$preset" -- "$@"
