#!/usr/bin/env bash
# From a fresh clone to a trained policy: installs, builds, trains the reach task from depth and evaluates it.
# Downloads about 0.6 GB on the first run and needs about 4 GB of disk and 4 GB of memory.
#   tools/quickstart.sh [--set key=value ...]      overrides go to `gripstream train`
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh
tools/build.sh release gripstream
echo "== Train: configs/quickstart.yaml (about 3 minutes on 2 cores)"
log=$(mktemp)
build/release/gripstream train configs/quickstart.yaml "$@" | tee "$log"
run=$(sed -n 's/^run folder: //p' "$log" | tail -n 1)
rm -f "$log"
cat <<END

Next:
  look at what the policy saw and did:   ${run:-RUN}/evaluation.png
  watch the curves:                      tools/setup.sh --tests && build/deps/venv/bin/tensorboard --logdir runs
  evaluate it again:                     build/release/gripstream eval ${run:-RUN}
  train longer from where it stopped:    build/release/gripstream train --resume ${run:-RUN} --set train.iterations=400
END
