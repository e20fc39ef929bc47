"""Tests python/gripstream/policy.py: a policy that is trained and exported here acts on make_vec's observations."""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import gripstream

try:
    import onnxruntime  # noqa: F401
except ImportError:
    print("skipped: onnxruntime is not installed (tools/setup.sh --tests)")
    sys.exit(77)

COMMAND = os.environ["GRIPSTREAM_BINARY_DIR"] + "/gripstream"
TINY = "configs/tiny.yaml"


class ExportedPolicy(unittest.TestCase):
    def export(self, *overrides):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        run, out = folder.name + "/run", folder.name + "/policy"
        sets = [f"--set={text}" for text in ("run.dir=" + run, "train.iterations=1", "eval.episodes=0", *overrides)]
        subprocess.run([COMMAND, "train", TINY, *sets], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([COMMAND, "export", run, "-o", out], check=True, stdout=subprocess.DEVNULL)
        return gripstream.load_policy(out)

    def test_acts_on_observations_as_they_come(self):
        policy = self.export()
        envs = gripstream.make_vec(TINY, {"sim.envs": 4})
        self.assertEqual(sorted(policy.inputs), ["depth", "proprio"])
        observation, _ = envs.reset(seed=1)
        for _ in range(6):
            actions = policy(observation)
            self.assertEqual(actions.shape, envs.action_space.shape)
            self.assertLessEqual(np.abs(actions).max(), 1)
            observation = envs.step(actions)[0]
        self.assertEqual(policy.aux.shape, (4, 3))
        metres = {**observation, "depth": observation["depth"] * np.float32(envs.scales["depth"])}
        np.testing.assert_array_equal(policy(metres), policy(observation))
        with self.assertRaisesRegex(ValueError, "expected depth as well"):
            policy({"proprio": observation["proprio"]})

    def test_remembers_an_episode_and_forgets_what_it_is_told_to(self):
        policy = self.export("policy.actor_rnn.kind=lstm", "policy.actor_rnn.units=8", "ppo.sequence=4")
        observation, _ = gripstream.make_vec(TINY, {"sim.envs": 4}).reset(seed=1)
        first = policy(observation)
        second = policy(observation)
        self.assertGreater(np.abs(second - first).max(), 0)
        policy.reset([True, False, False, False])
        third = policy(observation)
        np.testing.assert_array_equal(third[0], first[0])
        self.assertGreater(np.abs(third[1] - first[1]).max(), 0)
        policy.reset()
        np.testing.assert_array_equal(policy(observation), first)


if __name__ == "__main__":
    unittest.main()
