"""`arena probe --exact`: exact where a bot was asked all, an interval of a sample, or one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.addons.learn import small_probe
from arena.addons.rl import exact
from arena.entries.resolve import resolve
from tests.cli.test_mistakes import refusal
from tests.conftest import Arena

FIRST = """class First:
    def __init__(self, setup):
        pass

    def choose(self, view, /):
        return view.legal[0]

    def scores(self, games, /):
        raise ValueError


bot = First
"""

FALLS_BACK = "under other rules than the published ones it plays as"


@pytest.fixture(autouse=True)
def _points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the smaller game."""
    monkeypatch.setattr(exact, "_MEASURED", ("points",))


def test_a_bot_with_scores_has_an_exact_number(arena: Arena) -> None:
    """That of docs/openspiel.md, asked once at each view."""
    (game,) = json.loads(arena("probe", "greedy", "--exact", "--json").stdout)["games"]
    assert (game["exact"], game["low"], game["high"], game["trials"]) == (True, 0.5, 0.5, 1)
    done = arena("probe", "greedy", "--exact", "-q")
    assert done.stdout.splitlines()[1] == "  points: 0.5000, exact: asked at each of 253 choices"


@pytest.mark.slow
def test_a_sample_has_an_interval_that_covers_the_truth() -> None:
    """With other luck each time; it is 0.6708, by all actions alike."""
    for seed in range(5):
        (found,) = small_probe.probe_small(resolve("uniform"), seed, shown=False)
        assert not found.exact
        assert found.low < 0.6708 < found.high < found.low + 0.2


@pytest.mark.slow
def test_the_bot_of_a_stranger_is_asked_in_its_own_process(arena: Arena, tmp_path: Path) -> None:
    """Exactly with scores, and by a sample without."""
    (tmp_path / "scored.py").write_text(FIRST)
    (tmp_path / "plain.py").write_text(FIRST.replace("def scores", "def other"))
    found = []
    for name in ("./scored.py", "./plain.py"):
        (game,) = json.loads(arena("probe", name, "--exact", "--json").stdout)["games"]
        found.append((game["exact"], round(game["low"], 6), round(game["high"], 6)))
    assert found == [(True, 0.941667, 0.941667), (False, 0.941667, 0.941667)]


def test_a_bot_that_leaves_small_games_to_another_one_is_told_so(
    arena: Arena, tmp_path: Path
) -> None:
    """The network of the house, and one that is built as it is."""
    own = f"apprentice: {FALLS_BACK} Timing, so it has no figure of its own"
    assert refusal(arena, "probe", "apprentice", "--exact") == own
    (tmp_path / "mine.py").write_text("from bots.apprentice import bot\n")
    assert f"mine: {FALLS_BACK} Timing" in refusal(arena, "probe", "./mine.py", "--exact")


def test_nothing_is_played_with_it(arena: Arena) -> None:
    """So what says how is refused."""
    why = "not with --exact, which plays nothing"
    assert refusal(arena, "probe", "greedy", "--exact", "--pairs", "3") == f"--pairs: {why}"
