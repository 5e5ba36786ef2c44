"""Estimate what a card is worth to who takes it, from games played on with another card.

The result of a game is compared with its own after a swap (`arena.games.swap`), so that what both
have in common cancels: the deal, the luck, who was winning. This is an experiment; the estimates of
`arena.insight.cards` only adjust what was observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from arena.batch.replay import Ints
from arena.insight.columns_of import interval, make_frame
from arena.statistics.intervals import Estimates, Moments
from engine import KINDS, Kind
from engine.cards import CHARS

ADJUSTED: Final = ("bot", "card", "sampled", "adds", "adds_low", "adds_high")
"""Columns of `cards` that say what a card adds, from the games as they were played."""

_HALVES: Final = 2  # a result is 0, 1 or 2 of them


class Swapped(NamedTuple):
    """The outcome of a swap: the pair it belongs to, the taker's place in the run, and the card.

    `halves` is the taker's result in the game as it was less that with the swap: 2 for a win that
    became a loss, -1 for a draw that became a win.
    """

    pairing: int
    pair: int
    bot: int
    kind: Kind
    halves: int


def make_effects(labels: Sequence[str], swapped: Iterable[Swapped] | Ints) -> pd.DataFrame:
    """Return a row for each bot and kind of card, and for all bots: `swaps` and `effect`.

    `effect` is the mean change of the taker's result, with a 95 % interval; the pair is the unit.
    """
    rows = np.array([*swapped], np.int64).reshape(-1, len(Swapped._fields))
    moments = _add_up(len(labels), rows)
    bot, kind = np.indices((len(labels) + 1, len(KINDS))).reshape(2, -1)
    swaps = moments.counts.ravel()
    columns = {
        "bot": bot,
        "card": np.array([*CHARS])[kind],
        "swaps": swaps,
        **interval("effect", "effect", _as_differences(moments)),
    }
    return make_frame(columns, labels, swaps > 0)


def add_effects(cards: pd.DataFrame, effects: pd.DataFrame) -> pd.DataFrame:
    """Return what cards add beside their effects, a row for each of the table `cards`."""
    keys = ["bot", "card"]
    # no bot is all of them, and must find itself
    both = cards[[*ADJUSTED]].merge(effects, on=keys, how="left", validate="one_to_one")
    return both.assign(swaps=both["swaps"].fillna(0).astype(np.int64))


def _add_up(bots: int, rows: Ints) -> Moments:
    """Return the sums over pairs, of shares from 0 to 1: an even result counts as a half."""
    moments = Moments(bots + 1, len(KINDS), scale=2 * _HALVES)
    place = rows[:, 0] * (rows[:, 1].max(initial=0) + 1) + rows[:, 1]
    for group in range(bots + 1):
        chosen = slice(None) if group == bots else rows[:, 2] == group
        pairs, local = np.unique(place[chosen], return_inverse=True)
        counts, totals = np.zeros((2, len(KINDS), len(pairs)), np.int64)
        where = rows[chosen, 3], local
        np.add.at(counts, where, 1)
        np.add.at(totals, where, rows[chosen, 4] + _HALVES)
        moments.add(np.full(len(pairs), group), counts, totals)
    return moments


def _as_differences(moments: Moments) -> Estimates:
    """Return differences from -1 to 1, with the interval of the shares that they are made to.

    Most swaps change nothing, so few of them may look alike: Student's interval would then be
    too narrow (bench/STUDIES.md).
    """
    return Estimates(*(2 * share - 1 for share in moments.shares()))
