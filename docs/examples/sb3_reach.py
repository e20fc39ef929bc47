"""Stable-Baselines3's PPO on gripstream's environments: python docs/examples/sb3_reach.py [SAMPLES [ENVS]]

Trains on the true state, whose end of an episode is known too: what SB3 bootstraps from when the clock cuts one.
"""

import sys

import gripstream
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv


class Sb3Envs(VecEnv):
    """A gripstream vector environment as SB3 wants it; both reset an environment in the step that ends its episode."""

    def __init__(self, envs, observation):
        super().__init__(envs.num_envs, envs.single_observation_space[observation], envs.single_action_space)
        self.envs, self.observation = envs, observation

    def reset(self):
        return self.envs.reset()[0][self.observation]

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        seen, rewards, terminated, truncated, infos = self.envs.step(self.actions)
        told = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(terminated | truncated):
            told[i] = {"TimeLimit.truncated": bool(truncated[i]), "is_success": bool(infos["success"][i])}
            if "final_obs" in infos:
                told[i]["terminal_observation"] = infos["final_obs"][i][self.observation]
        return seen[self.observation], rewards, terminated | truncated, told

    def close(self):
        self.envs.close()

    def get_attr(self, name, indices=None):
        return [getattr(self.envs, name)] * len(list(self._get_indices(indices)))

    def set_attr(self, name, value, indices=None):
        setattr(self.envs, name, value)

    def env_method(self, name, *args, indices=None, **kwargs):
        return [getattr(self.envs, name)(*args, **kwargs)] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper, indices=None):
        return [False] * len(list(self._get_indices(indices)))


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    envs = gripstream.make_vec("configs/quickstart.yaml", {"sim.envs": count, "render.depth.cameras": []}, ["state"])
    model = PPO("MlpPolicy", Sb3Envs(envs, "state"), n_steps=12, batch_size=4 * count, gamma=0.9, device="cpu")
    model.learn(samples)
    print("trained on", model.num_timesteps, "samples")


if __name__ == "__main__":
    main()
