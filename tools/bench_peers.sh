#!/usr/bin/env bash
# Installs what `gripstream bench` compares with and nothing else needs: EnvPool, in an environment of its own in
# build/deps/peers (1 GB, most of it EnvPool's assets). Safe to run again.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/pins.env
peers=build/deps/peers
[[ -x $peers/bin/python ]] || build/deps/venv/bin/python -m venv "$peers"
"$peers/bin/pip" install --disable-pip-version-check --quiet "envpool==$ENVPOOL_VERSION"
echo "== Peers of the benchmark: EnvPool $ENVPOOL_VERSION in $peers"
