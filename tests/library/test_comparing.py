"""`arena.compare`: the same as the command, as an object with tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.library.running import Interrupted
from arena.runs import run as runs
from engine import Action, Setup, View


class Last:
    """Plays its last legal action."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    def choose(self, view: View, /) -> Action:
        return view.legal[-1]


def compare(*bots: Any, **arguments: Any) -> arena.Comparison:
    return arena.compare(*bots, max_pairs=16, progress=False, **arguments)


@pytest.mark.slow
def test_it_is_the_comparison_of_the_command(tmp_path: Path) -> None:
    """The numbers of comparison.json, rounded there; the games of `results`."""
    comparison = compare("greedy", "uniform", seed=3, out=tmp_path)
    document = json.loads((tmp_path / "details" / "comparison.json").read_text())
    assert comparison.document() == document
    assert comparison.verdict == document["verdict"]
    assert [*comparison.counts] == document["counts"]
    assert round(comparison.llr, 4) == document["llr"]
    assert [round(n, 1) for n in (comparison.elo, comparison.elo_low, comparison.elo_high)] == [
        document[key] for key in ("elo", "elo_low", "elo_high")
    ]
    assert len(comparison.results.games) == 2 * comparison.pairs == 32
    assert comparison.differences is None
    assert str(comparison).startswith("greedy is stronger than uniform: it scored ")
    assert comparison.verdict == "undecided"
    assert comparison.sentence.startswith("better: greedy is stronger than uniform, by about ")
    assert "<table" not in comparison._repr_html_()


@pytest.mark.slow
def test_two_versions_have_tables_by_part(tmp_path: Path) -> None:
    """One of them is a class of this program; the labels are those of the columns."""
    comparison = compare(Last, ("old", "uniform"), against="greedy", out=tmp_path)
    assert comparison.differences is not None
    assert comparison.decided is not None
    assert comparison.differences["part"].tolist()[:3] == ["total", "opponent", "seat"]
    assert (
        len(comparison.decided)
        == len((tmp_path / "details" / "decided.csv").read_text().splitlines()) - 1
    )
    assert comparison.document()["command"] == ""
    assert "<table" in comparison._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"elo1": -1}, "elo1: -1 is not above elo0"),
        ({"beta": 1}, "beta: 1 is not a number above 0"),
        ({"against": []}, "a gauntlet needs a panel"),
        ({"against": ["nobody"]}, "nobody"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_compared_is_an_input_error(arguments: dict[str, Any], message: str) -> None:
    """With the text of the command."""
    with pytest.raises(arena.InputError, match=message):
        compare("greedy", "uniform", **arguments)


@pytest.mark.slow
def test_ctrl_c_keeps_the_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder, or in the exception's results."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    compare("greedy", "uniform", out=tmp_path)
    monkeypatch.setattr(runs, "run", interrupted)
    with pytest.raises(Interrupted, match="32 of 32 games are kept"):
        compare("greedy", "uniform", out=tmp_path)
    with pytest.raises(Interrupted, match="in `results` of this exception"):
        compare("greedy", "uniform")
