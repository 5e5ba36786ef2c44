"""What a change of the rules changes, in cases that are worked out by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from contextlib import closing
from typing import Any, TypeAlias

import pytest

from arena.addons.studies.ablation import (
    MEASURES,
    Measure,
    count_pairs,
    difference,
    estimate,
    find_spread,
)
from arena.statistics.intervals import Ints
from arena.store.store import Store
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from bench.studies.ablation import Setup, hold

Z = 1.959963984540054
BY_NAME = {measure.name: measure for measure in MEASURES}
CITY, MARGIN, PLIES = (BY_NAME[name] for name in ("city", "margin", "plies"))
EMPTY = (None, None, None)


Pair: TypeAlias = list[tuple[int, GameResult]]


def pair(
    number: int,
    pairing: int = 0,
    *,
    games: int = 2,
    city: int = 0,
    first: int = 2,
    margin: int = 0,
    plies: int = 96,
) -> Pair:
    """Return the games of a pair; those won by City come first, and the last one has the margin.

    `first` are half points of the first bot, and the first game has all plies.
    """
    rows = []
    for seat in range(games):
        half = min(2, first) if seat == 0 else max(0, first - 2)
        winner = None if half == 1 else 1 - half // 2
        how = "city" if seat < city else "draw" if winner is None else "points"
        points = margin if seat == games - 1 else 0
        row = (number, seat, winner, how, points, 0, 0 if seat else plies, None, "")
        rows.append((pairing, GameResult(*row)))
    return rows


def counted(*pairings: Sequence[Pair]) -> Ints:
    """Return the counts of a run with these pairs, by pairing."""
    games = [game for rows in pairings for row in rows for game in row]
    return count_games(len(pairings), len(pairings[0]), games)


def count_games(pairings: int, pairs: int, games: Pair) -> Ints:
    """Return the counts of a run with these games, as its store has them."""
    with closing(Store(None)) as store:
        for number in range(pairings):
            own = [game for one, game in games if one == number]
            store.add(Played(Chunk(number, 0, pairs), own, {}, 1.0))
        return count_pairs(pairs, map(store.read_pairs, range(pairings)))


def of(name: str, *values: int, pairing: int = 0) -> list[Pair]:
    """Return pairs of which one thing has these values."""
    more: list[dict[str, int]] = [{name: value} for value in values]
    return [pair(number, pairing, **one) for number, one in enumerate(more)]


@pytest.mark.parametrize(
    ("game", "sums"),
    [
        ((7, 0, 0, "city", 3, 9, 20), (1, 1, 0, 0, 2, 0, 0, 20)),
        ((7, 1, 0, "points", 12, 9, 48), (1, 0, 0, 0, 0, 1, 3, 48)),
        ((7, 0, 1, "points", -4, 9, 48), (1, 0, 0, 0, 0, 1, 13, 48)),
        ((7, 1, 1, "tiebreak", 9, 9, 48), (1, 0, 1, 0, 2, 1, 0, 48)),
        ((7, 0, None, "draw", 9, 9, 48), (1, 0, 0, 1, 1, 1, 0, 48)),
        ((7, 0, 1, "forfeit", 0, 0, 5), (0,) * 8),
    ],
)
def test_a_game_adds_to_its_pair(game: tuple[Any, ...], sums: tuple[int, ...]) -> None:
    """Games, City, tie-break, draw, half points of seat 0, and the rest."""
    counts = count_games(4, 8, [(3, GameResult(*game, None, ""))])
    found = {measure.name: measure.sums(counts)[3, 7].tolist() for measure in MEASURES}
    counted = [found[one][0] for one in ("city", "tiebreaks", "draws", "seat_0")]
    margin, scored = found["margin"]
    assert (found["city"][1], *counted, scored, margin, found["plies"][0]) == sums
    assert counts.sum() == 1 + margin + found["plies"][0]


def test_the_difference_of_two_shares_is_worked_out_by_pair() -> None:
    """City wins in five pairs, 0 0 1 1 0 and then 1 0 2 2 0, of two games each.

    The shares are 0.2 and 0.5. By pair the share grows by 1/2, 0, 1/2, 1/2, 0: the mean is 0.3,
    the squares add up to 0.75, less 5 x 0.09 that is 0.3, and the variance of the mean is
    0.3 / 4 / 5 = 0.015. Z times its root is 0.24, and the least is 3 / 5.
    """
    base, changed = counted(of("city", 0, 0, 1, 1, 0)), counted(of("city", 1, 0, 2, 2, 0))
    assert difference(base, changed, CITY).cells == (0.3, -0.3, 0.9)
    assert difference(changed, base, CITY).cells == (-0.3, -0.9, 0.3)
    assert estimate(base, CITY).cells == (0.2, 0.0, 0.8)


def test_with_many_pairs_the_interval_is_the_plain_one_of_paired_differences() -> None:
    """The same five pairs a hundred times: the squares less the mean's are 30, of 500 pairs."""
    base = counted(of("city", *[0, 0, 1, 1, 0] * 100))
    changed = counted(of("city", *[1, 0, 2, 2, 0] * 100))
    half = Z * math.sqrt(30 / 499 / 500)
    expected = tuple(round(number, 4) for number in (0.3, 0.3 - half, 0.3 + half))
    assert difference(base, changed, CITY).cells == expected
    assert half > 3 / 500


