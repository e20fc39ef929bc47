"""PPO from depth images in one file, in the manner of CleanRL: python docs/examples/ppo_depth.py [SAMPLES [ENVS]]

Needs PyTorch and gripstream's Python package. The actor sees depth and proprioception, the critic the true state.
"""

import sys
import time

import gripstream
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

HORIZON, EPOCHS, MINIBATCHES = 12, 4, 4
GAMMA, LAMBDA, CLIP, LEARNING_RATE = 0.9, 0.95, 0.2, 1e-3


class Agent(nn.Module):
    def __init__(self, space, actions):
        super().__init__()
        conv = nn.Sequential(nn.Conv2d(1, 16, 8, 4), nn.ELU(), nn.Conv2d(16, 32, 3, 2), nn.ELU(), nn.Flatten())
        flat = conv(torch.zeros(1, 1, *space["depth"].shape)).shape[1]
        self.encoder = nn.Sequential(conv, nn.Linear(flat, 128), nn.ELU())
        self.actor = nn.Sequential(nn.Linear(128 + space["proprio"].shape[0], 64), nn.ELU(), nn.Linear(64, actions))
        self.critic = nn.Sequential(nn.Linear(space["state"].shape[0], 64), nn.ELU(), nn.Linear(64, 1))
        self.log_std = nn.Parameter(torch.full((actions,), -0.5))

    def act(self, seen):
        features = self.encoder(seen["depth"].unsqueeze(1))
        return Normal(self.actor(torch.cat([features, seen["proprio"]], 1)), self.log_std.exp())

    def value(self, state):
        return self.critic(state).squeeze(1)


def tensors(observation, depth_scale):
    """Views of the simulator's memory; depth becomes metres, which is the one copy there is."""
    seen = {name: torch.from_dlpack(array) for name, array in observation.items()}
    seen["depth"] = seen["depth"].float() * depth_scale
    return seen


def collect(envs, agent, seen, scale):
    steps = []
    for _ in range(HORIZON):
        with torch.no_grad():
            policy = agent.act(seen)
            action = policy.sample()
            row = {**seen, "action": action, "log_prob": policy.log_prob(action).sum(1)}
            row["value"] = agent.value(seen["state"])
        observation, reward, terminated, truncated, infos = envs.step(action.numpy())
        row["reward"] = torch.from_dlpack(reward).clone()
        cut = np.flatnonzero(truncated)
        if len(cut):  # the clock cut these: what would have followed is worth what the critic says
            final = torch.from_numpy(np.stack([infos["final_obs"][i]["state"] for i in cut]))
            with torch.no_grad():
                row["reward"][torch.from_numpy(cut)] += GAMMA * agent.value(final)
        row["done"] = torch.from_numpy(terminated | truncated).float()
        row["success"] = torch.from_numpy(infos.get("success", np.zeros(envs.num_envs, bool)))
        steps.append(row)
        seen = tensors(observation, scale)
    return {name: torch.stack([row[name] for row in steps]) for name in steps[0]}, seen


def add_advantages(batch, last_value):
    advantage, batch["advantage"] = torch.zeros_like(last_value), torch.zeros_like(batch["value"])
    following = last_value
    for t in reversed(range(HORIZON)):
        alive = 1 - batch["done"][t]
        delta = batch["reward"][t] + GAMMA * following * alive - batch["value"][t]
        advantage = delta + GAMMA * LAMBDA * alive * advantage
        batch["advantage"][t], following = advantage, batch["value"][t]
    batch["target"] = batch["advantage"] + batch["value"]


def update(agent, optimiser, batch):
    flat = {name: rows.flatten(0, 1) for name, rows in batch.items()}
    samples = len(flat["done"])
    for _ in range(EPOCHS):
        for part in torch.randperm(samples).split(samples // MINIBATCHES):
            rows = {name: values[part] for name, values in flat.items()}
            policy = agent.act(rows)
            ratio = (policy.log_prob(rows["action"]).sum(1) - rows["log_prob"]).exp()
            advantage = (rows["advantage"] - rows["advantage"].mean()) / (rows["advantage"].std() + 1e-8)
            gain = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
            loss = (agent.value(rows["state"]) - rows["target"]).square().mean() - gain
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
            optimiser.step()


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    torch.manual_seed(1)
    envs = gripstream.make_vec("configs/quickstart.yaml", {"sim.envs": count})
    scale = envs.scales["depth"]
    agent = Agent(envs.single_observation_space, envs.single_action_space.shape[0])
    optimiser = torch.optim.Adam(agent.parameters(), LEARNING_RATE)
    seen, start = tensors(envs.reset(seed=1)[0], scale), time.time()
    for iteration in range(1, max(1, samples // (HORIZON * count)) + 1):
        batch, seen = collect(envs, agent, seen, scale)
        with torch.no_grad():
            add_advantages(batch, agent.value(seen["state"]))
        update(agent, optimiser, batch)
        ended = batch["done"].sum().item()
        success = batch["success"].sum().item() / max(ended, 1)
        rate = iteration * HORIZON * count / (time.time() - start)
        reward = batch["reward"].sum(0).mean()
        print(f"iteration {iteration}  return {reward:.2f}  success {success:.2f}  {rate:.0f} steps/s")
    print("trained on", iteration * HORIZON * count, "samples")


if __name__ == "__main__":
    main()
