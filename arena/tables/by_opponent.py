"""Add up what each bot did against each opponent, by pair: how games ended, and its takes.

How games ended is weighed here, once: a measure of a pair is the sum of the weights of its games.
A side is a pairing as one of its bots sees it: its number is twice that of the pairing, and one
more for the second bot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from arena.statistics.counts import MISSING, RESULTS
from arena.statistics.counts import WIN_TYPES as ENDINGS
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Ints, Moments
from arena.store.counting import HALVES, TURNED, Counts
from arena.tables.run_games import Batch
from arena.tables.table_columns import WIN_TYPES
from arena.tournament.schedule import Pairing

_WON, _LOST, _DRAWN = range(RESULTS)
_WIN_TYPE, _RESULT = np.divmod(np.arange(MISSING + 1), RESULTS)


def _share(win_type: str, *results: int) -> Floats:
    """Return the weights of the share of the games that ended so; a pair of two is 1."""
    return ((ENDINGS.index(win_type) == _WIN_TYPE) & np.isin(_RESULT, results)) / 2


SCORE: Final[Floats] = HALVES / 4
BOT_PARTS: Final[Mapping[str, Floats]] = {
    "score": SCORE,
    **{f"won by {name}": _share(how, _WON) for how, name in WIN_TYPES.items()},
    **{f"lost by {name}": _share(how, _LOST) for how, name in WIN_TYPES.items()},
    "drawn": _share("draw", _DRAWN),
}
"""What is counted of a bot's pairs, and what each ending weighs in it."""

ALL_PARTS: Final[Mapping[str, Floats]] = {
    **{f"won by {name}": _share(how, _WON, _LOST) for how, name in WIN_TYPES.items()},
    "drawn": _share("draw", _DRAWN),
    "score of seat 0": np.stack([SCORE, SCORE[TURNED]]),
}
"""What is counted of all pairs, whoever won; weights by seat have a row for each."""

MOST_MET: Final = 200
"""Bots of a run whose takes are kept by opponent: these sums have 17 MB then."""

PARTS: Final = tuple(BOT_PARTS)
"""What is counted of a bot's games: its score, and how they ended."""

BROUGHT: Final = ("cards", "gain")
"""What is added up of takes: their cards, and the points that they add to the pile."""


def number_sides(pairings: Sequence[Pairing], order: Sequence[str]) -> Ints:
    """Return the bot and the opponent of each side by their places in an order.

    A bot that is not in it has the place behind the last one.

    >>> number_sides([Pairing("b", "a")], ["a", "b"]).tolist()
    [[1, 0], [0, 1]]
    """
    places = {label: place for place, label in enumerate(order)}
    numbers = [[places.get(one, len(order)) for one in two] for two in pairings]
    first = np.array(numbers, np.int64).reshape(-1, 2)
    return np.stack([first, first[:, ::-1]], axis=1).reshape(-1, 2)


def count_endings(pairings: int, counts: Counts) -> Moments:
    """Return how the games of each side ended, by the keys of PARTS; a game has two units."""
    moments = Moments(2 * pairings, len(PARTS), scale=2)
    games = np.broadcast_to((counts.games != MISSING).sum(axis=1), (len(PARTS), len(counts.pairs)))
    halves = (4 * np.stack([*BOT_PARTS.values()])).astype(np.int64)
    for side, seen in enumerate((counts.games, TURNED[counts.games])):
        scored = halves[:, seen].sum(axis=2)
        moments.add(2 * counts.pairing + side, games, scored, counts.pairs)
    return moments


def add_takes(moments: Moments, batch: Batch, by_action: Ints, totals: Ints) -> None:
    """Add the takes of a batch: how many at each action of a round, and their sums by BROUGHT.

    These are the keys of the moments, and sides their groups. The columns are the pairs of the
    batch as the first bot sees them, then as the second one.
    """
    sums = np.concatenate([by_action, totals])
    takes = np.broadcast_to(by_action.sum(axis=0), sums.shape)
    for side in (0, 1):
        some = slice(side * batch.pairs, (side + 1) * batch.pairs)
        moments.add(2 * batch.pairing + side, takes[:, some], sums[:, some])
