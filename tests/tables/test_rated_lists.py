"""Several lists of games are rated together, and each game counts once."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import arena
from arena.errors import InputError
from arena.statistics.intervals import Z95, score_interval
from arena.store.listed_games import GameList, list_games
from arena.tables.rated_lists import RatedLists, name_bots, rate_lists

NEEDED = ["bot", "opponent", "winner"]
ONE, OTHER = ("1" * 64, "{}"), ("2" * 64, "{}")
LOUD = ("1" * 64, '{"loud": true}')


def listed(*rows: tuple[object, ...], more: tuple[str, ...] = (), **known: object) -> GameList:
    """Return a list of games with these rows."""
    columns = [*NEEDED, *more]
    frame = pd.DataFrame([*rows], columns=columns)
    return list_games(frame, "list")._replace(**known)


def standings(*args: Any) -> pd.DataFrame:
    """Return the standings of some lists, by bot."""
    return table_of(rate_lists(*args), "standings")


def table_of(rated: RatedLists, name: str) -> pd.DataFrame:
    """Return a table by bot."""
    return rated.tables.makers()[name]().set_index("bot")


@pytest.mark.slow
def test_the_units_are_pairs_or_independent_games() -> None:
    """Wilson's interval of 40 games, and the error of an Elo from their variance."""
    rated = rate_lists([listed(*[("a", "b", "a")] * 30, *[("b", "a", "a")] * 10)], "b=1500")
    assert rated.units == (0, 40)
    both = table_of(rated, "head_to_head").loc["a"]
    assert (both["games"], both["score"]) == (40, 1.0)
    rated = rate_lists([listed(*[*[("a", "b", "a")] * 3, ("b", "a", "b")] * 100)], "b=1500")
    both = table_of(rated, "head_to_head").loc["a"]
    centre, half = 0.75 + Z95**2 / 800, Z95 * math.sqrt(0.75 * 0.25 / 400 + (Z95 / 800) ** 2)
    wilson = [(centre + side * half) / (1 + Z95**2 / 400) for side in (-1, 1)]
    assert [both["score_low"], both["score_high"]] == pytest.approx(wilson, abs=0.001)
    row = table_of(rated, "standings").loc["a"]
    error = Z95 * 400 / math.log(10) / math.sqrt(400 * 0.75 * 0.25)
    assert (row["elo_high"] - row["elo_low"]) / 2 == pytest.approx(error, rel=0.01)
    rows = [("a", "b", winner, pair) for pair in range(40) for winner in "ab"]
    rated = rate_lists([listed(*rows, more=("pair",))])
    assert rated.units == (40, 0)
    paired = table_of(rated, "head_to_head").loc["a"]
    assert [paired["score_low"], paired["score_high"]] == pytest.approx(
        score_interval(40, 40.0, 40.0), abs=0.0001
    )
    alone = table_of(rate_lists([listed(*(row[:3] for row in rows))]), "head_to_head").loc["a"]
    assert alone["score_low"] < paired["score_low"] < 0.5


def test_pairs_of_two_lists_are_different_ones() -> None:
    rows = [("a", "b", "a", 0, 0), ("b", "a", "b", 0, 0), ("a", "c", "a", 0, 0)]
    more = "pair", "seat"
    other = listed(*rows, more=more)._replace(name="other", source="other")
    rated = rate_lists([listed(*rows, more=more), other])
    assert rated.units == (2, 2)
    assert rated.counts.total == 6
    assert rated.tables.win_types["seat"].tolist() == [0, 1, 0, 1, 1]
    ruled = [listed(*rows, more=more, rules="{}"), other._replace(rules="other", left_out=2)]
    assert [one for one in rate_lists(ruled).notes if one not in rated.notes] == [
        "the runs have different rules, and are rated as if they were the same",
        "other: not finished: 2 games, left out",
    ]


