"""Tables: every game counts once for each bot, and everything adds up."""

from __future__ import annotations

import csv
import io
import math
from itertools import permutations
from typing import get_args

import pandas as pd
import pytest

from arena.lanes.faults import Fault
from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field, make_residuals
from arena.statistics.intervals import Estimate
from arena.statistics.letters import give_ranks
from arena.statistics.two_bots import pair_scores
from arena.store import table_columns
from arena.store.csv_files import make_timings, write_games
from arena.store.store import Store
from arena.store.table_columns import (
    HEAD_TO_HEAD,
    LOSS_COLUMNS,
    STANDINGS,
    TIMINGS,
    VERDICTS,
    WIN_TYPE_TABLE,
    WIN_TYPES,
    TableColumns,
)
from arena.tables import losses, standings_table
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Pairing, round_robin
from arena.tournament.timing import Timing
from engine.strategy import Spent

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


@pytest.fixture
def store() -> Store:
    return stored(RESULTS)


def standings_of(store: Store, labels: str, pairings: list[Pairing] = PAIRINGS) -> pd.DataFrame:
    sides = standings_table.make_sides(pairings, store.count().tallies)
    field = Field(pairings, store.count().pair_totals, labels)
    return rank(sides, field)


def rank(sides: standings_table.Sides, field: Field) -> pd.DataFrame:
    return STANDINGS.frame(standings_table.make_standings(sides, field, field.numbers, field.apart))


def verdicts_of(field: Field) -> pd.DataFrame:
    return VERDICTS.frame(standings_table.make_verdicts(field))


def row(table: pd.DataFrame, **keys: object) -> dict[str, object]:
    for key, value in keys.items():
        table = table[table[key] == value]
    (record,) = table.to_dict("records")
    return {str(key): value for key, value in record.items()}


def test_games_are_sorted_by_pairing_pair_and_seat(store: Store) -> None:
    """In whatever order they were finished; the winner is named."""
    file = io.StringIO()
    write_games(file, store.game_lines(PAIRINGS))
    games = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert [(game["opponent"], game["pair"], game["seat"]) for game in games] == [
        ("b", "0", "0"),
        ("b", "0", "1"),
        ("b", "1", "0"),
        ("b", "1", "1"),
        ("c", "0", "0"),
        ("c", "0", "1"),
    ]
    assert [game["winner"] for game in games] == ["a", "b", "a", "", "a", "a"]
    assert [game["fault"] for game in games] == ["", "", "", "", "illegal", ""]


def test_standings_count_every_game_once_for_each_bot(store: Store) -> None:
    """The numbers are counted by hand from the six games above."""
    standings = standings_of(store, "abc")
    a = row(standings, bot="a")
    assert (a["rank"], a["games"], a["wins"], a["draws"], a["losses"]) == (1, 6, 4, 1, 1)
    assert a["score"] == 0.75
    assert [a[f"{kind}_wins"] for kind in WIN_TYPES] == [1, 1, 1, 1]
    assert [a[column] for column in LOSS_COLUMNS.values()] == [0, 1, 0, 0]
    c = row(standings, bot="c")
    assert (c["games"], c["losses"], c["points_losses"], c["forfeits"]) == (2, 2, 1, 1)


def test_the_mean_margin_is_over_the_games_that_were_scored(store: Store) -> None:
    """City wins (R11) and forfeits are not scored."""
    standings = standings_of(store, "abc")
    assert row(standings, bot="a")["mean_margin"] == (-4 + 0 + 0 + 20) / 4
    assert row(standings, bot="b")["mean_margin"] == pytest.approx(4 / 3, abs=0.001)
    assert row(standings, bot="c")["mean_margin"] == -20


def test_head_to_head_has_both_sides_of_every_pairing(store: Store) -> None:
    """Each side's wins are the other's losses, and the scores add up to 1."""
    sides = standings_table.make_sides(PAIRINGS, store.count().tallies)
    totals = store.count().pair_totals
    residuals = make_residuals(Field(PAIRINGS, totals, "abc"))
    table = HEAD_TO_HEAD.frame(
        standings_table.make_head_to_head(sides, PAIRINGS, totals, residuals)
    )
    assert len(table) == 4
    ab, ba = row(table, bot="a", opponent="b"), row(table, bot="b", opponent="a")
    assert (ab["wins"], ab["draws"], ab["losses"]) == (2, 1, 1)
    assert (ba["wins"], ba["draws"], ba["losses"]) == (1, 1, 2)
    assert ab["score"] == 0.625
    assert ba["score"] == 0.375
    ac, ca = row(table, bot="a", opponent="c"), row(table, bot="c", opponent="a")
    assert ca["score"] == 0.0  # a has won both games of one pair
    for one, other in ((ab, ba), (ba, ab), (ac, ca), (ca, ac)):
        assert one["score_low"] == pytest.approx(1 - float(str(other["score_high"])), abs=1e-4)


def test_win_types_are_counted_by_seat(store: Store) -> None:
    """The seat is that of the row's bot."""
    sides = standings_table.make_sides(PAIRINGS, store.count().tallies)
    table = WIN_TYPE_TABLE.frame(standings_table.make_win_types(sides))
    b1 = row(table, bot="b", seat=1)
    assert (b1["games"], b1["wins"], b1["city_losses"], b1["tiebreak_losses"]) == (2, 0, 1, 1)
    b0 = row(table, bot="b", seat=0)
    assert (b0["games"], b0["points_wins"], b0["draws"]) == (2, 1, 1)


def test_a_bot_without_a_scored_game_has_no_margin() -> None:
    """It is an empty cell, not a zero."""
    forfeits = [GameResult(0, seat, 0, "forfeit", 0, 0, 0, FAULT, "") for seat in (0, 1)]
    standings = standings_of(stored([forfeits]), "ab", [Pairing("a", "b")])
    assert standings["mean_margin"].isna().all()


@pytest.mark.slow
def test_bots_of_equal_elo_are_in_the_order_of_their_labels() -> None:
    """a and b split their pairs and lose all games to c, in whatever order they are named.

    Their fitted ratings may differ in the last bits, which another processor may give the other
    way round, and which must not decide the order.
    """
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
    def ratings(self) -> dict[str, Estimate]:  # type: ignore[override]
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


def test_equal_bots_share_a_rank() -> None:
    """The next one has the rank of its place."""
    even = (25, 0, 50, 0, 25)
    pairings = [Pairing("a", "b"), Pairing("a", "c"), Pairing("b", "c")]
    ahead = (0, 0, 0, 0, 100)
    scores = enumerate((even, ahead, ahead))
    totals = [PairTotals(n, *pair_scores(0, 1, by)[2:], by) for n, by in scores]
    field = Field(pairings, totals, ["a", "b", "c"])
    elos = [round(one.value, 1) for one in field.ratings.values()]
    assert give_ranks(elos) == [1, 1, 3]


def test_every_listed_column_has_a_kind_that_is_written() -> None:
    listed = [
        one
        for module in (table_columns, losses)
        for one in vars(module).values()
        if isinstance(one, TableColumns)
    ]
    kinds = {column.kind for one in listed for column in one.columns}
    assert len(listed) > 15
    assert kinds <= {*get_args(table_columns.Kind)}
