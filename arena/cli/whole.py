"""Whole: the numbers on a command line, whose bounds stand in the error and not in the help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from arena.tournament.keys import (
    MOST_PAIRS,
    MOST_SEED,
    MOST_SWAPS,
    MOST_WIDTH,
    MOST_WORKERS,
    advise_whole,
)

if TYPE_CHECKING:
    _Type = click.ParamType[int]
    _TargetType = click.ParamType[str | float]
else:  # generic only in newer versions
    _Type = _TargetType = click.ParamType


class Whole(_Type):
    """A whole number within bounds."""

    name = "number"

    def __init__(self, least: int, most: int) -> None:
        self.range = click.IntRange(least, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; raises click.BadParameter, which names the bounds."""
        try:
            int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number; {advise_whole(value)}", param, ctx)
        number: int = self.range.convert(value, param, ctx)
        return number


class Target(_TargetType):
    """What a run goes on until: `resolved`, or half the width of the intervals."""

    name = "resolved|ELO"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | float:
        """Return the word or the number; raises click.BadParameter."""
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if value == "resolved":
            return "resolved"
        if not 1 <= number <= MOST_WIDTH:
            why = f"is neither resolved nor a number of Elo points from 1 to {MOST_WIDTH:,}"
            self.fail(f"{value!r} {why}", param, ctx)
        return number


TARGET = Target()
SEED = Whole(0, MOST_SEED)
PAIRS = Whole(1, MOST_PAIRS)
PAIR = Whole(0, MOST_PAIRS - 1)
SEAT = Whole(0, 1)
WORKERS = Whole(1, MOST_WORKERS)
GAMES = Whole(1, 1_000)
SWAPS = Whole(1, MOST_SWAPS)
