"""Order: what is to be checked, and how much of it."""

from __future__ import annotations

import msgspec

from arena.check.extent import GAMES, SECONDS
from arena.lanes.limits import Limits


class Order(msgspec.Struct, frozen=True):
    """The bot as a spec, games in each lane, the seed, about how many seconds, the limits."""

    spec: str
    games: int = GAMES
    seed: int = 0
    seconds: float = SECONDS
    limits: Limits = Limits()
