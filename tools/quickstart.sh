#!/usr/bin/env bash
# From a fresh clone to a policy that moves a robot over its own interface: installs, builds, trains the reach task from
# depth, distils a student that sees colours instead, exports it and runs it against a simulated robot.
# Downloads about 0.6 GB on the first run and needs about 4 GB of disk and 4 GB of memory.
#
#   tools/quickstart.sh [--dir DIR] [--skip STAGES] [--set key=value ...]
#
# Stages: setup, build, train, distill, export, robot. --skip takes some of them, separated by commas. A stage that was
# done before is not done again, one that was interrupted goes on where it stopped; remove DIR (runs/quickstart) to
# begin anew. --set goes to `gripstream train`.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=runs/quickstart
skip=,
overrides=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --dir) dir=${2:?--dir takes a folder}; shift 2 ;;
    --skip) skip=,${2:?--skip takes stages},; shift 2 ;;
    --set) overrides+=(--set "${2:?--set takes key=value}"); shift 2 ;;
    *) sed -n '6,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
gripstream=build/release/gripstream

wanted() { [[ $skip != *,$1,* ]]; }
say() { printf '== %s\n' "$*"; }

# learned RUN COMMAND...: does the command, which makes the run folder; goes on with one that is there and not done.
learned() {
  local run=$1
  shift
  if [[ -f $run/results.json ]] && grep -q '"status": "completed"' "$run/results.json"; then
    say "$run is there already"
  elif compgen -G "$run/checkpoints/*.safetensors" >/dev/null; then
    say "Going on with $run"
    "$gripstream" train --resume "$run"
  else
    rm -rf "$run"
    "$@" --set "run.dir=$run"
  fi
}

if wanted setup; then tools/setup.sh; fi
if wanted build; then tools/build.sh release gripstream; fi
if wanted train; then
  say "Train from depth: configs/quickstart.yaml (about 3 minutes on 2 cores)"
  learned "$dir/teacher" "$gripstream" train configs/quickstart.yaml "${overrides[@]}"
fi
if wanted distill; then
  say "Distil to colours: configs/quickstart_student.yaml (about 3 minutes on 2 cores)"
  learned "$dir/student" "$gripstream" distill configs/quickstart_student.yaml --teacher "$dir/teacher"
fi
if wanted export; then
  say "Export the student"
  "$gripstream" export "$dir/student" -o "$dir/policy"
fi
if wanted robot; then
  say "Run it against a simulated robot (docs/robot.md)"
  "$gripstream" sim_robot "$dir/policy" --run "$dir/policy" --episodes 100 --sheet "$dir/robot.png"
fi
cat <<END

Next:
  look at what the robot's camera saw and what it did:   $dir/robot.png
  and at the teacher's evaluation:                       $dir/teacher/evaluation.png
  watch the curves:                      tools/setup.sh --tests && build/deps/venv/bin/tensorboard --logdir runs
  evaluate it again:                     $gripstream eval $dir/teacher
  train longer from where it stopped:    $gripstream train --resume $dir/teacher --set train.iterations=400
  move your own robot:                   docs/robot.md
END
