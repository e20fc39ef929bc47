"""gripstream's environments and policies in Python: see docs/python.md.

    envs = gripstream.make_vec("configs/quickstart.yaml", {"sim.envs": 64})
    policy = gripstream.load_policy("policy")
"""

from gripstream.policy import Policy, load_policy
from gripstream.vector_env import GripstreamVectorEnv, make_vec

__all__ = ["GripstreamVectorEnv", "Policy", "load_policy", "make_vec"]
