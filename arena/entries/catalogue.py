"""List the bots that have a name: those in `bots/`, with their Elo, and of installed packages."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from arena.entries.bot_files import find_module
from arena.entries.resolve import entry_points, installed, summarize

LADDER = "ladder"
"""Stands for all bots of the ladder in a list of opponents."""

_MEASURED = {
    "uniform": 1028,
    "majority": 1391,
    "greedy": 1392,
    "city_hunter": 1409,
    "denier": 1413,
    "timing": 1438,
    "flat_mc": 1517,
    "pimc": 1608,
    "ismcts": 1637,
    "apprentice": 1677,
    "champion": 1732,
    "journeyman": 1789,
    "grandmaster": 1819,
}

ELO = {name: elo for name, elo in _MEASURED.items() if name not in ("flat_mc", "pimc")}
"""The Elo ratings of bots in `bots/`, in ascending order, from `configs/ladder.yaml`."""


class Strength(NamedTuple):
    """A level of play for newcomers: a bot, its strength in words, and its Elo in the ladder."""

    number: int
    words: str
    bot: str

    @property
    def elo(self) -> int:
        """The Elo of the bot."""
        return _MEASURED[self.bot]


STRENGTHS = (
    Strength(1, "Beginner", "uniform"),
    Strength(2, "Novice", "greedy"),
    Strength(3, "Casual player", "timing"),
    Strength(4, "Club player", "flat_mc"),
    Strength(5, "Strong player", "pimc"),
    Strength(6, "Expert", "apprentice"),
    Strength(7, "Champion", "champion"),
    Strength(8, "Grandmaster", "grandmaster"),
)
"""Opponents for a person, the weakest first, in steps of Elo as even as the ladder allows."""


class Known(NamedTuple):
    """A bot with a name; `package` is the installed package that offers it, "" for `bots/`."""

    name: str
    description: str
    package: str = ""


def catalogue() -> list[Known]:
    """Return the bots of `bots/`, then those of entry points, each sorted by name.

    Their code is not run. A name in `bots/` takes precedence over an entry point.
    """
    ours = dict(installed())
    offered = (
        Known(point.name, _describe(point.module), point.dist.name if point.dist else "?")
        for point in entry_points()
        if point.name not in ours
    )
    return [*map(Known, ours, ours.values()), *sorted(offered)]


def _describe(module: str) -> str:
    """Return the first docstring line of an entry point's module, read from its file."""
    location = find_module(module, [*sys.path, str(Path.cwd())])
    return summarize(location.origin) if location else f"(cannot be read: no module {module!r})"


def place(elo: float) -> str:
    """Describe between which two bots of the ladder a rating lies.

    >>> place(1600), place(1000), place(2000)
    ('between timing and ismcts', 'below uniform', 'above grandmaster')
    """
    below = [name for name, known in ELO.items() if known <= elo]
    above = [name for name, known in ELO.items() if known > elo]
    if not below:
        return f"below {above[0]}"
    return f"between {below[-1]} and {above[0]}" if above else f"above {below[-1]}"


def expand_ladder(against: Iterable[Any], without: Collection[Any]) -> list[Any]:
    """Replace the word `ladder` among opponents by the ladder's bots except those in `without`.

    >>> expand_ladder(["mine", "ladder"], without=["greedy", "denier", "timing", "city_hunter"])
    ['mine', 'uniform', 'majority', 'ismcts', 'apprentice', 'champion', 'journeyman', 'grandmaster']
    """
    opponents = []
    for bot in against:
        opponents += [name for name in ELO if name not in without] if bot == LADDER else [bot]
    return opponents
