"""An exported policy (gripstream export RUN -o DIR) on a batch of observations, by ONNX Runtime."""

import os

import numpy as np

# Depth images of records are uint16 in steps of this; 0: nothing was hit.
DEPTH_QUANTUM_M = 1e-4


def load_policy(folder):
    """The policy in an exported folder. Needs onnxruntime (pip install 'gripstream[policy]')."""
    return Policy(folder)


class Policy:
    """policy(observations) -> actions [N, A] within -1 and 1, the mean of the policy's distribution.

    `observations` are make_vec's: of them those that the policy's network reads. A policy with memory remembers each
    environment's episode: tell it with reset(ended) which episodes have ended, before the next call.
    """

    def __init__(self, folder):
        import onnxruntime

        path = os.path.join(os.fspath(folder), "policy.onnx")
        if not os.path.exists(path):
            raise ValueError(f"{path}: is not there; gripstream export writes it")
        self._session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self._shapes = {given.name: given.shape for given in self._session.get_inputs()}
        self._outputs = [out.name for out in self._session.get_outputs()]
        self._memory = None
        self.aux = None  # [N, 3] m, the object's position as the last call estimated it; None: the policy has none

    @property
    def inputs(self):
        """Names of the observations that are read."""
        return [name for name in self._shapes if name != "memory"]

    def reset(self, ended=None):
        """Forgets the episodes that have ended ([N] booleans); all by default."""
        if self._memory is None:
            return
        if ended is None:
            self._memory = None
        else:
            self._memory[np.asarray(ended, bool)] = 0

    def __call__(self, observations):
        missing = [name for name in self.inputs if name not in observations]
        if missing:
            raise ValueError(f"policy: observations: got {', '.join(observations)}, expected {missing[0]} as well")
        inputs = {name: self._input(name, observations[name]) for name in self.inputs}
        if "memory" in self._shapes:
            n = len(next(iter(inputs.values())))
            if self._memory is None:
                self._memory = np.zeros((n, self._shapes["memory"][1]), np.float32)
            inputs["memory"] = self._memory
        results = dict(zip(self._outputs, self._session.run(None, inputs)))
        self._memory = results.get("memory_out")
        self.aux = results.get("aux")
        return np.clip(results["action"], -1, 1)

    def _input(self, name, array):
        array = np.asarray(array)
        numbers = array.astype(np.float32)
        if name == "depth" and array.dtype == np.uint16:
            numbers *= np.float32(DEPTH_QUANTUM_M)
        # One camera of several: [N, H, W, 3] is [N, 1, H, W, 3] to the network.
        if numbers.ndim == len(self._shapes[name]) - 1:
            numbers = np.expand_dims(numbers, 1)
        return numbers
