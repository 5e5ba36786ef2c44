"""Make the tables of counted games: standings, head to head, win types, and seats.

How games ended is weighed here, once: a measure of a pair is the sum of the weights of its games.
A side is a pairing as one of its bots sees it: its number is twice that of the pairing, and one
more for the second bot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from arena.statistics.counts import MISSING, RESULTS, PairTotals
from arena.statistics.counts import WIN_TYPES as ENDINGS
from arena.statistics.cycles import Field
from arena.statistics.difference import compare_ratios
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Estimate, Ints, Moments, score_intervals
from arena.statistics.verdicts import Verdict
from arena.statistics.wording import give_letters, give_ranks
from arena.store.columns import Columns, match_rows
from arena.store.counting import HALVES, TURNED, Counts, Tallies
from arena.tables.run_games import CITY_WIN, FORFEIT, Batch, interval, make_table, place_bots
from arena.tables.table_columns import (
    HEAD_TO_HEAD,
    LOSS_COLUMNS,
    STANDINGS,
    VERDICTS,
    WIN_TYPE_TABLE,
    WIN_TYPES,
)
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
    first = place_bots(pairings, order)
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


_TOTALS = ("games", "wins", "draws", "losses")
_WINS = tuple(f"{win_type}_wins" for win_type in WIN_TYPES)
_COUNTED: Final = (*_TOTALS, *_WINS, *LOSS_COLUMNS.values(), "scored", "margin")
_KEYS: Final = ("bot", "opponent", "seat")
_ELO: Final = ("elo", "elo_low", "elo_high")
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
    for side, order in enumerate(((_WON, _DRAWN, _LOST), (_LOST, _DRAWN, _WON))):
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
    return _round_estimates(table.put(score_low=low, score_high=high, **of_fit))


def _sum_pairs(pairings: Sequence[Pairing], totals: Iterable[PairTotals]) -> Columns:
    """Return pairs, and sum and sum of squares of their scores, for each ordered pair of bots."""
    rows = []
    for number, pairs, total, squares, _ in totals:
        bot, opponent = pairings[number]
        rows.append((bot, opponent, pairs, total, squares))
        rows.append((opponent, bot, pairs, 2 * pairs - total, 4 * (pairs - total) + squares))
    return Columns.of_rows(["bot", "opponent", "pairs", "total", "squares"], rows)


def list_standings(
    sides: Sides, ratings: Mapping[str, Sequence[float | None]]
) -> list[dict[str, Any]]:
    """Return one row a bot, the strongest first; `ratings` are the cells of its Elo, by label.

    Bots without a rating come last, in the order of their scores. Bots of equal Elo are in the
    order of their labels, because the last bits of a fit are arbitrary. `mean_margin` is the mean
    of own points less the opponent's over the games that were scored: those not won by City or
    forfeit.
    """
    table = tally(sides, ["bot"])
    table["exact"] = table["score"]
    table["score"] = table["score"].round(4)
    means = table["margin"] / np.where(table["scored"], table["scored"], np.nan)
    table["mean_margin"] = means.round(3)
    rows = []
    for cells in zip(*(column.tolist() for column in table.values()), strict=True):
        row = dict(zip(table, _cells(cells), strict=True))
        rows.append(row | dict(zip(_ELO, ratings.get(row["bot"], [None] * 3), strict=True)))
    rows.sort(key=_place)
    ranks = give_ranks([math.nan if row["elo"] is None else row["elo"] for row in rows])
    return [row | {"rank": rank} for row, rank in zip(rows, ranks, strict=True)]


def _cells(values: Iterable[Any]) -> list[Any]:
    """Return values with None in the place of nan."""
    return [None if value != value else value for value in values]


def _place(row: Mapping[str, Any]) -> tuple[bool, float, str]:
    """Return the key by which standings are sorted."""
    elo = row["elo"]
    return elo is None, -(row["exact"] if elo is None else elo), row["bot"]


def rank_field(
    sides: Sides, field: Field, judged: Sequence[str], verdicts: Sequence[Sequence[Any]]
) -> list[dict[str, Any]]:
    """Return the rows of standings.csv, with None in empty cells.

    The interval of an unbeaten bot has no upper end, and that of a winless bot no lower end.
    `group` has letters: two bots share one if they are not apart by the rows of `verdicts`. It is
    empty for bots that are not in `judged`, which is the field or a part of it.
    """
    cells = np.array([rating.cells for rating in field.ratings.values()], float).reshape(-1, 3)
    known = [*map(_cells, cells.round(1).tolist())]
    rows = list_standings(sides, dict(zip(field.labels, known, strict=True)))
    groups = group_bots([row["bot"] for row in rows], judged, verdicts)
    grouped = [row | {"group": group} for row, group in zip(rows, groups, strict=True)]
    return [{name: row[name] for name in STANDINGS.names} for row in grouped]


def make_standings(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Return the rows of standings.csv as a table."""
    cells = [[row[name] for name in STANDINGS.names] for row in rows]
    return _with_floats(Columns.of_rows(STANDINGS.names, cells), *_ELO, "score", "mean_margin")


