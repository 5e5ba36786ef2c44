"""Make the tables of counted games: standings, head to head, verdicts, and win types.

How games ended is weighed here, once: a measure of a pair is the sum of the weights of its games.
A side is a pairing as one of its bots sees it: its number is twice that of the pairing, and one
more for the second bot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from arena.statistics.bradley_terry import Flags
from arena.statistics.counts import MISSING, RESULTS, PairTotals
from arena.statistics.counts import WIN_TYPES as ENDINGS
from arena.statistics.cycles import Field
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Ints, score_intervals
from arena.statistics.letters import give_letters, give_ranks
from arena.statistics.verdicts import Verdict
from arena.store.column_titles import (
    HEAD_TO_HEAD,
    LOSS_COLUMNS,
    STANDINGS,
    VERDICTS,
    WIN_TYPE_TABLE,
    WIN_TYPES,
)
from arena.store.columns import Columns, match_rows
from arena.store.counting import HALVES, Tallies
from arena.tables.game_arrays import CITY_WIN, FORFEIT, place_bots
from arena.tournament.schedule import Pairing

WON, LOST, DRAWN = range(RESULTS)
"""The results of a game, as they are counted."""

_WIN_TYPE, _RESULT = np.divmod(np.arange(MISSING + 1), RESULTS)


def _share(win_type: str, *results: int) -> Floats:
    """Return the weights of the share of the games that ended so; a pair of two is 1."""
    return ((ENDINGS.index(win_type) == _WIN_TYPE) & np.isin(_RESULT, results)) / 2


SCORE: Final[Floats] = HALVES / 4
BOT_PARTS: Final[Mapping[str, Floats]] = {
    "score": SCORE,
    **{f"won by {name}": _share(how, WON) for how, name in WIN_TYPES.items()},
    **{f"lost by {name}": _share(how, LOST) for how, name in WIN_TYPES.items()},
    "drawn": _share("draw", DRAWN),
}
"""What is counted of a bot's pairs, and what each ending weighs in it."""


def number_sides(pairings: Sequence[Pairing], order: Sequence[str]) -> Ints:
    """Return the bot and the opponent of each side by their places in an order.

    A bot that is not in it has the place behind the last one.

    >>> number_sides([Pairing("b", "a")], ["a", "b"]).tolist()
    [[1, 0], [0, 1]]
    """
    first = place_bots(pairings, order)
    return np.stack([first, first[:, ::-1]], axis=1).reshape(-1, 2)


_TOTALS = ("games", "wins", "draws", "losses")
_WINS = tuple(f"{win_type}_wins" for win_type in WIN_TYPES)
_COUNTED: Final = (*_TOTALS, *_WINS, *LOSS_COLUMNS.values(), "scored", "margin")
_KEYS: Final = ("bot", "opponent", "seat")
_ELO: Final = ("elo", "elo_low", "elo_high")
_UNRATED: Final = (math.nan,) * 3
_UNMET = Verdict(math.nan, math.nan, math.nan, math.nan, "open")


class Sides(NamedTuple):
    """The games of each side: columns of _KEYS, bots as their places in `labels`, and of _COUNTED.

    A game is `scored` if it ended with points; the `margin` is the sum of the leads in these.
    """

    labels: Sequence[str]
    columns: Ints


def make_sides(pairings: Sequence[Pairing], tallies: Tallies) -> Sides:
    """Return the games of each pairing, seat, result and win type, once for each bot's side."""
    met = {*tallies.pairing.tolist()}
    labels = sorted({label for number in met for label in pairings[number]})
    both, games = number_sides(pairings, labels), tallies.games
    types = [tallies.win_type == ENDINGS.index(name) for name in WIN_TYPES]
    scored = ~np.isin(tallies.win_type, (CITY_WIN, FORFEIT))
    sides = []
    for side, order in enumerate(((WON, DRAWN, LOST), (LOST, DRAWN, WON))):
        won, drawn, lost = (np.where(tallies.result == one, games, 0) for one in order)
        of_types = [np.where(one, of_all, 0) for of_all in (won, lost) for one in types]
        margin = np.where(scored, (1 - 2 * side) * tallies.margin, 0)
        keys = *both[2 * tallies.pairing + side].T, tallies.seat ^ side
        counts = games, won, drawn, lost, *of_types, np.where(scored, games, 0), margin
        sides.append(np.stack([*keys, *counts]))
    return Sides(labels, np.hstack(sides))


