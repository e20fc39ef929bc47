"""Tests python/gripstream/vector_env.py and module.cc, with gymnasium's own checks among others."""

import unittest

import gymnasium
import numpy as np
from gymnasium.utils import env_checker
from gymnasium.utils.passive_env_checker import check_space
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

import gripstream

TINY = "configs/tiny.yaml"


def make(envs=4, observations=None, **more):
    return gripstream.make_vec(TINY, {"sim.envs": envs, **more}, observations)


def actions(envs, t):
    return np.full(envs.action_space.shape, 0.3 * (t % 3 - 1), np.float32)


class GymnasiumsChecks(unittest.TestCase):
    """What gymnasium checks of an environment, as far as it makes sense for N of them."""

    def setUp(self):
        self.envs = make()

    def test_seeds_options_and_types_of_reset(self):
        env_checker.check_reset_seed_determinism(self.envs)
        env_checker.check_reset_options(self.envs)
        env_checker.check_reset_return_type(self.envs)

    def test_spaces(self):
        check_space(self.envs.observation_space, "observation", lambda space: None)
        check_space(self.envs.single_action_space, "action", lambda space: None)
        self.assertIsInstance(self.envs, VectorEnv)
        self.assertEqual(self.envs.metadata["autoreset_mode"], AutoresetMode.SAME_STEP)

    def test_steps_are_deterministic_and_in_the_space(self):
        taken = []
        for _ in range(2):
            self.envs.reset(seed=5)
            taken.append([self.envs.step(actions(self.envs, t)) for t in range(6)])
        for one, two in zip(*taken):
            self.assertIn(one[0], self.envs.observation_space)
            self.assertTrue(env_checker.data_equivalence(one[:4], two[:4], exact=True))

    def test_returned_data_is_not_used_again(self):
        env_checker.check_returned_data_not_reused(make(envs=1))

    def test_wrappers_understand_the_infos(self):
        envs = DictInfoToList(RecordEpisodeStatistics(self.envs))
        envs.reset(seed=1)
        returns = np.zeros(4)
        for t in range(5):
            _, rewards, _, truncated, infos = envs.step(actions(self.envs, t))
            returns += rewards
        self.assertTrue(truncated.all())
        np.testing.assert_allclose([info["episode"]["r"] for info in infos], returns, rtol=1e-6)


class Observations(unittest.TestCase):
    def test_are_views_that_no_later_step_changes(self):
        envs = make()
        kept, copies = [], []
        observation, _ = envs.reset(seed=1)
        for t in range(8):
            self.assertFalse(any(array.flags.owndata for array in observation.values()))
            kept.append(observation)
            copies.append({name: array.copy() for name, array in observation.items()})
            observation = envs.step(actions(envs, t))[0]
        for one, copy in zip(kept, copies):
            for name in one:
                np.testing.assert_array_equal(one[name], copy[name])
        self.assertNotEqual(kept[0]["depth"].tolist(), kept[-1]["depth"].tolist())

    def test_memory_is_used_again_once_nobody_looks(self):
        envs = make()
        envs.reset(seed=1)
        places = set()
        for t in range(8):
            places.add(envs.step(actions(envs, t))[0]["depth"].ctypes.data)
        self.assertLessEqual(len(places), 2)

    def test_outlive_their_environments(self):
        envs = make()
        depth = envs.reset(seed=1)[0]["depth"]
        copy = depth.copy()
        envs.close()
        del envs
        np.testing.assert_array_equal(depth, copy)

    def test_go_to_other_libraries_by_dlpack_without_a_copy(self):
        depth = make().reset(seed=1)[0]["depth"]
        self.assertEqual(np.from_dlpack(depth).ctypes.data, depth.ctypes.data)

    def test_can_be_chosen(self):
        envs = make(observations=["state"])
        self.assertEqual(list(envs.single_observation_space), ["state"])
        with self.assertRaisesRegex(ValueError, "got 'dept', expected of .*depth"):
            make(observations=["dept"])

    def test_depth_is_of_this_scale(self):
        envs = make()
        depth = envs.reset(seed=1)[0]["depth"] * envs.scales["depth"]
        seen = depth[depth > 0]  # 0: nothing within reach
        self.assertGreater(seen.min(), 0.1)
        self.assertLess(seen.max(), 6.5536)


class Episodes(unittest.TestCase):
    def test_an_end_tells_what_the_state_was(self):
        envs = make()
        envs.reset(seed=1)
        for t in range(5):
            before = envs.step(actions(envs, t))
        observation, _, terminated, truncated, infos = before
        self.assertFalse(terminated.any())
        self.assertTrue(truncated.all(), "0.5 s are five steps")
        self.assertEqual(infos["episode_number"].tolist(), [1] * 4)
        self.assertEqual(infos["episode_step"].tolist(), [0] * 4)
        final = infos["final_obs"][2]["state"]
        self.assertEqual(final.shape, observation["state"][2].shape)
        self.assertGreater(np.abs(final - observation["state"][2]).max(), 0)
        self.assertNotIn("success", envs.step(actions(envs, 0))[4])

    def test_an_environment_is_the_same_in_any_batch(self):
        few, many = make(envs=2), make(envs=4)
        few.reset(seed=3), many.reset(seed=3)
        for t in range(3):
            one, other = few.step(actions(few, t))[0], many.step(actions(many, t))[0]
        np.testing.assert_array_equal(one["depth"], other["depth"][:2])


class BadInput(unittest.TestCase):
    def test_is_told_in_one_line(self):
        with self.assertRaisesRegex(ValueError, "did you mean 'sim.envs'"):
            gripstream.make_vec(TINY, {"sim.envz": 4})
        with self.assertRaisesRegex(ValueError, "no/such.yaml"):
            gripstream.make_vec("no/such.yaml")
        with self.assertRaisesRegex(ValueError, r"got '\[3, 2\]'"):
            make().step(np.zeros((3, 2)))
        with self.assertRaisesRegex(ValueError, "policy.onnx"):
            gripstream.load_policy("no/such/policy")


if __name__ == "__main__":
    gymnasium.logger.min_level = gymnasium.logger.ERROR
    unittest.main()