def _with_floats(table: Columns, *names: str) -> Columns:
    """Return a table whose columns of these names are floats, also if all cells are empty."""
    return table.put(**{name: table[name].astype(np.float64) for name in names})


def group_bots(
    order: Sequence[str], judged: Sequence[str], verdicts: Iterable[Sequence[Any]]
) -> list[str | None]:
    """Return the letters of each bot in this order: two bots share one unless they are apart.

    `verdicts` are the rows of verdicts.csv. The entry of a bot that was not judged is None.
    """
    found = {frozenset(row[:2]) for row in verdicts if row[-1] == "apart"}
    rated = [label for label in order if label in {*judged}]
    letters = give_letters(len(rated), lambda *two: frozenset(rated[n] for n in two) in found)
    by_label = dict(zip(rated, letters, strict=True))
    return [by_label.get(label) for label in order]


def list_verdicts(judged: Field) -> list[tuple[Any, ...]]:
    """Return one row of verdicts.csv for every two judged bots, those of the strongest bot first.

    The lead is empty if the two are in different connected components of the graph of games.
    """
    rows = []
    for bot, opponent in combinations(judged.in_order(), 2):
        found = judged.verdict(bot, opponent) or _UNMET
        rows.append((bot, opponent, *Estimate(*found[:3]).cells, found.likely, found.word))
    return rows


def make_verdicts(rows: Sequence[tuple[Any, ...]]) -> Columns:
    """Return the rows of verdicts.csv as a table."""
    return _with_floats(Columns.of_rows(VERDICTS.names, rows), *VERDICTS.names[2:6])


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


def _round_estimates(table: Columns) -> Columns:
    """Round what is estimated: shares to 4 digits."""
    digits = dict.fromkeys(("score", "score_low", "score_high", "expected", "residual"), 4)
    digits |= {"residual_z": 2, "residual_q": 4}
    cells = {name: table[name] for name in HEAD_TO_HEAD.names}
    # no zero with a sign where one can be
    cells |= {name: cells[name].round(n) + 0.0 for name, n in digits.items()}
    return Columns(cells)


_THIRDS = ("strongest", "middle", "weakest")
_PARTS = ("all", *_THIRDS, "difference")


