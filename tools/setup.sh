#!/usr/bin/env bash
# Installs the pinned dependencies: Debian packages, and the MuJoCo and LibTorch wheels inside build/deps.
# Safe to run again: what is already there is left alone, and then no network is needed.
#   tools/setup.sh            everything needed to build and run
#   tools/setup.sh --tests    also the packages that only tests use
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/pins.env

say() { printf '== %s\n' "$*"; }
deps=build/deps
venv=$deps/venv

# missing_packages LIST: those of the comma-separated list that are not installed.
missing_packages() {
  local package
  for package in ${1//,/ }; do
    # 'install ok installed' is dpkg's own word for a usable package.
    [[ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)" == "install ok installed" ]] || printf '%s ' "$package"
  done
}

install_debian_packages() {
  local missing sudo=()
  missing=$(missing_packages "$1")
  if [[ -z "$missing" ]]; then
    say "Debian packages: all there"
    return
  fi
  if [[ $(id -u) -ne 0 ]]; then
    # A sudo that would ask for a password is used only where somebody can type it.
    if command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo true; }; }; then
      sudo=(sudo)
    else
      echo "tools/setup.sh: not root and no sudo; ask for these Debian packages: ${missing% }" >&2
      exit 2
    fi
  fi
  say "Debian packages: installing ${missing% }"
  "${sudo[@]}" apt-get update -qq
  # shellcheck disable=SC2086  # the list is meant to split
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# wheels STAMP PACKAGE...: pip install --no-deps into the venv unless the stamp already names exactly these.
wheels() {
  local stamp=$deps/$1.stamp wanted
  shift
  wanted="$*"
  if [[ -f $stamp && "$(cat "$stamp")" == "$wanted" ]]; then
    say "Wheels: ${wanted} already there"
    return
  fi
  say "Wheels: installing ${wanted} into $venv"
  "$venv/bin/pip" install --disable-pip-version-check --no-warn-conflicts --quiet "${pip_flags[@]}" "$@"
  printf '%s\n' "$wanted" >"$stamp"
}

install_wheels() {
  mkdir -p "$deps"
  if [[ ! -x $venv/bin/python ]]; then
    local python=/usr/bin/python3
    [[ -x $python ]] || python=python3
    "$python" -c "import sys; tag='cp%d%d' % sys.version_info[:2]; sys.exit(0 if tag == '$PYTHON_TAG' else 1)" ||
      { echo "tools/setup.sh: $python is not Python for wheels tagged $PYTHON_TAG (tools/pins.env)" >&2; exit 2; }
    say "Python virtual environment: $venv"
    "$python" -m venv "$venv"
  fi
  pip_flags=(--no-deps)  # the CUDA halves of torch are not needed on a machine without a GPU
  wheels runtime "mujoco==$MUJOCO_VERSION" "mujoco-core==$MUJOCO_VERSION" "torch==$TORCH_VERSION" \
    "nvidia-cuda-runtime==$CUDA_RUNTIME_VERSION" "nvidia-cuda-cupti==$CUDA_CUPTI_VERSION"
  wheels geometry "vhacdx==$VHACDX_VERSION"
  if [[ ${1:-} == --tests ]]; then
    pip_flags=()
    wheels tests "tensorboard==$TENSORBOARD_VERSION" "numpy==$NUMPY_VERSION" "onnx==$ONNX_VERSION" \
      "onnxruntime==$ONNXRUNTIME_VERSION"
    wheels robot "pyzmq==$PYZMQ_VERSION"
    pip_flags=(--no-deps)  # of some only the model files inside are used
    wheels python "nanobind==$NANOBIND_VERSION" "scikit-build-core==$SCIKIT_BUILD_CORE_VERSION" \
      "pathspec==$PATHSPEC_VERSION" "cloudpickle==$CLOUDPICKLE_VERSION" \
      "farama-notifications==$FARAMA_NOTIFICATIONS_VERSION"
    wheels models "dm-control==$DM_CONTROL_VERSION" "gymnasium==$GYMNASIUM_VERSION" \
      "gymnasium-robotics==$GYMNASIUM_ROBOTICS_VERSION" "robosuite==$ROBOSUITE_VERSION"
  fi
}

if [[ ${1:-} == --tests ]]; then
  install_debian_packages "$APT_PACKAGES,$APT_TEST_PACKAGES"
else
  install_debian_packages "$APT_PACKAGES"
fi
install_wheels "$@"
