"""`arena plan`: the sentence, the document, and what is refused."""

from __future__ import annotations

import json

import pytest

import arena as library
from arena.library.comparing import pairs_to_tell
from bench.studies import plan
from tests.conftest import Arena


def test_the_sentence_is_that_of_the_library(arena: Arena) -> None:
    """Bots can be named, or be a number."""
    done = arena("plan", "greedy", "uniform", "denier", "--gap", "60")
    assert (done.returncode, done.stderr) == (0, "")
    found = library.plan(3, gap=60)
    assert done.stdout == f"{found}\n"
    assert found.games == 6 * found.pairs
    document = json.loads(arena("plan", "3", "--gap", "60", "--json").stdout)
    assert document == {"pairs": found.pairs, "games": found.games, "sentence": found.sentence}


def test_wider_gaps_and_less_power_take_fewer_pairs() -> None:
    """And more bots, too, since each pair says something about all of them."""
    usual = pairs_to_tell(6, 20, 0.8)
    assert pairs_to_tell(6, 40, 0.8) < usual / 3
    assert pairs_to_tell(6, 20, 0.5) < usual < pairs_to_tell(6, 20, 0.95)
    assert pairs_to_tell(12, 20, 0.8) < usual < pairs_to_tell(3, 20, 0.8)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("4",), "Missing option '--gap'"),
        (("4", "--gap", "0"), "gap: 0.0 is not a number from 1 to 1,000"),
        (("4", "--gap", "nan"), "gap: nan is not a number from 1 to 1,000"),
        (("4", "--gap", "9", "--power", "1"), "power: 1.0 is not a number from 0.5 to 0.99"),
        (("1", "--gap", "9"), "bots: 1 is not a number from 2 to 60"),
        (("99", "--gap", "9"), "bots: 99 is not a number from 2 to 60"),
        (("nobody", "greedy", "--gap", "9"), "nobody"),
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


@pytest.mark.study
@pytest.mark.parametrize(("bots", "gap"), plan.FIELDS[:4])
def test_a_plan_is_right_within_ten_per_cent(bots: int, gap: float) -> None:
    """The pairs are those with which simulated runs have the power."""
    pairs, power, right = plan.row(bots, gap)
    assert pairs / right == pytest.approx(1, abs=0.1)
    assert power == pytest.approx(0.8, abs=0.05)
