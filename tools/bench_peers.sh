#!/usr/bin/env bash
# Installs what `gripstream bench` compares with and nothing else needs: EnvPool, Stable-Baselines3 and rsl_rl, in an
# environment of its own in build/deps/peers (some 8 GB: PyTorch brings its CUDA libraries). Safe to run again.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/pins.env
peers=build/deps/peers
[[ -x $peers/bin/python ]] || build/deps/venv/bin/python -m venv "$peers"
"$peers/bin/python" -m pip install --disable-pip-version-check --quiet "envpool==$ENVPOOL_VERSION" "torch==$TORCH_VERSION" \
  "stable-baselines3==$STABLE_BASELINES3_VERSION" "rsl-rl-lib==$RSL_RL_VERSION"
echo "== Peers of the benchmarks in $peers: EnvPool $ENVPOOL_VERSION, Stable-Baselines3 $STABLE_BASELINES3_VERSION," \
  "rsl_rl $RSL_RL_VERSION on PyTorch $TORCH_VERSION"
