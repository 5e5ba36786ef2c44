"""Count the share of City in the wins of strong and of weak bots, and say whether it is real."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from arena.errors import counted
from arena.statistics.counts import MISSING, RESULTS
from arena.statistics.difference import compare_ratios, estimate_ratio
from arena.statistics.intervals import Estimate, Ints
from arena.store.counting import Counts
from arena.tables.counted import LOST, WON
from arena.tables.run_games import CITY_WIN, FORFEIT, place_bots
from arena.tournament.schedule import Pairing

REAL: Final = 0.05
"""The share of City from which it is called a real way to win."""


class CityShare(NamedTuple):
    """City's share of the wins: how many wins there are, and how many of them by City.

    `top` is the share in the wins of the strongest third of the field, and `gap` that less the
    weakest third's; they have no value where nobody there has won. Forfeits are left out.
    """

    wins: int
    by_city: int
    top: Estimate
    gap: Estimate


def share_of_city(pairings: Sequence[Pairing], order: Sequence[str], counts: Counts) -> CityShare:
    """Return City's share of the wins; `order` has the bots, the strongest first.

    The pair is the unit: wins of both bots in it count together, if both are of the third.
    """
    third = len(order) // 3
    place = place_bots(pairings, order)[counts.pairing]
    wins = _count_wins(counts.games)
    is_top, is_weak = place < third, (place >= len(order) - third) & (place < len(order))
    top, weak = ((wins * one[:, :, None]).sum(axis=1)[None] for one in (is_top, is_weak))
    by_city, total = (wins.sum(axis=1) * counts.pairs[:, None]).sum(axis=0).tolist()
    return CityShare(
        total,
        by_city,
        estimate_ratio(top, 2, counts.pairs),
        compare_ratios(weak, top, 2, counts.pairs),
    )


def _count_wins(games: Ints) -> Ints:
    """Return how many games of each pair both bots won by City, and in any way but by forfeit.

    They are (pair, bot, 2).
    """
    win_type, result = np.divmod(games, RESULTS)
    is_decided = (games != MISSING) & (win_type != FORFEIT)
    won = np.stack([is_decided & (result == one) for one in (WON, LOST)], axis=1)
    by_city = won & (win_type == CITY_WIN)[:, None]
    return np.stack([by_city.sum(axis=2), won.sum(axis=2)], axis=2)


def describe_city(found: CityShare, labels: Sequence[str]) -> str:
    """Return whether City is a real way to win, as far as the intervals say.

    `labels` are three or more bots, the strongest first.
    """
    top, gap = found.top, found.gap
    real = "Whether City is a real way to win is open"
    if top.cells[0] is None:
        return f"{real}: the strongest bots have won no game"
    if top.low >= REAL:
        real = "City is a real way to win"
    elif top.high < REAL:
        real = "City is a rare way to win"
    if not found.by_city:
        return f"{real}: it made none of {counted(found.wins, 'win')}"
    third = len(labels) // 3
    strong, weak = labels[0], labels[-1]
    if third > 1:
        strong, weak = f"the strongest {third:,}", f"the weakest {third:,}"
    said = f"{real}: it made {_percent(top.value)} of the wins of {strong}"
    if gap.cells[1] is None:
        return said
    if gap.low <= 0 <= gap.high:
        return f"{said}; the share of {weak} is not told apart from that"
    return (
        f"{said}, surely a {'larger' if gap.low > 0 else 'smaller'} share than of those of {weak}"
    )


def _percent(share: float) -> str:
    """Return a share in per cent; one below 1 % has a decimal."""
    return f"{100 * share:.{int(0 < share < 0.01)}f} %"
