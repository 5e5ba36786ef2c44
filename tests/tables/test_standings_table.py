"""Tables: every game counts once for each bot, and everything adds up."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter, defaultdict
from itertools import permutations
from random import Random
from typing import get_args

import pandas as pd
import pytest

from arena.lanes.faults import Fault
from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.intervals import Estimate
from arena.store import column_titles
from arena.store.column_titles import (
    LOSS_COLUMNS,
    STANDINGS,
    TIMINGS,
    VERDICTS,
    WIN_TYPES,
    TableColumns,
)
from arena.store.csv_files import make_timings, write_games
from arena.store.store import Store
from arena.tables import losses, standings_table
from arena.tables.standings_text import format_standings, plain_rows
from arena.tables.win_tables import Tables
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Pairing, find_unrated, round_robin
from arena.tournament.timing import Timing
from engine.strategy import Spent
from tests.tables.games import random_results

COUNTED = (
    *("games", "wins", "draws", "losses"),
    *(f"{kind}_wins" for kind in WIN_TYPES),
    *LOSS_COLUMNS.values(),
)
PAIRINGS = [Pairing("a", "b"), Pairing("a", "c")]
FAULT = Fault("illegal", "illegal action 99")
RESULTS = [
    [  # out of order, as chunks arrive
        GameResult(1, 1, None, "draw", 9, 9, 48, None, ""),
        GameResult(0, 0, 0, "city", 3, 8, 20, None, ""),
        GameResult(0, 1, 1, "points", 10, 14, 48, None, ""),
        GameResult(1, 0, 0, "tiebreak", 12, 12, 48, None, ""),
    ],
    [
        GameResult(0, 0, 0, "forfeit", 0, 2, 7, FAULT, ""),
        GameResult(0, 1, 0, "points", 30, 10, 48, None, ""),
    ],
]


def stored(results: list[list[GameResult]]) -> Store:
    store = Store(None)
    for number, games in enumerate(results):
        store.add(Played(Chunk(number, 0, 1), games, {}, 0.0))
    return store


def rank(sides: standings_table.Sides, field: Field) -> pd.DataFrame:
    return STANDINGS.frame(standings_table.make_standings(sides, field, field.numbers, field.apart))


def verdicts_of(field: Field) -> pd.DataFrame:
    return VERDICTS.frame(standings_table.make_verdicts(field))


def row(table: pd.DataFrame, **keys: object) -> dict[str, object]:
    for key, value in keys.items():
        table = table[table[key] == value]
    (record,) = table.to_dict("records")
    return {str(key): value for key, value in record.items()}


def test_games_are_sorted_by_pairing_pair_and_seat() -> None:
    file = io.StringIO()
    write_games(file, stored(RESULTS), PAIRINGS)
    games = csv.DictReader(io.StringIO(file.getvalue()))
    columns = ("opponent", "pair", "seat", "winner", "fault")
    rows = ["b 0 0 a -", "b 0 1 b -", "b 1 0 a -", "b 1 1 - -", "c 0 0 a illegal", "c 0 1 a -"]
    assert [" ".join(game[name] or "-" for name in columns) for game in games] == rows


def count_plainly(store: Store, pairings: list[Pairing]) -> dict[tuple[object, ...], Counter[str]]:
    """Return what is counted of each bot, of each against another, and of each in a seat."""
    counts = defaultdict[tuple[object, ...], Counter[str]](Counter)
    for number, game in store.results():
        for side, bot in enumerate(pairings[number]):
            own = Counter(games=1, draws=game.winner is None)
            own |= Counter(wins=game.winner == side, losses=game.winner == 1 - side)
            own[f"{game.win_type}_wins"] = own["wins"]
            own[LOSS_COLUMNS.get(game.win_type, "")] = own["losses"]
            if game.win_type not in ("city", "forfeit"):
                own["scored"] = 1
                own["margin"] = (game.points - game.opponent_points) * (1 - 2 * side)
            for key in ((bot,), (bot, pairings[number][1 - side]), (bot, game.seat ^ side)):
                counts[key].update(own)
    return counts


@pytest.mark.parametrize("seed", range(3))
def test_the_tables_have_what_the_games_add_up_to_one_by_one(seed: int) -> None:
    rng, pairings = Random(seed), round_robin([*"abcd"])
    games = [[one for one in random_results(rng, 9) if rng.random() < 0.9] for _ in pairings]
    store = stored(games)
    tables, counts = Tables(pairings, [*"abcd"], store.count()), count_plainly(store, pairings)
    keys = {"standings": ["bot"], "head_to_head": ["bot", "opponent"], "win_types": ["bot", "seat"]}
    for name, by in keys.items():
        rows = {tuple(row[key] for key in by): row for row in getattr(tables, name).dicts()}
        for key, row in rows.items():
            own = counts.pop(key)
            assert {n: own[n] for n in COUNTED if n in row}.items() <= row.items()
            if name != "win_types":
                score = (own["wins"] + own["draws"] / 2) / own["games"]
                assert row["score"] == pytest.approx(score, abs=1e-4)
            if name == "standings":
                assert row["mean_margin"] == pytest.approx(own["margin"] / own["scored"], abs=1e-3)
            if name == "head_to_head":
                assert row["score_low"] == pytest.approx(
                    1 - rows[key[::-1]]["score_high"], abs=2e-4
                )
    assert not counts


@pytest.mark.slow
def test_bots_of_equal_elo_are_in_the_order_of_their_labels() -> None:
    """a and b split their pairs and lose all to c; the last bits of a fit decide no order."""
    for labels in permutations("abc"):
        pairings = round_robin(labels)
        results = [[game(pair, seat, p) for pair in range(3) for seat in (0, 1)] for p in pairings]
        store = stored(results)
        sides = standings_table.make_sides(pairings, store.count().tallies)
        field = LastBits(pairings, store.count().pair_totals, labels)
        standings = rank(sides, field)
        assert list(standings["bot"]) == ["c", "a", "b"], labels
        assert list(standings["rank"]) == [1, 2, 2]  # equal ones share a rank
        assert standings["elo"].iloc[1] == standings["elo"].iloc[2]
        assert sum(standings["elo"][1:]) == pytest.approx(3000, abs=0.2)  # c is unbeaten
        assert any(elo % 1 for elo in standings["elo"])  # with its decimal


class LastBits(Field):
    """A fit whose last bits put a bot after those with later labels."""

    @property
    def ratings(self) -> dict[str, Estimate]:
        """The ratings, each higher by a billionth of a point for a later label."""
        return {
            label: rating._replace(value=rating.value + 1e-9 * ord(label))
            for label, rating in super().ratings.items()
        }


def game(pair: int, seat: int, pairing: Pairing) -> GameResult:
    """Return a game that c has won, or the bot in seat 0 if c does not play."""
    winner = pairing.index("c") if "c" in pairing else seat
    return GameResult(pair, seat, winner, "points", 0, 0, 48, None, "")


def test_timings_are_those_of_the_decisions() -> None:
    """Of 1,000, 985 take 1/1024 s, ten 1/32 s and five 1 s, so p99 is 1/32 s.

    A bot without timings is left out, and the others are in the order of the run.
    """
    timing, quick = Timing(), Timing()
    for count, seconds in ((985, 1 / 1024), (10, 1 / 32), (5, 1.0)):
        for _ in range(count):
            timing.add(Spent(2 * seconds, seconds))
    quick.add(Spent(0.5, 0.25))
    table = TIMINGS.frame(
        make_timings({"slow": timing, "quick": quick}, ["quick", "unknown", "slow"])
    )
    assert list(table["bot"]) == ["quick", "slow"]
    slow = row(table, bot="slow")
    assert (slow["decisions"], slow["cpu_max"], slow["wall_max"]) == (1000, 1.0, 2.0)
    assert slow["cpu_mean"] == pytest.approx((985 / 1024 + 10 / 32 + 5) / 1000, abs=1e-9)
    assert 1 / 32 <= float(str(slow["cpu_p99"])) <= 1 / 32 * 1.045
    assert row(table, bot="quick") == {
        "bot": "quick", "decisions": 1, "cpu_mean": 0.25, "cpu_p99": 0.25, "cpu_max": 0.25,
        "wall_mean": 0.5, "wall_p99": 0.5, "wall_max": 0.5,
    }  # fmt: skip


SCORED = [(0, 72.0, 105.0), (1, 78.0, 120.0), (2, 66.0, 91.0)]
"""Of three pairings, over 60 pairs: their number, the sum of the scores, and of the squares."""


def test_every_two_bots_have_a_verdict() -> None:
    """The lead is that of the ratings, and has no end for an unbeaten bot; groups have none."""
    pairings = [Pairing("a", "b"), Pairing("a", "c"), Pairing("b", "c")]
    totals = [PairTotals(n, 60, total, squares) for n, total, squares in SCORED]
    field = Field(pairings, totals, ["a", "b", "c"])
    table = verdicts_of(field)
    assert [*table["bot"], *table["opponent"]] == [*"aab", *"bcc"]
    assert [*table["verdict"]] == ["apart", "apart", "leans"]
    ratings = field.ratings
    for _, row in table.iterrows():
        upper, lower = ratings[row["bot"]], ratings[row["opponent"]]
        assert row["lead"] == pytest.approx(upper.value - lower.value, abs=0.1)
        assert row["lead_low"] < row["lead"] < row["lead_high"]
        assert row["lead_high"] - row["lead_low"] < upper.high - upper.low + lower.high - lower.low
    judged = Field(pairings, totals, ["a", "b", "c"], {"b"})
    (row,) = verdicts_of(judged).itertuples(index=False)
    assert (row.bot, row.opponent) == ("a", "c")
    unbeaten = Field(pairings[:1], [PairTotals(0, 5, 10.0, 20.0, (0, 0, 0, 0, 5))], ["a", "b"])
    (row,) = verdicts_of(unbeaten).itertuples(index=False)
    assert (row.lead_low, row.verdict) == (0.0, "leans")
    assert math.isnan(row.lead_high)
    (row,) = verdicts_of(Field(pairings, [], ["a", "b"])).itertuples(index=False)
    assert (row.verdict, math.isnan(row.lead), math.isnan(row.likely)) == ("open", True, True)


def test_every_listed_column_has_a_kind_that_is_written() -> None:
    made = [*vars(column_titles).values(), *vars(losses).values()]
    listed = [one for one in made if isinstance(one, TableColumns)]
    assert len(listed) > 15
    kinds = {column.kind for one in listed for column in one.columns}
    assert kinds <= {*get_args(column_titles.Kind)}


IMPORT, ILLEGAL = Fault("import", "no"), Fault("illegal", "no")


def games(winners: list[int], fault: Fault | None = None) -> list[GameResult]:
    """Return games that were won so, two for each pair."""
    end = "forfeit" if fault else "points", 1, 0, 0, fault, ""
    return [GameResult(*divmod(number, 2), winner, *end) for number, winner in enumerate(winners)]


def standings_of_lists(
    labels: list[str], played: list[list[GameResult]], unrated: set[str]
) -> pd.DataFrame:
    counts, pairings = stored(played).count(), round_robin(labels)
    sides = standings_table.make_sides(pairings, counts.tallies)
    return rank(sides, Field(pairings, counts.pair_totals, labels, unrated))


A_B = games([0, 0, 1, 0])
WITH_BROKEN = [A_B, games([0] * 4, IMPORT), games([0] * 4, IMPORT)]


def test_games_against_an_unrated_bot_change_no_rating() -> None:
    """The others have the Elo that they have without it; it comes last, with empty cells."""
    alone = standings_of_lists(["a", "b"], [A_B], set())
    table = standings_of_lists(["a", "b", "broken"], WITH_BROKEN, {"broken"})
    columns = ["rank", "bot", "elo", "elo_low", "elo_high"]
    assert plain_rows(table[columns])[:2] == plain_rows(alone[columns])
    assert alone["elo"].sum() == 3000
    last = plain_rows(table)[-1]
    assert [last[column] for column in columns] == [3, "broken", None, None, None]
    assert (last["games"], last["forfeits"], last["score"]) == (8, 8, 0.0)
    text = io.StringIO()
    table.to_csv(text, index=False)
    assert "\n3,broken,,,,8,0,0,8,0.0," in text.getvalue()
    head, *rows = format_standings(plain_rows(table))
    assert rows[-1].split() == ["3", "broken", "not", "rated", *["0.0%"] * 3, "8", "-"]
    assert {len(row) for row in rows} == {len(head)}


FOUR = round_robin(["a", "b", "x", "y"])  # ab ax ay bx by xy


def test_a_bot_without_a_finished_game_is_not_rated_and_has_no_mean_margin() -> None:
    for finished, unrated in (
        ({}, {"a", "b", "x", "y"}),
        ({0: 4, 1: 0, 5: 0}, {"x", "y"}),
        ({0: 4, 2: 1}, {"x"}),
        ({1: 1, 4: 1}, set()),
    ):
        assert find_unrated(FOUR, finished) == unrated
    table = standings_of_lists(["x", "a"], [games([1] * 4, ILLEGAL)], {"a", "x"})
    assert list(table["bot"]) == ["a", "x"]
    assert table[["elo", "mean_margin"]].isna().all(axis=None)