@pytest.mark.slow
def test_a_game_that_two_runs_have_counts_once() -> None:
    """The seed, the labels, the pair and the seat decide a game of the same bots."""
    rows = [("a", "b", "a", pair, seat) for pair in range(3) for seat in (0, 1)]
    bots = {"a": ONE, "b": OTHER}
    run = listed(*rows, more=("pair", "seat"), identities=bots, source="7 {}")
    more = listed(*rows[2:], ("b", "a", "a", 9, 1), more=("pair", "seat"))
    longer = more._replace(source="7 {}", identities=bots)
    rated = rate_lists([run, longer])
    assert (rated.counts.total, rated.units) == (7, (3, 1))
    assert "4 games there twice, by seed and pair: counted once" in rated.notes
    seeded = rate_lists([run, longer._replace(source="8 {}")])
    assert seeded.counts.total == 11
    edited = rate_lists([run, longer._replace(identities=bots | {"a": LOUD})])
    assert edited.counts.total == 11


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([("a", "b", "a", 5, 0), ("b", "a", "b", 5, 1)], "row 1: pair '5' of these two has a game"),
        ([("a", "b", "a", 5, None)] * 3, "row 2: pair '5' of these two has two games already"),
        ([], "list: no game of two bots"),
    ],
)
def test_a_pair_has_two_games_in_two_seats(rows: list[tuple[object, ...]], why: str) -> None:
    with pytest.raises(InputError, match=why):
        rate_lists([listed(*rows, more=("pair", "seat"))])


def test_bots_are_known_by_identity_and_else_by_label() -> None:
    """One with two labels is one bot; a label of two bots has the hash after it."""
    game = ("a", "b", "a")
    first = listed(game, identities={"a": ONE, "b": OTHER})
    second = listed(game, identities={"a": OTHER, "b": LOUD})
    plain = listed(game, ("c", "b", "c"))
    names, notes = name_bots([first, second, plain])
    loud = names[1]["b"]
    assert names[0] == {"a": "a", "b": "b#222222"}
    assert names[1] == {"a": "b#222222", "b": loud}
    assert names[2] == {"a": "a#?", "b": "b#?", "c": "c"}
    assert loud not in ("b#111111", "b#222222")
    assert "b and a are one bot, by its sha256: b#222222" in notes
    assert f"list: b may be b#222222 or {loud}: it has no sha256" in notes
    assert name_bots([first, plain])[0][1] == {"a": "a", "b": "b#?", "c": "c"} | {"b": "b"}


def test_games_without_a_pair_are_never_the_same_one_and_those_of_a_bot_with_itself_none() -> None:
    """A few equal results of two lists are chance."""
    rated = rate_lists([listed(*[("a", "b", "a", 0)] * 3, ("a", "b", "b", 1), more=("seat",))])
    assert (rated.counts.total, rated.units) == (4, (0, 4))
    rows = [("a", "b", "a"), ("a", "c", "c"), ("b", "c", "b")]
    rated = rate_lists([listed(*rows, identities={"a": ONE, "b": ONE, "c": OTHER})])
    assert rated.counts.total == 2
    assert "1 game of a with itself left out" in rated.notes
    other = listed(*rows)._replace(name="other", source="other")
    assert rate_lists([listed(*rows), other]).counts.total == 6


def test_what_a_list_does_not_say_is_empty() -> None:
    """Wins by type of the bots with a game that has none, but not of others; seats; margins."""
    games = ("a", "b", "a", "city"), ("a", "b", "b", "")
    rated = rate_lists([listed(*games, ("c", "d", "c", "city"), more=("win_type",))])
    assert rated.notes[0] == "no table says how games of a and b were won: 1 of 3 have no win_type"
    for name in ("standings", "head_to_head", "win_types"):
        cities = table_of(rated, name)["city_wins"]
        assert cities.dropna().to_dict() == {"c": 1, "d": 0}, name
    rated = rate_lists([listed(*games, more=("win_type",))])
    standings = table_of(rated, "standings")
    assert standings["wins"].tolist() == [1, 1]
    assert standings[["city_wins", "forfeits", "mean_margin"]].isna().all(axis=None)
    types = table_of(rated, "win_types")[["games", "wins"]]
    assert types.to_dict("index") == {name: {"games": 2, "wins": 1} for name in "ab"}
    known = rate_lists([listed(("a", "b", "a", "city"), ("a", "b", "", ""), more=("win_type",))])
    assert known.tables.standings["city_wins"].tolist() == [1, 0]


