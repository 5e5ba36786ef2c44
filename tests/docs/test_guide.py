"""What the pages for the authors of bots say is true: the steps, the figures and the tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine import View
from tests import ROOT, markdown
from tests.conftest import Arena

NAMES = ("first-bot.md", "search-bot.md", "measuring.md", "bot-faults.md", "bot.md")
GUIDE = {name: (ROOT / "docs" / name).read_text() for name in NAMES}
FIRST = GUIDE["first-bot.md"]
STEPS = [block.text for block in markdown.fences(FIRST) if block.is_step]
TEMPLATES = ROOT / "arena" / "entries" / "template"
TEMPLATE = (TEMPLATES / "my_bot.py").read_text()
TEMPLATE_TEST = (TEMPLATES / "test_my_bot.py").read_text()


def versions() -> list[str]:
    """Return the source of `my_bot.py` from the template, and after every step."""
    sources = [TEMPLATE]
    for step in STEPS:
        sources.append(markdown.with_step(sources[-1], step))
    return sources


def the_bot_is_that_of_the_last_step(ran: markdown.Ran, folder: Path) -> None:
    """The page begins with the template; the first program that is run is its test."""
    assert (folder / "my_bot.py").read_text() == versions()[-1]
    printed = {command: done.stdout for command, done in ran}
    assert printed["python test_my_bot.py"] == markdown.blocks(FIRST, "text")[0]


def only_the_broken_bot_forfeits(ran: markdown.Ran, _: Path) -> None:
    """It does, and its game is shown."""
    assert "forfeits" in ran[0][1].stdout
    assert "IndexError" in ran[1][1].stdout
    assert any("ply " in done.stdout for _, done in ran)


@pytest.mark.slow
def test_every_step_plays(arena: Arena, tmp_path: Path) -> None:
    """The bots after all steps play each other without a fault."""
    names = [f"step{number}.py" for number in range(len(versions()))]
    for name, source in zip(names, versions(), strict=True):
        (tmp_path / name).write_text(source)
    assert len(names) == 5
    done = arena("play", *(f"./{name}" for name in names), "--pairs", "2", "--lane", "inproc")
    assert (done.returncode, "forfeits" in done.stdout) == (0, False)


@pytest.mark.study
def test_the_search_and_the_last_test_say_what_stands_there(tmp_path: Path) -> None:
    """The setting that `arena tune` finds and its gain; the lead over `greedy` and the pairs."""
    words = " ".join(FIRST.split())
    said = {
        "tune": r"hurry=[\d.]+$|by about .*\)",
        "compare": r"^my_bot is stronger .*|\d+ pairs(?=, by)",
    }
    for version, (name, pattern) in zip((3, 4), said.items(), strict=True):
        (tmp_path / "my_bot.py").write_text(versions()[version])
        (command,) = (one for one in markdown.commands(FIRST) if one.startswith(f"arena {name}"))
        done = markdown.run(command, tmp_path)
        found = re.findall(pattern, done.stdout, re.MULTILINE)
        assert len(found) == 2, done.stdout
        assert all(one in words for one in found), found


def test_the_table_of_the_view_is_complete_and_true() -> None:
    """It has a row for every public name of a View, with its value in the example's view.

    The text of `describe` is too long for a row, and stands below.
    """
    import engine
    from engine.cards import pack_of

    seen = View.from_text("0 782yC 58 6T4yxCy5C7T87")
    part = GUIDE["bot.md"].split("## What a view offers")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)(?:\(\))?` \| .+ \| `(.+)` \|$", part, re.MULTILINE))
    ours = {name for name in dir(View) if not name.startswith("_")} - set(dir(tuple))
    assert set(rows) == ours - {"from_text", "describe"}
    for name, value in rows.items():
        member = getattr(seen, name)
        expected = eval(value, {"engine": engine, "pack_of": pack_of})
        assert (member() if callable(member) else member) == expected, name
