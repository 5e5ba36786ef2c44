"""Order: what is to be checked, and how much of it."""

from __future__ import annotations

import msgspec

from arena.check.extent import GAMES
from arena.entries.lane import Lane
from arena.errors import InputError
from arena.lanes.bubblewrap import find_bubblewrap
from arena.lanes.limits import Limits

NOT_JAILED = "not jailed: do not trust this verdict"


class Order(msgspec.Struct, frozen=True):
    """The bot as a spec, the lane of all its processes, games in each lane, the seed, limits."""

    spec: str
    lane: Lane
    games: int = GAMES
    seed: int = 0
    limits: Limits = Limits()

    @property
    def jailed(self) -> bool:
        """Whether the bot cannot reach the process that judges it."""
        return self.lane == "jail"


def safest_lane() -> Lane:
    """Return the jail where bubblewrap works on this machine, else the lane `process`."""
    try:
        find_bubblewrap()
    except InputError:
        return "process"
    return "jail"
