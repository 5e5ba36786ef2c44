"""`arena plan`: the table, the document, and what is refused."""

from __future__ import annotations

import json

import pytest

import arena as library
from arena.library.planning import Plan, Way
from tests.conftest import Arena


@pytest.mark.study
def test_the_table_is_that_of_the_library(arena: Arena) -> None:
    """It fits the terminal; bots can be named, or be a number."""
    done = arena("plan", "greedy", "uniform", "denier", "--gap", "60")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert done.stdout == f"{library.plan(3, gap=60)}\n"
    assert [line.split("  ")[0] for line in lines[1:4]] == ["round robin", "until", "compare"]


def test_a_line_of_the_table_has_what_is_known() -> None:
    """Without an earlier run no time, and no chance where a width was asked for."""
    ways = [Way("round robin", 57, 57, 1140, 150.0, 0.8), Way("until", None, 92, 184, None, None)]
    head, first, second, sentence = str(Plan("So many.", ways, {})).splitlines()
    assert head.split() == ["pairs", "each", "pairs", "games", "one", "core", "chance"]
    assert " ".join(first.split()) == "round robin 57 57 1,140 2 min 30 s 80 %"
    assert " ".join(second.split()) == "until 92 184"
    assert sentence == "So many."


@pytest.mark.slow
def test_the_document_says_what_a_gauntlet_takes(arena: Arena) -> None:
    """Its pairings are those of bots and panel; nothing is known of the time."""
    done = arena("plan", "2", "--against", "greedy,uniform,denier", "--width", "40", "--json")
    document = json.loads(done.stdout)
    (way,) = document["ways"]
    assert way["way"] == "gauntlet"
    assert way["games"] == 2 * way["pairs"] == 2 * 6 * way["each"]
    assert way["seconds"] is way["chance"] is None
    assert document["chances"] == []


@pytest.mark.slow
def test_a_league_takes_more_than_a_gauntlet() -> None:
    """It looks again and again, so its bounds are wider; its pairings are the same."""
    gauntlet, league = library.plan(3, against=4, gap=60).ways
    assert (gauntlet.way, league.way) == ("gauntlet", "league")
    assert gauntlet.pairs < league.pairs == 12 * (league.each or 0) < 3 * gauntlet.pairs


@pytest.mark.slow
def test_a_run_says_how_long_it_takes(arena: Arena) -> None:
    """And how much its pairs vary."""
    arena("play", "greedy", "denier", "--pairs", "30", "--out", "out", "-q")
    done = arena("plan", "3", "--width", "50", "--like", "out", "--json")
    ways = json.loads(done.stdout)["ways"]
    assert all(0 < way["seconds"] < way["games"] for way in ways)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("4",), "a plan needs a gap or a width, and not both"),
        (("4", "--gap", "9", "--width", "9"), "a plan needs a gap or a width, and not both"),
        (("4", "--gap", "0"), "gap: 0.0 is not a number from 1 to 1,000"),
        (("4", "--gap", "nan"), "gap: nan is not a number from 1 to 1,000"),
        (("4", "--width", "-3"), "width: -3.0 is not a number from 1 to 1,000"),
        (("4", "--gap", "9", "--power", "1"), "power: 1.0 is not a number from 0.5 to 0.99"),
        (("1", "--gap", "9"), "bots: 1 is not a number from 2 to 60"),
        (("99", "--gap", "9"), "bots: 99 is not a number from 2 to 60"),
        (("1", "--gap", "9", "--against", "8"), "bots: 1 is not a number from 2 to 60"),
        (("4", "--gap", "9", "--against", "77"), "against: 77 is not a number from 0 to 60"),
        (("nobody", "greedy", "--gap", "9"), "nobody"),
        (("4", "--gap", "9", "--like", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(
    arena: Arena, words: tuple[str, ...], message: str
) -> None:
    """With exit status 2, and the name of what is wrong."""
    done = arena("plan", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


@pytest.mark.parametrize("wrong", [2.5, None, True, [1, 2]])
def test_what_is_no_bot_and_no_number_of_them_is_refused(wrong: object) -> None:
    """By the function, too."""
    with pytest.raises(library.InputError, match="neither a bot"):
        library.plan(wrong, gap=20)  # type: ignore[arg-type]
