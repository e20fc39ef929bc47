"""Stable-Baselines3's PPO on a classic task of EnvPool, for `gripstream bench classic`.

    python bench_classic.py inverted_pendulum|half_cheetah SAMPLES SEED

Prints the mean return of 20 episodes by the mean action. Hyper-parameters are those of launch/bench_classic.cc.
"""

import sys

import envpool
import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

TASKS = {"inverted_pendulum": ("InvertedPendulum-v4", 3.0), "half_cheetah": ("HalfCheetah-v4", 1.0)}
ENVS, HORIZON, EPISODES = 8, 256, 20


class Pool(VecEnv):
    """EnvPool as Stable-Baselines3 wants it: actions in [-1, 1], the next episode's observation where one has ended."""

    def __init__(self, task, envs, seed):
        name, self.scale = TASKS[task]
        self.pool = envpool.make(name, env_type="gymnasium", num_envs=envs, num_threads=1, seed=seed)
        seen, done = self.pool.observation_space, self.pool.action_space
        super().__init__(
            envs,
            gymnasium.spaces.Box(-np.inf, np.inf, seen.shape, np.float32),
            gymnasium.spaces.Box(-1, 1, done.shape, np.float32),
        )

    def reset(self):
        return self.pool.reset()[0].astype(np.float32)

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        scaled = self.scale * np.clip(self.actions, -1, 1).astype(np.float64)
        seen, reward, terminated, truncated, _ = self.pool.step(scaled)
        seen, done = seen.astype(np.float32), terminated | truncated
        infos = [{} for _ in range(self.num_envs)]
        over = np.flatnonzero(done)
        for i in over:
            infos[i] = {"terminal_observation": seen[i].copy(), "TimeLimit.truncated": bool(truncated[i] and not terminated[i])}
        if len(over):
            seen[over] = self.pool.reset(over)[0].astype(np.float32)
        return seen, reward.astype(np.float32), done, infos

    def close(self):
        pass

    def get_attr(self, name, indices=None):
        return [getattr(self, name, None)] * self.num_envs

    def set_attr(self, name, value, indices=None):
        setattr(self, name, value)

    def env_method(self, name, *args, indices=None, **kwargs):
        raise NotImplementedError(name)

    def env_is_wrapped(self, wrapper, indices=None):
        return [False] * self.num_envs


def main():
    task, samples, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    envs = VecNormalize(Pool(task, ENVS, seed), norm_reward=False, clip_obs=10)
    model = PPO("MlpPolicy", envs, n_steps=HORIZON, batch_size=64, n_epochs=10, learning_rate=3e-4, seed=seed, device="cpu")
    model.learn(samples)
    test = Pool(task, EPISODES, 4242)
    seen, returns, first = test.reset(), np.zeros(EPISODES), np.full(EPISODES, True)
    while first.any():
        action, _ = model.predict(envs.normalize_obs(seen), deterministic=True)
        test.step_async(action)
        seen, reward, done, _ = test.step_wait()
        returns += np.where(first, reward, 0)
        first &= ~done
    print(returns.mean())


if __name__ == "__main__":
    main()
