#!/usr/bin/env bash
# Builds the CUDA renderer, runs its tests, and prints depth and colour images per second on this machine's GPU, in a few
# minutes:
#   tools/gpu_check.sh [ENVIRONMENTS]     4096 environments by default
# Without a GPU the kernels are still built and tested on the CPU, and the figures read "not measured: no device".
set -euo pipefail
cd "$(dirname "$0")/.."
environments=${1:-4096}
build=build/gpu_check
[[ -d build/deps/venv ]] || tools/setup.sh

echo "== GPU"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "none that nvidia-smi knows"

echo "== Build: CUDA renderer in $build"
settings=(-DGRIPSTREAM_CUDA=ON -DGRIPSTREAM_TORCH=OFF "-DGRIPSTREAM_FOLDERS=core;control;wire;envs;sim_server")
# For the GPU that is here alone, where there is one: quicker to build.
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 || true)
[[ $capability =~ ^[0-9]+\.[0-9]+$ ]] && settings+=("-DCMAKE_CUDA_ARCHITECTURES=${capability/./}")
cmake --preset release -B "$build" "${settings[@]}" >/dev/null
cmake --build "$build" --target test_render_cuda bench_cuda_render

echo "== Tests: kernels on the CPU, then on the GPU"
"$build/test_render_cuda" --gtest_brief=1
if command -v compute-sanitizer >/dev/null && nvidia-smi >/dev/null 2>&1; then
  echo "== Tests: compute-sanitizer"
  timeout 120 compute-sanitizer --error-exitcode 1 "$build/test_render_cuda" --gtest_brief=1 \
    --gtest_filter='Cuda.*Meshes*:Cuda.*Twice*:Cuda.*Noise*:Cuda.*Colour*'
fi

echo "== Depth and colour images per second, and colour beside the CPU renderer's, $environments environments of the grasp scene"
"$build/bench_cuda_render" envs/assets/kuka_allegro.xml depth "$environments"

echo "== mujoco_warp's batch renderer on the same scene"
python=${GRIPSTREAM_WARP_PYTHON:-build/deps/venv/bin/python}  # one that has the mujoco-warp wheels
if ! nvidia-smi >/dev/null 2>&1; then
  echo "not measured: no device"
elif ! "$python" -c 'import mujoco_warp' 2>/dev/null; then
  echo "not measured: $python has no mujoco_warp"
else
  timeout 240 "$python" tools/bench_warp_render.py envs/assets/kuka_allegro.xml depth "$environments"
fi
