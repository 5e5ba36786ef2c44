"""`arena facts`: the figures of the game, stored and measured again."""

from __future__ import annotations

import json
from math import hypot
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import arena as library
from arena.addons.facts import game_facts
from arena.addons.facts.game_facts import KEYS, PLAYERS, Asked, Fact, format_facts, read_facts
from arena.runs.run import Playing
from tests import ROOT, markdown
from tests.cli.test_mistakes import refusal
from tests.conftest import Arena, run_here

ERRORS = 4  # standard errors of a difference: one in 15,000 is as far apart by chance
UNKNOWN = {"plies", "plies_2", "elo"}
"""Figures that a bot may lack: no game is shorter, or it is the first one."""
OF_OTHER_RULES = {"city_2", "city_4", "seat_0_2", "seat_0_4", "plies_2"}


def differing(stored: list[Fact], sample: list[Fact]) -> list[str]:
    """Return the figures of a sample that are too far from the stored ones.

    What is not stored is left out.
    """
    known = {(one.players, one.fact): one for one in stored}
    found = []
    for one in sample:
        other = known.get((one.players, one.fact), one)
        errors = [(each.high - each.low) / 3.92 for each in (one, other)]
        if abs(one.value - other.value) > ERRORS * hypot(*errors):
            found.append(f"{one.players} {one.fact}: stored {other.value}, here {one.value}")
    return found


def test_a_figure_that_is_not_the_stored_one_is_found() -> None:
    """Of a sample with an error of a point, one that is 10 points away and none that is 2 away."""
    stored = [Fact("a", "city", 0.15, 0.14, 0.16, 9000)]
    near, far = (
        Fact("a", "city", share, share - 0.02, share + 0.02, 900) for share in (0.17, 0.25)
    )
    assert differing(stored, [near]) == []
    assert differing(stored, [far]) == ["a city: stored 0.15, here 0.25"]


def test_every_figure_is_stored_for_every_bot() -> None:
    """Each within its interval; of champion only some, until there is time for all its games."""
    found = read_facts()
    for name in {*PLAYERS} - {"champion"}:
        own = {one.fact for one in found if one.players == name}
        assert {*KEYS} - UNKNOWN - OF_OTHER_RULES <= own <= {*KEYS}
        assert bool(own & OF_OTHER_RULES) == (name in ("uniform", "timing"))
    for one in found:
        assert one.players in PLAYERS
        assert one.low <= one.value <= one.high, one
        assert one.low < one.high, one
        assert one.games > 0


def test_the_stored_figures_are_printed_in_80_columns(arena: Arena) -> None:
    """As a table, as JSON and in the library, all of the same file."""
    done = arena("facts")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    rows = json.loads(arena("facts", "--json").stdout)["facts"]
    assert [Fact(**row) for row in rows] == read_facts()
    assert library.facts().to_dict("records") == rows
    (seat,) = (one for one in read_facts() if (one.players, one.fact) == ("apprentice", "seat_0"))
    assert f"{100 * seat.value:.1f} ±{50 * (seat.high - seat.low):.1f}" in done.stdout


