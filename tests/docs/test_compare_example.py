"""What docs/compare-example.md shows: the bot, and what the comparison of it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from engine import play_game
from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "compare-example.md").read_text()
FOLDER = ROOT / "docs" / "examples" / "greedy_plus"


def test_the_bot_is_the_one_on_the_page() -> None:
    """Its only file; the lines of the text are no longer than those of other pages."""
    (code,) = markdown.blocks(PAGE, "python")
    assert (FOLDER / "bot.py").read_text() == code
    prose = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    assert max(len(line) for line in prose.splitlines()) <= 100


def test_its_games_are_those_of_the_base_until_the_last_round() -> None:
    """In twenty games of either against `majority`; three times twelve plies are before it."""
    old_one, majority = resolve("greedy(patience=3.0)").create, resolve("majority").load()
    plus = resolve(str(FOLDER), lane="inproc").load()
    changed = 0
    for seed in range(20):
        new = play_game(plus, majority, seed=seed).record.actions
        old = play_game(old_one, majority, seed=seed).record.actions
        assert new[:36] == old[:36]
        changed += new != old
    assert 0 < changed < 10


@pytest.mark.study
def test_the_comparison_prints_what_the_page_shows(tmp_path: Path) -> None:
    """The recorded run, again; the page leaves out the line with the time."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    done = markdown.run(markdown.commands(PAGE)[0], tmp_path)
    shown = re.sub(r"^.* games/s\n", "", done.stdout, flags=re.MULTILINE)
    assert shown == markdown.blocks(PAGE, "text")[0]
    games, needed = (
        int(re.findall(pattern, shown)[0].replace(",", ""))
        for pattern in (r"of ([\d,]+) games are the same", r"would need ([\d,]+) games")
    )
    assert games <= needed / 10
