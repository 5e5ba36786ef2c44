"""A bot that finishes no game has no rating, and changes no other's."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from arena.lanes.faults import Fault
from arena.statistics.cycles import Field
from arena.store.store import Store
from arena.store.table_columns import STANDINGS
from arena.tables import standings_table
from arena.tables.summary import format_standings, plain_rows
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Pairing, round_robin
from arena.tournament.strikes import find_unrated

IMPORT, ILLEGAL = Fault("import", "no"), Fault("illegal", "no")


def games(winners: list[int], fault: Fault | None = None) -> list[GameResult]:
    """Return games that were won so, two for each pair."""
    win_type = "forfeit" if fault else "points"
    return [
        GameResult(number // 2, number % 2, winner, win_type, 1, 0, 0, fault, "")
        for number, winner in enumerate(winners)
    ]


def standings(labels: list[str], played: list[list[GameResult]], unrated: set[str]) -> pd.DataFrame:
    store, pairings = Store(None), round_robin(labels)
    for number, results in enumerate(played):
        store.add(Played(Chunk(number, 0, 2), results, {}, 0.0))
    sides = standings_table.make_sides(pairings, store.count().tallies)
    field = Field(pairings, store.count().pair_totals, labels, unrated)
    return STANDINGS.frame(standings_table.make_standings(sides, field, field.numbers, field.apart))


A_B = games([0, 0, 1, 0])
WITH_BROKEN = [A_B, games([0] * 4, IMPORT), games([0] * 4, IMPORT)]


def test_games_against_it_change_no_rating() -> None:
    """The others have the Elo that they have without it; it comes last, with empty cells."""
    alone = standings(["a", "b"], [A_B], set())
    table = standings(["a", "b", "broken"], WITH_BROKEN, {"broken"})
    columns = ["rank", "bot", "elo", "elo_low", "elo_high"]
    assert plain_rows(table[columns])[:2] == plain_rows(alone[columns])
    assert alone["elo"].sum() == 3000
    last = plain_rows(table)[-1]
    assert [last[column] for column in columns] == [3, "broken", None, None, None]
    assert (last["games"], last["forfeits"], last["score"]) == (8, 8, 0.0)
    text = io.StringIO()
    table.to_csv(text, index=False)
    assert "\n3,broken,,,,8,0,0,8,0.0," in text.getvalue()


def test_the_terminal_says_not_rated() -> None:
    """In the place of the Elo and its interval; the other columns stay where they are."""
    head, *rows = format_standings(
        plain_rows(standings(["a", "b", "broken"], WITH_BROKEN, {"broken"}))
    )
    assert rows[-1] == (
        "   3  broken                        not rated   0.0%   0.0%   0.0%       8     -"
    )
    assert {len(row) for row in rows} == {len(head)}


PAIRINGS = round_robin(["a", "b", "x", "y"])  # ab ax ay bx by xy


@pytest.mark.parametrize(
    ("finished", "unrated"),
    [
        ({}, {"a", "b", "x", "y"}),
        ({0: 4, 1: 0, 5: 0}, {"x", "y"}),
        ({0: 4, 2: 1}, {"x"}),
        ({1: 1, 4: 1}, set()),
    ],
)
def test_a_bot_without_a_finished_game_is_not_rated(
    finished: dict[int, int], unrated: set[str]
) -> None:
    """Whatever has ended its games; one that was finished rates both bots."""
    assert find_unrated(PAIRINGS, finished) == unrated


def test_a_bot_that_fails_in_every_game_is_not_rated() -> None:
    """Its opponent of whom nothing else is known neither; the order is that of the scores."""
    assert find_unrated([Pairing("a", "x")], {0: 0}) == {"a", "x"}
    table = standings(["x", "a"], [games([1] * 4, ILLEGAL)], {"a", "x"})
    assert list(table["bot"]) == ["a", "x"]
    assert table["elo"].isna().all()
