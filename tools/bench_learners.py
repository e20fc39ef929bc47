"""One framework's learner on noise, on one thread, for `gripstream bench learner`.

    python bench_learners.py sb3|rsl_rl mlp|cnn SECONDS

Prints one line: samples/s of PPO's update (all epochs), then pairs of a batch size and the milliseconds that acting for
it takes. Networks, batch and epochs are those of launch/bench_learner.cc. An update here is the framework's own function
on a rollout that is there already; its returns are estimated outside of that.
"""

import sys
import time

import numpy as np
import torch
from torch import nn

PROPRIO, STATE, ACTIONS, HORIZON, MINIBATCH, EPOCHS = 128, 160, 22, 16, 1024, 4
HEIGHT, WIDTH = 48, 64
ENVS = {"mlp": 256, "cnn": 128}
BATCHES = (16, 64, 256, 1024)


def time_per(seconds, work):
    work()
    times, start = 0, time.process_time()
    while True:
        work()
        times += 1
        taken = time.process_time() - start
        if taken >= seconds:
            return taken / times


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 256), nn.ELU(), nn.Linear(256, 128), nn.ELU(), nn.Linear(128, outputs))


class DepthActor(nn.Module):
    def __init__(self):
        super().__init__()
        conv = [nn.Conv2d(1, 16, 8, 4), nn.ELU(), nn.Conv2d(16, 32, 3, 2), nn.ELU(), nn.Flatten()]
        flat = nn.Sequential(*conv)(torch.zeros(1, 1, HEIGHT, WIDTH)).shape[1]
        self.encoder = nn.Sequential(*conv, nn.Linear(flat, 128), nn.ELU())
        self.head = mlp(128 + PROPRIO, ACTIONS)

    def forward(self, depth, proprio):
        return self.head(torch.cat([self.encoder(depth), proprio], 1))


def sb3(case, seconds):
    import gymnasium
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.policies import ActorCriticPolicy
    from stable_baselines3.common.vec_env import VecEnv

    def box(*shape):
        return gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float32)

    sees = case == "cnn"
    space = gymnasium.spaces.Dict({"depth": box(1, HEIGHT, WIDTH), "proprio": box(PROPRIO), "state": box(STATE)})
    if not sees:
        space = box(STATE)

    class Noise(VecEnv):
        def __init__(self, envs):
            super().__init__(envs, space, gymnasium.spaces.Box(-1, 1, (ACTIONS,), np.float32))
            rng = np.random.default_rng(1)

            def draw(part):
                return rng.normal(size=(envs, *part.shape)).astype(np.float32)

            self.seen = {name: draw(part) for name, part in space.items()} if sees else draw(space)

        def reset(self):
            return self.seen

        def step_async(self, actions):
            pass

        def step_wait(self):
            n = self.num_envs
            return self.seen, np.zeros(n, np.float32), np.zeros(n, bool), [{} for _ in range(n)]

        def close(self):
            pass

        def get_attr(self, name, indices=None):
            return [None] * self.num_envs

        def set_attr(self, name, value, indices=None):
            pass

        def env_method(self, name, *args, indices=None, **kwargs):
            return [None] * self.num_envs

        def env_is_wrapped(self, wrapper, indices=None):
            return [False] * self.num_envs

    class Depth(ActorCriticPolicy):
        """An actor that sees and a critic that knows: SB3's own policies give both the same inputs."""

        def _build(self, lr_schedule):
            self.actor, self.critic = DepthActor(), mlp(STATE, 1)
            self.log_std = nn.Parameter(torch.zeros(ACTIONS))
            self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

        def act(self, obs):
            return self.action_dist.proba_distribution(self.actor(obs["depth"], obs["proprio"]), self.log_std)

        def forward(self, obs, deterministic=False):
            distribution = self.act(obs)
            actions = distribution.get_actions(deterministic=deterministic)
            return actions, self.critic(obs["state"]), distribution.log_prob(actions)

        def evaluate_actions(self, obs, actions):
            distribution = self.act(obs)
            return self.critic(obs["state"]), distribution.log_prob(actions), distribution.entropy()

        def predict_values(self, obs):
            return self.critic(obs["state"])

    class Silent(BaseCallback):
        def _on_step(self):
            return True

    def make(envs, steps, batch):
        kwargs = {} if sees else {"net_arch": {"pi": [256, 128], "vf": [256, 128]}, "activation_fn": nn.ELU}
        policy = Depth if sees else "MlpPolicy"
        return PPO(policy, Noise(envs), learning_rate=1e-5, n_steps=steps, batch_size=batch, n_epochs=EPOCHS,
                   clip_range_vf=0.2, ent_coef=0.001, vf_coef=1.0, max_grad_norm=1.0, policy_kwargs=kwargs,
                   device="cpu")

    envs = ENVS[case]
    model = make(envs, HORIZON, MINIBATCH)
    _, callback = model._setup_learn(1 << 30, Silent())
    model.collect_rollouts(model.env, callback, model.rollout_buffer, HORIZON)
    update = HORIZON * envs * EPOCHS / time_per(seconds, model.train)
    policy = model.policy
    policy.set_training_mode(False)

    def act(batch):
        noise = Noise(batch).seen

        def once():
            obs = {k: torch.as_tensor(v) for k, v in noise.items()} if sees else torch.as_tensor(noise)
            with torch.no_grad():
                actions, values, log_prob = policy(obs)
            return actions.numpy(), values.numpy(), log_prob.numpy()

        return once

    return update, act


