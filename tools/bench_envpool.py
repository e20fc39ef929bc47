"""EnvPool's HalfCheetah on one thread, for `gripstream bench env`: prints environment steps per second of processor time.

    python bench_envpool.py ENVIRONMENTS STEPS
"""

import sys
import time

import envpool
import numpy as np


def main():
    envs, steps = int(sys.argv[1]), int(sys.argv[2])
    pool = envpool.make("HalfCheetah-v4", env_type="gymnasium", num_envs=envs, num_threads=1, seed=1)
    pool.reset()
    actions = np.random.default_rng(1).uniform(-1, 1, (steps, envs, 6))
    for action in actions[:10]:
        pool.step(action)
    start = time.process_time()
    for action in actions:
        pool.step(action)
    print(envs * steps / (time.process_time() - start))


if __name__ == "__main__":
    main()
