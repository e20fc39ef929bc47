"""Runs the Python examples of docs/examples in little, with the benchmark peers' PyTorch and Stable-Baselines3."""

import os
import subprocess
import sys
import unittest

PYTHON = "build/deps/peers/bin/python"  # tools/bench_peers.sh

if not os.path.exists(PYTHON):
    print("skipped: PyTorch and Stable-Baselines3 are not installed (tools/bench_peers.sh)")
    sys.exit(77)


class Examples(unittest.TestCase):
    def run_example(self, name):
        ended = subprocess.run([PYTHON, f"docs/examples/{name}.py", "96", "8"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("trained on 96 samples", ended.stdout)

    def test_stable_baselines(self):
        self.run_example("sb3_reach")

    def test_ppo_in_one_file(self):
        self.run_example("ppo_depth")


if __name__ == "__main__":
    unittest.main()