def make_head_to_head(
    sides: Sides,
    pairings: Sequence[Pairing],
    totals: Iterable[PairTotals],
    residuals: Mapping[str, Any],
) -> Columns:
    """Return one row for each ordered two bots that met; `score` and its bounds are 0 to 1.

    The residuals are those of the ratings' fit; they are empty for bots without a rating.
    """
    table, keys = Columns(tally(sides, ["bot", "opponent"])), ("bot", "opponent")
    scores = _sum_pairs(pairings, totals)
    found = match_rows([table[name] for name in keys], [scores[name] for name in keys])
    table, found = table.where(found >= 0), found[found >= 0]
    low, high = score_intervals(
        *(scores[name][found].astype(float) for name in ("pairs", "total", "squares"))
    )
    found = match_rows([table[name] for name in keys], [residuals[name] for name in keys])
    of_fit = {
        name: np.append(cells, np.nan)[found]
        for name, cells in residuals.items()
        if name not in keys
    }
    table = table.put(score_low=low, score_high=high, **of_fit)
    digits = dict.fromkeys(("score", "score_low", "score_high", "expected", "residual"), 4)
    digits |= {"residual_z": 2, "residual_q": 4}
    cells = {name: table[name] for name in HEAD_TO_HEAD.names}
    # no zero with a sign where one can be
    return Columns(cells | {name: cells[name].round(n) + 0.0 for name, n in digits.items()})


def _sum_pairs(pairings: Sequence[Pairing], totals: Iterable[PairTotals]) -> Columns:
    """Return pairs, and sum and sum of squares of their scores, for each ordered pair of bots."""
    rows = []
    for number, pairs, total, squares, _ in totals:
        bot, opponent = pairings[number]
        rows.append((bot, opponent, pairs, total, squares))
        rows.append((opponent, bot, pairs, 2 * pairs - total, 4 * (pairs - total) + squares))
    return Columns.of_rows(["bot", "opponent", "pairs", "total", "squares"], rows)


def make_standings(sides: Sides, field: Field, judged: Mapping[str, int], apart: Flags) -> Columns:
    """Return one row a bot, the strongest first.

    Bots without a rating come last, in the order of their scores. Bots of equal Elo are in the
    order of their labels, because the last bits of a fit are arbitrary. The interval of an unbeaten
    bot has no upper end, and that of a winless bot no lower end. `mean_margin` is the mean of own
    points less the opponent's over the games that were scored: those not won by City or forfeit.
    `group` has letters: two bots share one unless they are `apart`, by their numbers in `judged`;
    it is empty for bots that are not in this.
    """
    table = Columns(tally(sides, ["bot"]))
    cells = [rating.cells for rating in field.ratings.values()]
    known = dict(zip(field.labels, np.array(cells, float).reshape(-1, 3).round(1), strict=True))
    ratings = np.array([known.get(label, _UNRATED) for label in table["bot"]]).reshape(-1, 3)
    elo, scored = ratings[:, 0], np.where(table["scored"], table["scored"], np.nan)
    table = table.put(
        **dict(zip(_ELO, ratings.T, strict=True)),
        mean_margin=(table["margin"] / scored).round(3),
    ).ordered(np.isnan(elo), np.where(np.isnan(elo), -table["score"], -elo))
    order = table["bot"].tolist()
    rated = [label for label in order if label in judged]
    places = [judged[label] for label in rated]
    of_two = apart[np.ix_(places, places)]
    letters = give_letters(len(rated), lambda *two: bool(of_two[two]))
    groups = dict(zip(rated, letters, strict=True))
    table = table.put(
        rank=np.array(give_ranks(table["elo"].tolist()), np.int64),
        score=table["score"].round(4),
        group=np.array([groups.get(label) for label in order], object),
    )
    return Columns({name: table[name] for name in STANDINGS.names})


def make_verdicts(judged: Field) -> Columns:
    """Return one row for every two judged bots, those of the strongest bot first.

    The lead is empty if the two are in different connected components of the graph of games.
    """
    order = judged.in_order()
    rows = []
    for place, bot in enumerate(order[:-1], 1):
        below = order[place:]
        for opponent, found in zip(below, judged.verdicts_on(bot, below), strict=True):
            lead, low, high, likely, word = found or _UNMET
            cells = (end if math.isfinite(end) else None for end in (lead, low, high))
            rows.append((bot, opponent, *cells, likely, word))
    return VERDICTS.make(rows)


def make_win_types(sides: Sides) -> Columns:
    """Return one row for each bot and seat: games, and wins and losses of each win type."""
    table = tally(sides, ["bot", "seat"])
    return Columns({name: table[name] for name in WIN_TYPE_TABLE.names})


def tally(sides: Sides, by: Sequence[str]) -> dict[str, Any]:
    """Return columns of the keys in `by`, of the counts of their sides, and of the score."""
    keys = sides.columns[[_KEYS.index(name) for name in by]]
    shape = tuple(keys.max(axis=1, initial=0) + 1)
    found, place = np.unique(np.ravel_multi_index([*keys], shape), return_inverse=True)
    table: dict[str, Any] = dict(zip(by, np.unravel_index(found, shape), strict=True))
    for name in {"bot", "opponent"} & {*by}:
        table[name] = np.array(sides.labels, object)[table[name]]
    for name, column in zip(_COUNTED, sides.columns[len(_KEYS) :], strict=True):
        table[name] = np.bincount(place, column, len(found)).astype(np.int64)  # exact up to 2**53
    table["score"] = (table["wins"] + table["draws"] / 2) / table["games"]
    return table
