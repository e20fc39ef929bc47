"""Tests pyproject.toml: `pip install .` gives a package that works from anywhere, by the versions of tools/pins.env."""

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import unittest


class Install(unittest.TestCase):
    def test_versions_are_the_pinned_ones(self):
        pins = dict(re.findall(r"^(\w+)=(.*)$", open("tools/pins.env").read(), re.MULTILINE))
        project = tomllib.load(open("pyproject.toml", "rb"))
        named = project["build-system"]["requires"] + project["project"]["dependencies"]
        pinned = [name.split("==") for name in named if "==" in name]
        self.assertEqual(len(pinned), 5)
        for name, version in pinned:
            key = {"mujoco-core": "MUJOCO", "vhacdx": "VHACDX"}.get(name, name.upper().replace("-", "_"))
            self.assertEqual(version, pins[key + "_VERSION"], name)
        self.assertIn(f"VERSION {project['project']['version']} ", open("CMakeLists.txt").read())

    def test_the_installed_package_needs_nothing_of_the_source_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            # The compiler's name as the ordinary build spells it, so that ccache knows the objects.
            subprocess.run(
                [sys.executable, "-m", "pip", "install", ".", "--no-build-isolation", "--no-deps", "--quiet",
                 "--disable-pip-version-check", "--target", folder],
                check=True, env={**os.environ, "CXX": "c++", "PYTHONPATH": ""})
            os.symlink(sysconfig.get_path("purelib") + "/mujoco", folder + "/mujoco")  # where it is in site-packages
            code = ("import gripstream; envs = gripstream.make_vec('tiny.yaml', {'sim.envs': 2}); "
                    "print(gripstream.__file__, envs.reset(seed=1)[0]['depth'].max() > 0)")
            open(folder + "/tiny.yaml", "w").write("render: {width: 32, height: 24}\n")
            ended = subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, text=True,
                                   env={**os.environ, "PYTHONPATH": folder})
            self.assertEqual(ended.stdout, f"{folder}/gripstream/__init__.py True\n")
            libraries = subprocess.run(["ldd", *[folder + "/gripstream/" + name for name in os.listdir(
                folder + "/gripstream") if name.endswith(".so")]], check=True, capture_output=True, text=True).stdout
            self.assertIn("libmujoco", libraries)
            self.assertNotIn("torch", libraries)


if __name__ == "__main__":
    unittest.main()
