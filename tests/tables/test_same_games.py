"""A game that two lists have counts once, and a result that contradicts itself is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

import arena
from arena.errors import InputError
from arena.tables.rated_lists import rate_lists
from tests.tables.test_rated_lists import listed

GAMES = 3 * 2 * 10
"""Of a run of three bots, two of each pair."""

WAYS = {
    "a run and its records": ("run", "records.jsonl"),
    "records and their run": ("records.jsonl", "run"),
    "a run and its table": ("run", "copied.csv"),
    "records and the table beside the manifest": ("records.jsonl", "run/games.csv"),
    "a table and a copy of it": ("copied.csv", "again.csv"),
    "tables without pairs": ("plain.csv", "plain_again.csv"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run, and the files of its games."""
    folder = tmp_path_factory.mktemp("same")
    bots = ["greedy", "majority", "uniform"]
    results = arena.run(bots, pairs=10, seed=5, out=folder / "run", progress=False)
    named = results.games[["bot", "opponent", "pair", "seat"]].itertuples(index=False)
    records = [results.game(*game).to_json() for game in named]
    (folder / "records.jsonl").write_text("\n".join(records) + "\n")
    for name in "copied.csv", "again.csv":
        shutil.copy(folder / "run" / "games.csv", folder / name)
    plain = results.games[["bot", "opponent", "winner"]]
    for name in "plain.csv", "plain_again.csv":
        plain.to_csv(folder / name, index=False)
    return folder


@pytest.mark.parametrize("way", WAYS)
def test_the_same_games_count_once(folder: Path, way: str) -> None:
    """Ratings, intervals and numbers of games are those of one list, and a note says so."""
    places = [folder / name for name in WAYS[way]]
    alone, both = arena.rate(places[0]), arena.rate(*places)
    pd.testing.assert_frame_equal(both.standings, alone.standings)
    games = both.standings["games"].sum() / 2
    assert games == GAMES
    assert f"{places[1]}: {GAMES} games of {places[0]} there again: counted once" in both.notes


def test_the_same_frame_counts_once(folder: Path) -> None:
    """It is named by its number."""
    frame = pd.read_csv(folder / "copied.csv")
    assert (
        "table 2: 60 games of table 1 there again: counted once" in arena.rate(frame, frame).notes
    )


def test_other_games_of_the_same_bots_all_count(folder: Path) -> None:
    """Those of another seed, by their own files too: pairs of one number are other deals."""
    bots = ["greedy", "majority", "uniform"]
    other = arena.run(bots, pairs=10, seed=6, progress=False)
    copied = arena.rate(folder / "copied.csv", other.games)
    assert copied.standings["games"].sum() == 2 * 2 * GAMES
    recorded = arena.rate(folder / "records.jsonl", other.games)
    assert recorded.standings["games"].sum() == 2 * 2 * GAMES


def test_a_few_equal_results_are_chance() -> None:
    """Short lists of results may be alike."""
    rows = [("a", "b", "a"), ("a", "b", "b"), ("a", "b", "a")]
    other = listed(*rows)._replace(name="other", source="other")
    assert rate_lists([listed(*rows), other]).counts.total == 6


SCORED = ("win_type", "points", "opponent_points")


@pytest.mark.parametrize(
    ("winner", "win_type", "points", "other"),
    [
        ("a", "points", 3, 12),
        ("b", "points", 12, 3),
        ("a", "points", 7, 7),
        ("a", "tiebreak", 3, 12),
        ("draw", "draw", 3, 12),
        ("draw", "", 12, 3),
    ],
)
def test_a_result_that_contradicts_itself_is_refused(
    winner: str, win_type: str, points: int, other: int
) -> None:
    """By its row and column."""
    good = ("a", "b", "b", "city", 12, 3), ("a", "b", "a", "points", 12, 3)
    level = ("a", "b", "b", "tiebreak", 7, 7), ("a", "b", "draw", "draw", 7, 7)
    faulty = ("a", "b", "a", "forfeit", 0, 9), ("a", "b", "a", "", 3, 12)
    assert len(listed(*good, *level, *faulty, more=SCORED).games) == 6
    row = ("a", "b", winner, win_type, points, other)
    with pytest.raises(InputError, match=f"^list: row 2: points '{points}' is not "):
        listed(*good, row, more=SCORED)