def make_city_winners(pairings: Sequence[Pairing], order: Sequence[str], counts: Counts) -> Columns:
    """Return the share of City in the wins of all bots, of the thirds of the field, of each bot.

    `order` has the bots, the strongest first. The first third and the last one have as many bots,
    and the middle one the others; the difference is the strongest third's share less the weakest
    one's. Forfeits are not counted, and who has won nothing has no row.
    """
    bots, third = len(order), len(order) // len(_THIRDS)
    part = np.full(bots, 1)
    part[:third], part[bots - third :] = 0, 2
    both = place_bots(pairings, order)[counts.pairing]
    wins = _count_wins(counts.games)
    sums = Moments(1 + len(_THIRDS) + bots, 1)
    for group in (np.zeros_like(part), 1 + part, 1 + len(_THIRDS) + np.arange(bots)):
        _add_wins(sums, group[both], wins, counts.pairs)
    weakest, strongest = ((wins * (part[both] == one)[:, :, None]).sum(axis=1) for one in (2, 0))
    gap = compare_ratios(weakest[None], strongest[None], 2, counts.pairs)
    at = 1 + len(_THIRDS)  # the row of the difference
    games = {"wins": sums.counts.ravel(), "city_wins": sums.totals.ravel()}
    shares = interval("share", "share", sums.shares())
    columns = {
        "part": np.array([*_PARTS, *(_THIRDS[one] for one in part)], object),
        "bot": np.concatenate([np.full(len(_PARTS), bots), np.arange(bots)]),
        **{name: np.insert(one, at, -1) for name, one in games.items()},
        **{
            name: np.insert(one, at, end)
            for (name, one), end in zip(shares.items(), gap[:3], strict=True)
        },
    }
    shown = (columns["wins"] > 0) & ((third > 0) | np.isin(columns["part"], "all"))
    shown[at] = not math.isnan(gap.error)
    return make_table(columns, order, shown)


def _add_wins(sums: Moments, group: Ints, wins: Ints, pairs: Ints) -> None:
    """Add the wins of both bots of some pairs to their groups; those of one group are one unit."""
    same = group[:, 0] == group[:, 1]
    first = wins[:, 0] + wins[:, 1] * same[:, None]
    for side, own, some in ((0, first, slice(None)), (1, wins[:, 1], ~same)):
        by_city, won = own[some].T
        sums.add(group[some, side], won[None], by_city[None], pairs[some])


def _count_wins(games: Ints) -> Ints:
    """Return how many games of each pair both bots won by City, and in any way but by forfeit.

    They are (pair, bot, 2).
    """
    win_type, result = np.divmod(games, RESULTS)
    is_decided = (games != MISSING) & (win_type != FORFEIT)
    won = np.stack([is_decided & (result == one) for one in (_WON, _LOST)], axis=1)
    by_city = won & (win_type == CITY_WIN)[:, None]
    return np.stack([by_city.sum(axis=2), won.sum(axis=2)], axis=2)


_CELLS = MISSING + 4  # also missing and scored games, the sums of margins and of their squares
_DECIDED = [name for name in ENDINGS if name != "draw"]


def make_seats(labels: Sequence[str], pairings: Sequence[Pairing], counts: Counts) -> Columns:
    """Return a row for each bot, opponent and seat; then for each bot, and for all bots.

    A bot sits in each seat once in a pair, so the games of a bot and seat are independent. For all
    bots together a seat has both games of a pair.
    """
    met, place = np.unique(counts.pairing, return_inverse=True)
    scored = _is_scored(counts.games)
    cells = np.zeros((len(met), 2, _CELLS), np.int64)
    for seat in (0, 1):  # of the first bot
        np.add.at(cells[:, seat], (place, counts.games[:, seat]), counts.pairs)
        sums = np.column_stack([counts.pairs, counts.margins[:, seat], counts.squares[:, seat]])
        np.add.at(cells[:, seat, MISSING + 1 :], place, sums * scored[:, seat, None])
    own = np.stack([cells, _turn_seats(cells)], axis=1).reshape(-1, 2, _CELLS)
    bot, opponent = number_sides([pairings[one] for one in met], labels).T
    everyone = len(labels)
    total = np.zeros((everyone + 1, 2, _CELLS), np.int64)
    np.add.at(total, bot, own)
    total[everyone] = total.sum(axis=0)
    played = np.unique([*bot, everyone])
    bot, opponent = np.append(bot, played), np.append(opponent, np.full(len(played), everyone))
    order = np.lexsort([opponent, bot])
    rows = np.concatenate([own, total[played]])[order].reshape(-1, _CELLS)
    return _frame(labels, bot[order], opponent[order], rows, _sum_by_seat(counts, scored))


