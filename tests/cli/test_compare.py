"""`arena compare` and `arena plan`: what they print."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import arena as library
from arena.cli.options import split_bots
from arena.entries.catalogue import expand_ladder
from arena.errors import InputError
from arena.library.comparing import pairs_to_tell
from arena.tournament.sprt_rounds import comparison_name
from bench.studies import plan
from tests.conftest import Arena

NEW = "new=greedy(patience=2.5)"
KEYS = {
    *("verdict", "word", "sentence", "new", "old", "against", "pairs", "counts", "values", "llr"),
    *("llr_low", "llr_high", "elo", "elo_low", "elo_high", "elo0", "elo1", "alpha", "beta"),
    *("max_pairs", "games", "out", "command", "folder", "played", "kept", "warnings"),
}
TWINS = {"same_games", "separate_games", "decided", "differences"}


def plies(shown: str) -> list[str]:
    """Return the plies of a game that was shown; both versions have one name."""
    return [line.replace("new", "greedy") for line in shown.splitlines() if line.startswith("ply ")]


@pytest.mark.slow
def test_a_comparison_prints_its_verdict_and_the_command_that_repeats_it(
    arena: Arena, tmp_path: Path
) -> None:
    """In words of 80 columns; the command gives the same file in another folder."""
    done = arena("compare", "greedy", NEW, "--max-pairs", "200", "--seed", "4")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("greedy is stronger than new: it scored ")
    assert lines[1].startswith("Elo difference +")
    assert lines[-1] == "results in results/compare-greedy-new/"
    (repeat,) = (line for line in lines if line.startswith("repeat with: arena "))
    words = shlex.split(repeat.removeprefix("repeat with: arena "))
    assert max(len(line) for line in lines if line != repeat) <= 80
    again = arena(*words, "--out", "again")
    assert again.stdout.splitlines()[:4] == lines[:4]
    second = tmp_path / "again" / "details" / "comparison.json"
    first = tmp_path / "results" / "compare-greedy-new" / "details" / "comparison.json"
    assert first.read_bytes() == second.read_bytes()
    assert "nothing was left to play" in arena(*words, "--out", "again").stdout


@pytest.mark.slow
def test_a_comparison_as_json_is_one_document(arena: Arena) -> None:
    """Head to head, and with what is known of two versions on the same deals."""
    done = arena("compare", "greedy", NEW, "--max-pairs", "20", "--json")
    document = json.loads(done.stdout)
    assert {*document} == KEYS
    assert document["verdict"] in ("better", "not better", "undecided")
    assert (len(document["counts"]), sum(document["counts"])) == (5, document["pairs"])
    words = ["--against", "uniform", "--max-pairs", "20", "--json"]
    document = json.loads(arena("compare", "greedy", NEW, *words).stdout)
    assert {*document} == KEYS | TWINS
    assert (len(document["counts"]), sum(document["counts"])) == (9, document["pairs"])
    assert document["differences"][0]["part"] == "total"


@pytest.mark.slow
def test_what_the_change_did_is_shown_and_its_games_can_be(arena: Arena) -> None:
    """A table of 80 columns, and a command for each of the first games that it decided."""
    words = ["--against", "denier,majority", "--max-pairs", "64"]
    done = arena("compare", "greedy", NEW, *words)
    lines = done.stdout.splitlines()
    parts = [line.split()[0] for line in lines if line.endswith(tuple("0123456789%"))]
    assert [part for part in parts if part in ("total", "opponent", "seat")] == [
        *("total", "opponent", "opponent", "seat", "seat")
    ]
    games = [line for line in lines if line.startswith("  arena show")]
    assert 0 < len(games) <= 5
    command, _, rest = games[0].partition("   from ply ")
    ply = int(rest.split()[0])
    shown = [command, command.replace(" greedy/", " new/")]
    new, old = (plies(arena(*shlex.split(words)[1:]).stdout) for words in shown)
    assert [one == other for one, other in zip(new, old, strict=False)].index(False) == ply
    others = [line for line in lines if not line.startswith(("repeat", "  arena show"))]
    assert max(map(len, others)) <= 80


def test_specs_are_split_at_commas_and_names_are_those_of_folders() -> None:
    """A command may have commas of its own; the ladder does not contain who is compared."""
    assert split_bots("a=x(k=[1,2]),b") == ["a=x(k=[1,2])", "b"]
    assert split_bots("deep=cmd:node bot.js 1,2") == ["deep=cmd:node bot.js 1,2"]
    with pytest.raises(InputError, match="empty place"):
        split_bots("a,")
    assert comparison_name("../x(depth=3)", "ü") == "compare-x-depth-3-\u00fc"
    assert "greedy" not in expand_ladder(["ladder"], ["greedy"])


def test_the_sentence_is_that_of_the_library(arena: Arena) -> None:
    """Bots can be named, or be a number."""
    done = arena("plan", "greedy", "uniform", "denier", "--gap", "60")
    assert (done.returncode, done.stderr) == (0, "")
    found = library.plan(3, gap=60)
    assert done.stdout == f"{found}\n"
    assert found.games == 6 * found.pairs
    document = json.loads(arena("plan", "3", "--gap", "60", "--json").stdout)
    assert document == {name: getattr(found, name) for name in document}
    assert {*document} == {"pairs", "games", "first", "sentence"}


def test_wider_gaps_and_less_power_take_fewer_pairs() -> None:
    """And more bots, too, since each pair says something about all of them."""
    usual = pairs_to_tell(6, 20, 0.8)
    assert pairs_to_tell(6, 40, 0.8) < usual / 3
    assert pairs_to_tell(6, 20, 0.5) < usual < pairs_to_tell(6, 20, 0.95)
    assert pairs_to_tell(12, 20, 0.8) < usual < pairs_to_tell(3, 20, 0.8)


@pytest.mark.parametrize("wrong", [2.5, None, True, [1, 2]])
def test_what_is_no_bot_and_no_number_of_them_is_refused(wrong: object) -> None:
    """By the function, too."""
    with pytest.raises(library.InputError, match="neither a bot"):
        library.plan(wrong, gap=20)  # type: ignore[arg-type]


@pytest.mark.study
@pytest.mark.parametrize(("bots", "gap"), plan.FIELDS[:4])
def test_a_plan_is_right_within_ten_per_cent(bots: int, gap: float) -> None:
    """The pairs are those with which simulated runs have the power."""
    pairs, power, right = plan.row(bots, gap)
    assert pairs / right == pytest.approx(1, abs=0.1)
    assert power == pytest.approx(0.8, abs=0.05)
