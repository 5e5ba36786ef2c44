"""Estimate what a card is worth to the bot that takes it, from games played on with another card.

The result of a game is compared with its own after a swap (`arena.tournament.rule_changes`), so
that what both have in common cancels: the deal, the luck, who was winning. This is an experiment;
the estimates of `arena.tables.cards` only adjust what was observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from arena.batch.replay import Ints
from arena.statistics.intervals import Estimates, Moments
from arena.tables.cards import ADJUSTED
from arena.tables.run_games import add_rows, every, interval, make_frame
from engine import KINDS, Kind
from engine.cards import CHARS

_HALVES: Final = 2  # a result is 0, 1 or 2 of them, and an even one half of a share


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
    rows = pd.DataFrame([*swapped], columns=Swapped._fields, dtype=np.int64)
    moments = Moments(len(labels) + 1, len(KINDS), scale=2 * _HALVES)
    pair = rows.groupby(["pairing", "pair"]).ngroup().to_numpy().astype(np.int64)
    for group in (rows["bot"].to_numpy(), np.full(len(rows), len(labels))):
        add_rows(moments, group, rows["kind"].to_numpy(), pair, rows["halves"].to_numpy() + _HALVES)
    swaps = moments.counts.ravel()
    columns = {
        **every(bot=range(len(labels) + 1), card=[*CHARS[: len(KINDS)]]),
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


def _as_differences(moments: Moments) -> Estimates:
    """Return differences from -1 to 1, with the interval of the shares that they are made to.

    Most swaps change nothing, so few of them may look alike: Student's interval would then be
    too narrow (bench/STUDIES.md).
    """
    return Estimates(*(2 * share - 1 for share in moments.shares()))
