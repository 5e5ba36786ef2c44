"""Arrays and environments of the game for reinforcement learning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena.batch.learner import find_worths
from arena.batch.lockstep import Encoding, Lockstep, mask, random_deals
from arena.batch.replay import DRAW
from arena.batch.rollouts import Trajectories, Trajectory, by_seat
from engine.encoding import ACTIONS, VERSION, WORTHS, worths

if TYPE_CHECKING:
    from arena.addons.rl.decisions import dataset

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
    """Import the functions that read runs on first use, as bots do not need them."""
    if name != "dataset":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from arena.addons.rl.decisions import dataset

    return dataset
