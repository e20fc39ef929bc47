"""Depth images per second of mujoco_warp's batch renderer, for tools/gpu_check.sh to print beside ours:

    bench_warp_render.py MODEL.xml CAMERA ENVIRONMENTS [WIDTH HEIGHT]

Environments are posed as bench_cuda_render poses them: the first key frame with every hinge moved up to 0.35 rad. What
is timed is the refit of the acceleration structure and the rendering; images stay on the device.
"""
import sys
import time

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp


def main() -> None:
    path, camera, environments = sys.argv[1], sys.argv[2], int(sys.argv[3])
    width, height = (int(sys.argv[4]), int(sys.argv[5])) if len(sys.argv) > 5 else (160, 120)
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    warp_model, warp_data = mjw.put_model(model), mjw.put_data(model, data, nworld=environments)
    poses = np.tile(data.qpos, (environments, 1))
    hinges = model.jnt_qposadr[model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE]
    poses[:, hinges] += np.random.default_rng(1).uniform(-0.35, 0.35, (environments, len(hinges)))
    warp_data.qpos.assign(poses.astype(np.float32))
    mjw.kinematics(warp_model, warp_data)
    mjw.camlight(warp_model, warp_data)
    active = [model.camera(i).name == camera for i in range(model.ncam)]
    context = mjw.create_render_context(
        model, environments, cam_res=(width, height), render_rgb=False, render_depth=True, cam_active=active
    )

    def render() -> None:
        mjw.refit_bvh(warp_model, warp_data, context)
        mjw.render(warp_model, warp_data, context)

    render()
    wp.synchronize()
    best = 0.0
    for _ in range(5):
        start, images = time.perf_counter(), 0
        while time.perf_counter() - start < 0.5:
            render()
            wp.synchronize()
            images += environments
        best = max(best, images / (time.perf_counter() - start))
    print(f"mujoco_warp {mjw.__version__ if hasattr(mjw, '__version__') else ''} depth {width}x{height}, "
          f"{environments} environments: {best:.0f} images/s")


main()
