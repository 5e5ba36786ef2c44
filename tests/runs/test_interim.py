"""The standings so far are those that the games so far would have in the files."""

from __future__ import annotations

from random import Random

import pytest

from arena.lanes.faults import Fault
from arena.runs import interim
from arena.runs.interim import Interim
from arena.statistics.cycles import Field
from arena.store.store import Store, range_of
from arena.tables import counted
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from tests.reports.runs import cup

CUP = cup(["a", "b", "c", "broken"], 20)
PAIRINGS = CUP.pairings
COLUMNS = (
    *("rank", "bot", "elo", "elo_low", "elo_high", "games", "score", "forfeits"),
    *("city_wins", "points_wins", "tiebreak_wins", "forfeit_wins"),
)
ENDS = [(0, "city"), (0, "points"), (1, "points"), (1, "tiebreak"), (None, "draw")]


def chunk(number: int, first: int, pairs: int) -> Played:
    """Return some games; in those of `broken`, the second bot of its pairings, it forfeits."""
    luck = Random(f"{number} {first}")
    games = []
    for pair in range(first, first + pairs):
        for seat in (0, 1):
            winner, win_type = luck.choice(ENDS)
            fault = None
            if PAIRINGS[number].opponent == "broken":
                winner, win_type, fault = 0, "forfeit", Fault("import", "no")
            games.append(GameResult(pair, seat, winner, win_type, 3, 2, 40, fault, ""))
    return Played(Chunk(number, first, pairs), games, {}, 0.1)


CHUNKS = [chunk(0, 0, 7), chunk(0, 7, 2), chunk(1, 0, 5), chunk(2, 0, 3), chunk(5, 0, 1)]
"""Games of four pairings; b and c have not met."""


@pytest.mark.parametrize("kept", range(len(CHUNKS) + 1))
def test_they_are_those_of_the_files(kept: int) -> None:
    """Whether the games were played now or are kept from before; unrated bots are so here, too."""
    store = Store(None)
    standings = Interim(CUP)
    for played in CHUNKS[:kept]:
        store.add(played)
    standings.add(store.count())
    for played in CHUNKS[kept:]:
        store.add(played)
        standings.add(store.count_ranges([range_of(played)]))
    sides = counted.make_sides(PAIRINGS, store.count().tallies)
    labels = ["a", "b", "c", "broken"]
    field = Field(PAIRINGS, store.count().pair_totals, labels, ["broken"])
    expected = counted.rank_field(sides, field, labels, counted.list_verdicts(field))
    rows = standings.rows()
    assert [row["bot"] for row in rows][-1] == "broken"
    for row, line in zip(rows, expected, strict=True):
        for column in COLUMNS:
            close = line[column]
            if isinstance(close, float):
                close = pytest.approx(close, abs=0.06 if column.startswith("elo") else 1e-4)
            assert row[column] == close, column


def test_where_there_are_too_many_bots_they_are_in_the_order_of_their_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody is rated before the end."""
    monkeypatch.setattr(interim, "_MOST_FITTED", 3)
    standings, store = Interim(CUP), Store(None)
    for played in CHUNKS:
        store.add(played)
    standings.add(store.count())
    rows = standings.rows()
    assert all(row["elo"] is None for row in rows)
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]


def test_before_the_first_game_there_are_none() -> None:
    """No bot is shown with nothing."""
    assert Interim(CUP).rows() == []