def _frame(
    labels: Sequence[str], bot: Ints, opponent: Ints, cells: Ints, by_seat: Sequence[Moments]
) -> Columns:
    """Return the rows of bots by seat; the last two, of all bots, are made of `by_seat`."""
    ends = cells[:, :MISSING].reshape(-1, len(ENDINGS), RESULTS)
    won, lost, drawn = np.moveaxis(ends.sum(axis=1), 1, 0)
    games, city = won + lost + drawn, ends[:, CITY_WIN, 0]
    score = Moments.independent(games, 2 * won + drawn, 4 * won + drawn, scale=2)
    of_city = Moments.independent(games, city, city)
    margin = Moments.independent(*cells[:, MISSING + 1 :].T)
    for moments, of_all in zip((score, of_city, margin), by_seat, strict=True):
        moments.sums[:, -2:, 0] = of_all.sums[:, 0]  # pairs have two games there
    columns = {
        "bot": bot.repeat(2),
        "opponent": opponent.repeat(2),
        "seat": np.tile([0, 1], len(bot)),
        "games": games,
        "wins": won,
        "draws": drawn,
        "losses": lost,
        **interval("score", "score", score.shares()),
        **{f"{name}_wins": ends[:, ENDINGS.index(name), 0] for name in _DECIDED},
        **{LOSS_COLUMNS[name]: ends[:, ENDINGS.index(name), 1] for name in _DECIDED},
        **interval("city", "city_share", of_city.shares()),
        **interval("margin", "mean_margin", margin.means()),
    }
    return make_table(columns, labels, games > 0)


def _sum_by_seat(counts: Counts, scored: Ints) -> tuple[Moments, Moments, Moments]:
    """Return scores, wins by City and margins of seat 0 and of seat 1, over all bots."""
    score, by_city, margin = Moments(1, 2, scale=2), Moments(1, 2), Moments(1, 2)
    win_type, result = np.divmod(counts.games, RESULTS)
    is_played, pairs = counts.games != MISSING, counts.pairs
    won = np.stack([is_played & (result == of_seat) for of_seat in ([0, 1], [1, 0])])
    points = (2 * won + (is_played & (result == RESULTS - 1))).sum(axis=2)
    everyone, games = np.zeros_like(pairs), np.broadcast_to(is_played.sum(axis=1), points.shape)
    score.add(everyone, games, points, pairs)
    by_city.add(everyone, games, (won & (win_type == CITY_WIN)).sum(axis=2), pairs)
    lead = scored[:, 0] * counts.margins[:, 0] - scored[:, 1] * counts.margins[:, 1]
    squares = (scored * counts.squares).sum(axis=1) - 2 * scored.prod(axis=1) * counts.products
    n = scored.sum(axis=1)
    for seat, own in enumerate((lead, -lead)):
        parts = ((n > 0) * pairs, n * pairs, own, n * n * pairs, n * own, squares)
        margin.sums[:, 0, seat] = np.stack(parts).sum(axis=1)
    return score, by_city, margin


def _is_scored(games: Ints) -> Ints:
    """Return 1 for the endings of games that ended with points, 0 for others."""
    is_scored = ~np.isin(games // RESULTS, (CITY_WIN, FORFEIT)) & (games != MISSING)
    return np.asarray(is_scored, np.int64)


def _turn_seats(cells: Ints) -> Ints:
    """Return counts from the opponent's side: with the seats exchanged, and losses for wins."""
    columns = np.arange(_CELLS)
    columns[:MISSING] = columns[:MISSING].reshape(-1, RESULTS)[:, [1, 0, 2]].ravel()
    turned = cells[:, ::-1, columns]
    turned[:, :, MISSING + 2] *= -1
    return turned