@pytest.mark.slow
def test_anchors_widen_intervals_and_the_better_known_weighs_more() -> None:
    """By the sum of squares, in its group; Elo and error are those of the mean by precision."""
    rows = [("a", "b", winner) for winner in "aab" * 10] + [("c", "d", w) for w in "ccd" * 10]
    sure = standings([listed(*rows)], "a=2000")
    anchors = {"a": (2000.0, 30.0)}
    loose = standings([listed(*rows)], anchors)
    assert loose.loc["a", ["elo", "elo_low", "elo_high"]].tolist() == [2000.0, 1970.0, 2030.0]
    halves = [one["elo_high"] - one["elo"] for one in (sure.loc["b"], loose.loc["b"])]
    assert halves[1] == pytest.approx(math.hypot(halves[0], 30.0), abs=0.1)
    for table in (sure, loose):
        assert np.ptp(table["elo"][["c", "d"]]) > 0
    assert loose.loc[["c", "d"]].equals(sure.loc[["c", "d"]])
    rows = [("a", "b", winner) for winner in "aab" * 30]
    alone = standings([listed(*rows)], "a=2000")
    below = 2000 - alone.loc["b", "elo"]
    both = ["a=2000+-10", "b=2000+-20"]  # of weights 4 and 1
    table = standings([listed(*rows)], both)
    assert table.loc["a", "elo"] == pytest.approx(2000 + below / 5, abs=0.1)
    assert table.loc["b", "elo"] == pytest.approx(2000 - 4 * below / 5, abs=0.1)
    half = alone.loc["b", "elo_high"] - alone.loc["b", "elo"]
    error = math.hypot(10 * 4 / 5, 20 / 5)
    high = table.loc["a", "elo_high"] - table.loc["a", "elo"]
    low = alone.loc["b", "elo"] - alone.loc["b", "elo_low"]
    assert high == pytest.approx(math.hypot(low / 5, error), rel=0.03)
    assert half > error
    sure = standings([listed(*rows)], {"a": 2000.0, "b": (1000.0, 50.0)})
    assert sure.loc["a", ["elo", "elo_high"]].tolist() == [2000.0, 2000.0]


def test_warnings_name_who_improves_and_the_strongest_of_a_group() -> None:
    rows = [("a", "b", "ab"[pair < 20], pair, seat) for pair in range(40) for seat in (0, 1)]
    mixed = [("a", "b", "ab"[pair % 2], pair, seat) for pair in range(40) for seat in (0, 1)]
    warnings = [
        rate_lists([listed(*some, more=("pair", "seat"))]).tables.findings.warnings()
        for some in (rows, mixed)
    ]
    assert warnings == [["a became stronger during its games: the intervals are wider for it"], []]
    rated = rate_lists([listed(("a", "b", "a"), ("NA", "nan", "nan"))])
    named = "2 groups of bots never met, those of a and nan"
    assert rated.headline.sentence().startswith(named)
    (warning,) = rated.tables.findings.warnings()
    assert warning.endswith("those of a and nan")


def test_a_result_that_contradicts_itself_is_refused() -> None:
    good = ("a", "b", "b", "city", 12, 3), ("a", "b", "a", "points", 12, 3)
    level = ("a", "b", "b", "tiebreak", 7, 7), ("a", "b", "draw", "draw", 7, 7)
    faulty = ("a", "b", "a", "forfeit", 0, 9), ("a", "b", "a", "", 3, 12)
    scored = ("win_type", "points", "opponent_points")
    assert len(listed(*good, *level, *faulty, more=scored).games) == 6
    for winner, win_type, points, other in (
        *(("a", "points", 3, 12), ("b", "points", 12, 3), ("a", "points", 7, 7)),
        *(("a", "tiebreak", 3, 12), ("draw", "draw", 3, 12), ("draw", "", 12, 3)),
    ):
        row = ("a", "b", winner, win_type, points, other)
        with pytest.raises(InputError, match=rf"^list: row 2: points '{points}' is not "):
            listed(*good, row, more=scored)


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
    places = [folder / name for name in WAYS[way]]
    alone, both = arena.rate(places[0]), arena.rate(*places)
    pd.testing.assert_frame_equal(both.standings, alone.standings)
    games = both.standings["games"].sum() / 2
    assert games == GAMES
    assert f"{places[1]}: {GAMES} games of {places[0]} there again: counted once" in both.notes


def test_the_same_frame_counts_once_and_other_games_all(folder: Path) -> None:
    """Those of another seed: pairs of one number are other deals."""
    frame = pd.read_csv(folder / "copied.csv")
    note = "table 2: 60 games of table 1 there again: counted once"
    assert note in arena.rate(frame, frame).notes
    bots = ["greedy", "majority", "uniform"]
    other = arena.run(bots, pairs=10, seed=6, progress=False)
    for name in ("copied.csv", "records.jsonl"):
        assert arena.rate(folder / name, other.games).standings["games"].sum() == 4 * GAMES