def test_the_page_shows_the_stored_figures() -> None:
    """The first block is what the command prints."""
    page = (ROOT / "docs" / "facts.md").read_text()
    assert markdown.blocks(page, "text")[0].splitlines() == [*format_facts(read_facts())]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["uniform"], "bots: only with --play"),
        (["--percent", "5"], "--percent: only with --play"),
        (["--play", "gredy"], "bot 'gredy': none of bots/; there are "),
        (["--play", "--percent", "0"], "Invalid value for '--percent': "),
        (["--play", "greedy", "uniform", "greedy"], "bot 'greedy': named twice"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(
    arena: Arena, words: list[str], message: str
) -> None:
    """Before anything is written."""
    assert message in refusal(arena, "facts", *words)


@pytest.mark.parametrize(("luck", "shares"), [(False, []), (True, [0.0])])
def test_two_equal_games_say_nothing_of_what_the_deal_fixes(
    tmp_path: Path, luck: bool, shares: list[float]
) -> None:
    """A bot without luck plays the game of a deal again when it meets itself in the other seat."""
    asked = Asked(["greedy"], percent=1)
    measured = game_facts._Measured("greedy", asked, Playing(out=tmp_path), tmp_path)
    second = "greedy" if luck else "twin"  # by the other seat, or by the same one
    winners = ["greedy", second, "twin", "greedy"]
    games = pd.DataFrame({"winner": winners, "seat": [0, 1, 0, 1]})
    base: Any = SimpleNamespace(games=games.assign(bot="greedy", opponent="twin"))
    assert [fact.value for fact in measured._fix(base)] == shares


def games_of(folder: Path) -> list[tuple[str, int]]:
    games = library.open(folder).games
    return [*zip(games["points"], games["opponent_points"], games["plies"], strict=True)]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which two bots have been measured."""
    folder = tmp_path_factory.mktemp("facts")
    words = ("--play", "uniform", "timing", "--percent", "1", "--seed", "5", "--workers", "1", "-q")
    done = run_here(folder, "facts", *words, "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].split() == ["uniform", "timing"]
    return folder


@pytest.mark.study
def test_a_twin_has_other_luck(measured: Path) -> None:
    """So both games of a pair differ, but for a bot that uses no luck."""
    for name, differ in (("uniform", True), ("timing", False)):
        games = library.open(measured / "out" / name / "base").games
        pairs = games.groupby("pair")
        same = [
            [*two["points"]] == [*two["opponent_points"]][::-1] and two["plies"].nunique() == 1
            for _, two in pairs
        ]
        assert any(same) != differ or not all(same)
        assert all(same) != differ


@pytest.mark.slow
def test_figures_are_those_of_the_runs(measured: Path) -> None:
    """The share that is fixed, the leader's wins and the City wins, counted game by game."""
    found = {(one.players, one.fact): one for one in read_facts(measured / "out" / "facts.csv")}
    for name, folder in (("uniform", "base"), ("timing", "denier")):
        games = library.open(measured / "out" / name / folder).games
        same = []
        for _, two in games.groupby("pair"):
            seats = [
                None
                if not isinstance(row.winner, str)
                else (row.winner == row.bot) == (row.seat == 0)
                for row in two.itertuples()
            ]
            same.append(seats[0] == seats[1])
        share = 2 * sum(same) / len(same) - 1
        assert found[name, "fixed"].value == pytest.approx(share, abs=1e-3)
        base = library.open(measured / "out" / name / "base")
        assert found[name, "city"].value == pytest.approx(
            (base.games["win_type"] == "city").mean(), abs=1e-4
        )
        led = base.leads[base.leads["bot"].isna() & (base.leads["round"] == 2)]
        assert found[name, "leader_2"].value == led["score"].iloc[0]


@pytest.mark.parametrize(
    ("players", "percent"),
    [
        pytest.param(PLAYERS[:2], "1", marks=pytest.mark.slow),
        pytest.param(PLAYERS[2:3], "2", marks=pytest.mark.study),
        pytest.param(PLAYERS[3:4], "15", marks=pytest.mark.study),
        pytest.param(PLAYERS[4:], "2", marks=pytest.mark.study),
    ],
)
def test_a_sample_agrees_with_the_stored_figures(
    arena: Arena, tmp_path: Path, players: tuple[str, ...], percent: str
) -> None:
    """With other deals; if it fails, the rules or a bot have changed (docs/facts.md)."""
    words = (*players, "--percent", percent, "--seed", "1", "--workers", "2", "--out", "out", "-q")
    done = arena("facts", "--play", *words)
    assert (done.returncode, done.stderr) == (0, "")
    sample = read_facts(tmp_path / "out" / "facts.csv")
    assert len(sample) > 10 * len(players)
    assert differing(read_facts(), sample) == []
