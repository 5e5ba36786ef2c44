"""RL: the game for those who teach machines: arrays of what a seat knows, and environments."""

from arena.rl.encoding import ACTIONS, VERSION, Encoding, mask
from arena.rl.lockstep import Lockstep
from arena.rl.worth import WORTHS, find_worths, worths

__all__ = ["ACTIONS", "VERSION", "WORTHS", "Encoding", "Lockstep", "find_worths", "mask", "worths"]
