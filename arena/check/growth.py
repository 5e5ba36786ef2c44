"""Find what a bot's process leaks per game, and after how many games it reaches a limit.

A leak is memory, processes, threads or open files that stay after a game; they are measured from
outside, between games. The limits are those of the process. A bot that releases in `close()` what
it has opened reaches none of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from arena.check.item import Item
from arena.lanes.meter import Held

NAME = "growth"
_LEAST = 12  # games of a process, the first third may fill caches
_SOON = 2_000  # games: a leak that reaches its limit only later may be a cache


_NAMES = ("MB", "process", "thread", "open file")


class Growth:
    """What one process of a bot, with its descendants, held after each number of games."""

    def __init__(self) -> None:
        self.pid: int | None = None
        self.seen: list[tuple[int, Held]] = []

    def add(self, pid: int | None, games: int, kept: Held) -> None:
        """Add what is held after `games` more games; for a new process, begin again."""
        if pid != self.pid:
            self.pid, self.seen = pid, []
        before = self.seen[-1][0] if self.seen else 0
        self.seen.append((before + games, kept))

    def rates(self) -> Held | None:
        """Return the leak per game: the smaller of the rates in the second and the last third.

        So neither caches that are filled at first count, nor something that is kept only once. None
        after too few games.

        >>> growth = Growth()
        >>> for games in range(1, 13):
        ...     growth.add(1, 1, Held(memory=20.0 + 2 * games, files=min(games, 8)))
        >>> growth.rates()
        Held(memory=2.0, processes=0.0, threads=0.0, files=0.0)
        """
        last = self.seen[-1][0] if self.seen else 0
        if last < _LEAST:
            return None
        places = [next(one for one in self.seen if 3 * one[0] >= n * last) for n in (1, 2, 3)]
        rates = []
        for (start, before), (end, after) in pairwise(places):
            if start == end:
                return None
            rates.append([(b - a) / (end - start) for a, b in zip(before, after, strict=True)])
        return Held(*(max(0.0, min(two)) for two in zip(*rates, strict=True)))


def check_growth(growths: Iterable[Growth], most: Held) -> Item:
    """Return the item about the leak that reaches its limit in `most` first, if there is a leak."""
    found = [(growth, rates) for growth in growths if (rates := growth.rates())]
    if not found:
        return Item(NAME, "none", f"not measured: a process has to play {_LEAST} games")
    ends = []
    for growth, rates in found:
        games, kept = growth.seen[-1]
        for part, rate in enumerate(rates):
            if rate > 0 and most[part]:
                left = max(0.0, most[part] - kept[part])
                ends.append((games + left / rate, part, rate))
    after, part, rate = min(ends, default=(_SOON + 1.0, 0, 0.0))
    if after > _SOON:
        return Item(NAME, "ok", "nothing is kept of a game")
    message = f"keeps {_amount(rate, _NAMES[part])} a game: out of {Held._fields[part]} after about"
    return Item(
        NAME,
        "warn",
        f"{message} {float(f'{after:.2g}'):,.0f} games (release it in `close()`)",
        figures={"kept": Held._fields[part], "a_game": round(rate, 3), "games": round(after)},
    )


def _amount(rate: float, name: str) -> str:
    plural = "" if rate == 1 or name == "MB" else "es" if name.endswith("s") else "s"
    return f"{rate:.2g} {name}{plural}"
