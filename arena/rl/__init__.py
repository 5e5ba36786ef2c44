"""RL: the game for those who teach machines: arrays of what a seat knows, and environments."""

from arena.rl.deals import random_deals
from arena.rl.encoding import Encoding, mask
from arena.rl.lockstep import Lockstep
from arena.rl.tally import DRAW
from arena.rl.worth import find_worths
from engine.encoding import ACTIONS, VERSION, WORTHS, worths

__all__ = [
    "ACTIONS",
    "DRAW",
    "VERSION",
    "WORTHS",
    "Encoding",
    "Lockstep",
    "find_worths",
    "mask",
    "random_deals",
    "worths",
]
