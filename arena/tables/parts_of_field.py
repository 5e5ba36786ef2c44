"""Make the tables of counted games by seat, and of City in the wins of strong and of weak bots."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from arena.statistics.counts import MISSING, RESULTS
from arena.statistics.counts import WIN_TYPES as ENDINGS
from arena.statistics.difference import compare_ratios
from arena.statistics.intervals import Ints, Moments
from arena.store.columns import Columns
from arena.store.counting import Counts
from arena.tables.counted import LOST, WON, number_sides
from arena.tables.run_games import CITY_WIN, FORFEIT, interval, make_table, place_bots
from arena.tables.table_columns import LOSS_COLUMNS
from arena.tournament.schedule import Pairing

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
    won = np.stack([is_decided & (result == one) for one in (WON, LOST)], axis=1)
    by_city = won & (win_type == CITY_WIN)[:, None]
    return np.stack([by_city.sum(axis=2), won.sum(axis=2)], axis=2)


_CELLS = MISSING + 4  # also missing and scored games, the sums of margins and of their squares
_DECIDED = [name for name in ENDINGS if name != "draw"]


def make_seats(
    labels: Sequence[str], pairings: Sequence[Pairing], counts: Counts, *, each: bool = True
) -> Columns:
    """Return a row for each bot, opponent and seat; then for each bot, and for all bots.

    Without `each` there are no rows against one opponent.
    A bot sits in each seat once in a pair, so the games of a bot and seat are independent. For all
    bots together a seat has both games of a pair.
    """
    scored = _is_scored(counts.games)
    bot, opponent, rows = _count_rows(labels, pairings, counts, scored)
    if not each:
        those = slice(-len(labels) - 1, None)
        bot, opponent, rows = bot[those], opponent[those], rows[those].copy()
    order = np.lexsort([opponent, bot])
    rows = rows[order].reshape(-1, _CELLS)  # each is 30 MB for 300 bots
    return _frame(labels, bot[order], opponent[order], rows, _sum_by_seat(counts, scored))


def _count_rows(
    labels: Sequence[str], pairings: Sequence[Pairing], counts: Counts, scored: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return the bot, the opponent and the cells of each side; then of each bot, and of all bots.

    These have the place behind the last bot.
    """
    met, place = np.unique(counts.pairing, return_inverse=True)
    bot, opponent = number_sides([pairings[one] for one in met], labels).T
    everyone = len(labels)
    rows = np.zeros((2 * len(met) + everyone + 1, 2, _CELLS), np.int64)
    sides, total = rows[: 2 * len(met)], rows[2 * len(met) :]
    _count_sides(sides.reshape(-1, 2, 2, _CELLS), place, counts, scored)
    np.add.at(total, bot, sides)
    total[everyone] = total.sum(axis=0)
    every = np.arange(everyone + 1)
    return np.append(bot, every), np.append(opponent, np.full_like(every, everyone)), rows


def _count_sides(sides: Ints, place: Ints, counts: Counts, scored: Ints) -> None:
    """Add the cells of the pairings that met (pairing, side, seat of its bot, cell)."""
    cells = sides[:, 0]
    for seat in (0, 1):  # of the first bot
        np.add.at(cells[:, seat], (place, counts.games[:, seat]), counts.pairs)
        sums = np.column_stack([counts.pairs, counts.margins[:, seat], counts.squares[:, seat]])
        np.add.at(cells[:, seat, MISSING + 1 :], place, sums * scored[:, seat, None])
    sides[:, 1] = _turn_seats(cells)


def _frame(
    labels: Sequence[str], bot: Ints, opponent: Ints, cells: Ints, by_seat: Sequence[Moments]
) -> Columns:
    """Return the rows of bots by seat; the last two, of all bots, are made of `by_seat`."""
    ends = cells[:, :MISSING].reshape(-1, len(ENDINGS), RESULTS)
    won, lost, drawn = np.moveaxis(ends.sum(axis=1), 1, 0)
    games, city = won + lost + drawn, ends[:, CITY_WIN, 0]
    of_all = iter(by_seat)

    def weigh(number: Ints, total: Ints, squares: Ints, scale: int = 1) -> Moments:
        moments = Moments.independent(number, total, squares, scale)
        moments.sums[:, -2:, 0] = next(of_all).sums[:, 0]  # pairs have two games there
        return moments

    scores = weigh(games, 2 * won + drawn, 4 * won + drawn, scale=2).shares()
    columns = {
        "bot": bot.repeat(2),
        "opponent": opponent.repeat(2),
        "seat": np.tile([0, 1], len(bot)),
        "games": games,
        "wins": won,
        "draws": drawn,
        "losses": lost,
        **interval("score", "score", scores),
        **{f"{name}_wins": ends[:, ENDINGS.index(name), 0] for name in _DECIDED},
        **{LOSS_COLUMNS[name]: ends[:, ENDINGS.index(name), 1] for name in _DECIDED},
        **interval("city", "city_share", weigh(games, city, city).shares()),
        **interval("margin", "mean_margin", weigh(*cells[:, MISSING + 1 :].T).means()),
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
