"""A Gymnasium vector environment over a simulator's batch. Shapes: N = environments, A = numbers of an action."""

import json
import os

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from gripstream import _native

# The record's "done": core/done_kind.h.
_TERMINATED, _TIMED_OUT, _FAULTED = 1, 2, 3
_STATE = "state"
# infos that every environment always has -> the record's tensors. Gymnasium's wrappers own the name "episode".
_INFOS = {
    "episode_number": "episode",
    "episode_step": "episode_step",
    "env_id": "env_id",
    "object_id": "object_id",
    "reward_terms": "reward_terms",
    "metrics": "metrics",
}


def make_vec(config, overrides=None, observations=None):
    """Environments of a run file, as one simulator process of that run has them.

    config        path of a run file (YAML)
    overrides     {"sim.envs": 64, ...} or ["sim.envs=64", ...], laid over the file as --set is
    observations  names to give, out of "proprio", "state" and the images that `render` is set up for; all by default

    Raises ValueError with one line that names file, key and value where the run file is at fault.
    """
    return GripstreamVectorEnv(config, overrides, observations)


class GripstreamVectorEnv(VectorEnv):
    """Observations are views of the simulator's own record: nothing is copied, and no array changes after it was given.

    An environment whose episode ends begins the next one in the same step (AutoresetMode.SAME_STEP). Of the last moment
    of an episode there is the state, for critics, but no image: infos["final_obs"] holds {"state": ...}.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}

    def __init__(self, config, overrides=None, observations=None):
        self._envs = _native.NativeEnvs(os.fspath(config), _assignments(overrides))
        self.num_envs = self._envs.num_envs
        self.reward_terms, self.metrics = self._envs.reward_terms, self._envs.metrics
        self.object_names = self._envs.object_names
        specs = {name: (dtype, shape) for name, dtype, shape, _, _ in self._envs.specs}
        # Our name of an observation -> the record's.
        self._sources = {name.removeprefix("obs."): name for name in specs if name.startswith("obs.") or name == _STATE}
        self._choose(observations)
        self.single_observation_space = gymnasium.spaces.Dict(
            {name: _box(*specs[source]) for name, source in self._sources.items()}
        )
        self.single_action_space = gymnasium.spaces.Box(-1, 1, (self._envs.action_size,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        scales = {name: scale for name, _, _, _, scale in self._envs.specs}
        # What an integer of an observation is worth: metres, for depth.
        self.scales = {name: scales[source] for name, source in self._sources.items()}

    def _choose(self, observations):
        if observations is None:
            return
        for name in observations:
            if name not in self._sources:
                raise ValueError(f"make_vec: observations: got '{name}', expected of {', '.join(self._sources)}")
        self._sources = {name: self._sources[name] for name in observations}

    def reset(self, *, seed=None, options=None):
        """With a seed: the episodes of a run with that run.seed. Without: the next that nobody has begun."""
        super().reset(seed=seed)
        record = self._envs.reset(seed)
        return self._observations(record), self._infos(record)

    def step(self, actions):
        """actions: [N, A], each number within -1 and 1; what lies outside is clamped."""
        record = self._envs.step(np.ascontiguousarray(actions, np.float32))
        done = record["done"]
        # A faulted step is no end that the task knows of: like one that the clock cut.
        truncated = (done == _TIMED_OUT) | (done == _FAULTED)
        infos = self._infos(record)
        if done.any():
            self._add_ends(record, infos)
        return self._observations(record), record["reward"], done == _TERMINATED, truncated, infos

    def _observations(self, record):
        return {name: record[source] for name, source in self._sources.items()}

    def _infos(self, record):
        infos = {}
        for name, source in _INFOS.items():
            if source in record:
                infos[name], infos["_" + name] = record[source], np.ones(self.num_envs, bool)
        return infos

    def _add_ends(self, record, infos):
        ended = record["done"] != 0
        infos["success"], infos["_success"] = record["success"] != 0, ended
        infos["faulted"], infos["_faulted"] = record["done"] == _FAULTED, ended
        if _STATE in self._sources:
            final = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(ended):
                final[i] = {_STATE: record["final_state"][i]}
            infos["final_obs"], infos["_final_obs"] = final, ended

    def close_extras(self, **kwargs):
        self._envs = None


def _assignments(overrides):
    if overrides is None:
        return []
    if isinstance(overrides, dict):
        return [f"{key}={json.dumps(value)}" for key, value in overrides.items()]
    return list(overrides)


def _box(dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return gymnasium.spaces.Box(-np.inf, np.inf, shape, dtype)
    limits = np.iinfo(dtype)
    return gymnasium.spaces.Box(limits.min, limits.max, shape, dtype)
