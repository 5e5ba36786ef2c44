"""The bots that have a name: ours, and those of installed packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.entries.catalogue import ELO, STRENGTHS
from tests import ROOT
from tests.conftest import Arena

POINTS = "[arena.bots]\nmartian = mars.strategies:bot\ngreedy = mars.strategies\nlost = venus\n"


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package that offers three bots, in a folder of the search path."""
    info = tmp_path / "mars_bots-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mars-bots\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (tmp_path / "mars").mkdir()
    (tmp_path / "mars" / "__init__.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "mars" / "strategies.py").write_text(
        '"""Plays \x1bred cards.\n\nAnd more."""\nraise SystemExit("imported")\n'
    )
    monkeypatch.syspath_prepend(tmp_path)


def test_bots_of_packages_are_listed_without_being_imported(arena: Arena) -> None:
    """With the first line of their docstring and the package; a name of ours stays ours."""
    lines = arena("bots").stdout.splitlines()
    (line,) = (line for line in lines if line.startswith("martian "))
    assert line.split(maxsplit=1)[1] == r"Plays \x1bred cards. [mars-bots]"
    assert next(line for line in lines if "[" not in line).startswith("apprentice ")
    assert sum(line.startswith("greedy ") for line in lines) == 1
    (lost,) = (line for line in lines if line.startswith("lost "))
    assert "cannot be read" in lost


def test_the_ratings_are_those_of_the_ladder() -> None:
    """As docs/ladder.md has them; eight strengths with words of their own rise with the number."""
    rows = (line.split("|") for line in (ROOT / "docs" / "ladder.md").read_text().splitlines())
    ladder = {row[1].strip(" `"): row[2].strip() for row in rows if len(row) > 9}
    assert {name: str(elo) for name, elo in ELO.items()}.items() <= ladder.items()
    assert all(ladder[strength.bot] == str(strength.elo) for strength in STRENGTHS)
    assert [strength.number for strength in STRENGTHS] == [*range(1, 9)]
    assert len({strength.words for strength in STRENGTHS}) == len(STRENGTHS)
    elos = [strength.elo for strength in STRENGTHS]
    assert elos == sorted(elos)
    assert (STRENGTHS[0].bot, STRENGTHS[-1].bot) == ("uniform", "grandmaster")


def test_the_table_of_the_page_is_the_catalogue() -> None:
    """docs/table.md has a row for each strength, and no other."""
    page = (ROOT / "docs" / "table.md").read_text()
    rows = [f"| {one.number} {one.words} | `{one.bot}` | {one.elo} |" for one in STRENGTHS]
    assert [line for line in page.splitlines() if line.startswith("| ")][1:] == rows
