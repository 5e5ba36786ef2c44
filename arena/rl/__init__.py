"""RL: the game for those who teach machines: arrays of what a seat knows, and environments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena.rl.deals import random_deals
from arena.rl.encoding import Encoding, mask
from arena.rl.lockstep import Lockstep
from arena.rl.tally import DRAW
from arena.rl.trajectories import Trajectories, Trajectory, by_seat
from arena.rl.worth import find_worths
from engine.encoding import ACTIONS, VERSION, WORTHS, worths

if TYPE_CHECKING:
    from arena.rl.decisions import dataset

__all__ = [
    "ACTIONS",
    "DRAW",
    "VERSION",
    "WORTHS",
    "Encoding",
    "Lockstep",
    "Trajectories",
    "Trajectory",
    "by_seat",
    "dataset",
    "find_worths",
    "mask",
    "random_deals",
    "worths",
]


def __getattr__(name: str) -> Any:
    """Import what reads runs where it is asked for: bots need the rest alone."""
    if name != "dataset":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from arena.rl.decisions import dataset

    return dataset