def rsl_rl(case, seconds):
    from rsl_rl.algorithms import PPO
    from rsl_rl.models import MLPModel
    from rsl_rl.storage import RolloutStorage
    from tensordict import TensorDict

    sees = case == "cnn"

    class DepthModel(MLPModel):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.encoder = DepthActor().encoder

        def _get_latent_dim(self):
            return 128 + PROPRIO

        def get_latent(self, obs, masks=None, hidden_state=None):
            return torch.cat([self.encoder(obs["depth"]), super().get_latent(obs)], 1)

    def noise(envs):
        rows = {"state": torch.randn(envs, STATE)}
        if sees:
            rows.update(depth=torch.randn(envs, 1, HEIGHT, WIDTH), proprio=torch.randn(envs, PROPRIO))
        return TensorDict(rows, batch_size=[envs])

    groups = {"actor": ["proprio" if sees else "state"], "critic": ["state"]}
    gaussian = {"class_name": "GaussianDistribution", "init_std": 1.0}
    envs = ENVS[case]
    obs = noise(envs)
    shape = {"hidden_dims": [256, 128], "activation": "elu", "obs_normalization": True}
    actor = (DepthModel if sees else MLPModel)(obs, groups, "actor", ACTIONS, distribution_cfg=gaussian, **shape)
    critic = MLPModel(obs, groups, "critic", 1, **shape)
    storage = RolloutStorage("rl", envs, HORIZON, obs, [ACTIONS])
    ppo = PPO(actor, critic, storage, num_learning_epochs=EPOCHS, num_mini_batches=HORIZON * envs // MINIBATCH,
              learning_rate=1e-5, entropy_coef=0.001, schedule="fixed", device="cpu")
    with torch.inference_mode():
        for _ in range(HORIZON):
            ppo.act(obs)
            ppo.process_env_step(obs, torch.randn(envs), torch.zeros(envs, dtype=torch.bool), {})
        ppo.compute_returns(obs)
    update = HORIZON * envs * EPOCHS / time_per(seconds, ppo.update)

    def act(batch):
        seen = noise(batch)

        def once():
            with torch.inference_mode():
                ppo.act(seen)

        return once

    return update, act


def main():
    framework, case, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    update, act = {"sb3": sb3, "rsl_rl": rsl_rl}[framework](case, seconds)
    print(update, *(f"{batch} {1e3 * time_per(seconds / len(BATCHES), act(batch))}" for batch in BATCHES))


if __name__ == "__main__":
    main()
