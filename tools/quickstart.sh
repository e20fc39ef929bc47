#!/usr/bin/env bash
# From a fresh clone to a trained policy: installs, builds, trains the reach task from depth and evaluates it.
#   tools/quickstart.sh [--set key=value ...]      overrides go to `gripstream train`
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh
tools/build.sh release gripstream
echo "== Train: configs/quickstart.yaml (about 3 minutes on 2 cores)"
build/release/gripstream train configs/quickstart.yaml "$@"
run=$(ls -dt runs/quickstart-* 2>/dev/null | head -n 1)
cat <<END

Next:
  look at what the policy saw and did:   ${run:-RUN}/evaluation.png
  watch the curves:                      build/deps/venv/bin/pip install tensorboard && build/deps/venv/bin/tensorboard --logdir runs
  evaluate it again:                     build/release/gripstream eval ${run:-RUN}
  train longer from where it stopped:    build/release/gripstream train --resume ${run:-RUN} --set train.iterations=400
END
