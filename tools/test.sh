#!/usr/bin/env bash
# Installs what is missing, builds and runs all tests:
#   tools/test.sh            everything: release build with all tests, then the sanitizers over the parts without LibTorch
#   tools/test.sh quick      only tests labelled quick, release build
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-all}
[[ $what == all || $what == quick ]] || { echo "tools/test.sh: got '$what', expected all or quick" >&2; exit 2; }
tools/setup.sh --tests
tools/build.sh release
echo "== Tests: release"
labels=()
[[ $what == quick ]] && labels=(-L quick)
ctest --test-dir build/release --output-on-failure -j"$(nproc)" "${labels[@]}"
if [[ $what == all ]]; then
  tools/build.sh asan
  echo "== Tests: AddressSanitizer and UndefinedBehaviorSanitizer, parts without LibTorch"
  ctest --test-dir build/asan --output-on-failure -j"$(nproc)" -L quick
fi
cat <<'END'

Next:
  train:     tools/quickstart.sh
  measure:   build/release/gripstream bench all
END