def test_pairings_are_strata_whose_own_differences_cost_nothing() -> None:
    """One pairing always wins by City and one never does: nothing varies but 3 of 400 pairs."""
    base = counted(of("city", *[0] * 200), of("city", *[2] * 200, pairing=1))
    value = estimate(base, CITY)
    assert value.cells == (0.5, 0.5 - 0.0075, 0.5 + 0.0075)


def test_a_ratio_of_two_counts_has_its_error_by_linearisation() -> None:
    """Leads of 10, 20 and 30 points in 2, 1 and 2 scored games, twice: 12 points a game.

    What is left by pair is 10 - 24 = -14, 20 - 12 = 8 and 30 - 24 = 6; the squares of three add
    up to 296, and those of six to 592. The variance is 6/5 x 592 / 10 squared.
    """
    pairs = [(2, 10), (1, 20), (2, 30)] * 2
    rows = [pair(n, city=2 - scored, margin=margin) for n, (scored, margin) in enumerate(pairs)]
    half = Z * math.sqrt(6 / 5 * 592 / 100)
    expected = tuple(round(number, 3) for number in (12, 12 - half, 12 + half))
    assert estimate(counted(rows), MARGIN).cells == expected


def test_a_mean_of_fewer_than_ten_games_has_no_interval() -> None:
    """Under either rules; five scored games here, and ten there."""
    few = counted([pair(n, city=1, margin=n) for n in range(5)])
    enough = counted([pair(n, margin=3 * n % 7) for n in range(5)])
    assert estimate(few, MARGIN).cells == (2.0, None, None)
    assert None not in estimate(enough, MARGIN).cells
    assert difference(few, enough, MARGIN).cells[1:] == (None, None)


def test_the_spread_is_the_score_of_the_stronger_bot_of_the_most_one_sided_pairing() -> None:
    """Where the weaker one is first its score is turned round; without a game there is none."""
    labels = [("a", "b"), ("c", "d")]
    for first, score, title in (
        ((4, 3, 4, 3), 0.875, "c against d"),
        ((0, 1, 0, 1), 0.875, "d against c"),
    ):
        run = counted(of("first", 2, 2, 2, 2), of("first", *first, pairing=1))
        both = find_spread(run, labels)
        assert both
        found, two = both
        assert " against ".join(two) == title
        assert (found.title, found.pairing) == (f"score of {title}, %", 1)
        assert estimate(run, found).value == score
        assert difference(run, run, found).value == 0
    assert find_spread(count_games(2, 3, []), labels) is None


def test_forfeited_games_count_in_nothing() -> None:
    """Of four pairs one has a single game left and one has none: 1 of 5 games, 3 / 2.5 pairs."""
    rows = [pair(0), pair(1, games=1, city=1, plies=20), pair(3)]
    run = count_games(1, 4, [game for row in rows for game in row])
    assert estimate(run, CITY).cells == (0.2, 0.0, 1.0)
    assert estimate(run, PLIES).value == pytest.approx((96 + 20 + 96) / 5)


def test_what_cannot_be_said_is_empty() -> None:
    """One pair has no interval, no game has no number, and a pair more has both."""
    one = counted([pair(0, city=1)])
    none = count_games(1, 3, [])
    for measure in MEASURES:
        assert estimate(one, measure).cells[1:] == (None, None)
        assert difference(one, one, measure).cells == (0.0, None, None)
        assert estimate(none, measure).cells == EMPTY
        assert difference(none, counted([pair(n) for n in range(3)]), measure).cells == EMPTY


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_no_bit_depends_on_the_order_of_the_pairs(measure: Measure) -> None:
    """The pairs of both runs in any one order, and as the store happens to give them."""
    rng = random.Random(5)

    def draw(number: int) -> Pair:
        counts = {"first": rng.choice([0, 2, 4]), "city": rng.choice([0, 0, 1])}
        counts |= {"margin": rng.randrange(40), "plies": rng.randrange(20, 97)}
        return pair(number, number % 3, **counts)

    def numbered(rows: Sequence[Pair]) -> Pair:
        return [(p, game._replace(pair=n)) for n, row in enumerate(rows) for p, game in row]

    both = [[draw(3 * n + p) for n in range(40)] for p in range(3) for _ in "bc"]
    seen = set()
    for _ in range(5):
        order = rng.sample(range(40), 40)
        runs = []
        for side in (0, 1):
            rows = [
                row for p in range(3) for row in numbered([both[2 * p + side][n] for n in order])
            ]
            runs.append(count_games(3, 40, rng.sample(rows, len(rows))))
        seen.add(repr((difference(*runs, measure), estimate(runs[0], measure))))
    assert len(seen) == 1


@pytest.mark.slow
def test_the_intervals_hold_the_truth() -> None:
    """In nine to ten of ten runs, and not in all: they are not too wide either."""
    held = hold(Setup(6, 20, 0.3, 0.4), runs=200)
    assert 0.91 <= held.city <= 0.985
    assert 0.91 <= held.margin <= 0.985
    assert held.said == 1
