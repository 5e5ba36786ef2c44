"""Anchor: the bot whose Elo is fixed, and with it the scale of the ratings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from arena.errors import InputError
from engine.errors import show

MOST_ELO = 100_000.0


class Anchor(msgspec.Struct, frozen=True):
    """A bot, by its label, that has this Elo whatever the games say."""

    bot: str
    elo: float


def read_anchor(value: str | Mapping[str, float], labels: Sequence[str]) -> Anchor | None:
    """Return the anchor of a text such as "greedy=1239", or of a mapping; None for none.

    Raises InputError if it is no such text, or names no bot of the run.

    >>> read_anchor("greedy=1239", ["greedy", "uniform"])
    Anchor(bot='greedy', elo=1239.0)
    """
    if not value:
        return None
    if isinstance(value, str):
        bot, _, text = value.rpartition("=")
        bot, elo = bot.strip(), _number(text)
    elif len(value) == 1:
        ((bot, elo),) = value.items()
    else:
        raise InputError(f"anchor: one bot and its Elo, not {len(value)} bots")
    anchor = Anchor(bot, elo)
    check_anchor(anchor, labels)
    return anchor


def check_anchor(anchor: Anchor, labels: Sequence[str]) -> None:
    """Raise InputError for an anchor that cannot be that of a run of these bots."""
    if not abs(anchor.elo) <= MOST_ELO:
        wanted = f"a bot and its Elo, {-MOST_ELO:.0f} to {MOST_ELO:.0f}, as in greedy=1239"
        raise InputError(f"anchor: expected {wanted}")
    if anchor.bot not in labels:
        known = ", ".join(labels)
        raise InputError(f"anchor: no bot {show(anchor.bot)} in this run; there are {known}")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
