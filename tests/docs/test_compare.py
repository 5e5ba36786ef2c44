"""What docs/compare.md says is true: its commands, what they print, and its figures."""

from __future__ import annotations

import re
from pathlib import Path

from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "compare.md").read_text()
STUDIES = (ROOT / "bench" / "STUDIES.md").read_text()


def test_the_commands_print_what_stands_there(tmp_path: Path) -> None:
    """The first one exactly."""
    first, second = (markdown.run(command, tmp_path) for command in markdown.commands(PAGE))
    assert first.stdout.startswith(markdown.blocks(PAGE, "text")[0])
    assert second.returncode == 0, second.stderr
    assert "separate round robins" in second.stdout


def test_the_session_runs() -> None:
    """As it is printed."""
    assert markdown.failures("compare.md", markdown.blocks(PAGE, "pycon")) == 0


def test_the_figures_are_those_of_the_study() -> None:
    """Errors and mean pairs of tests of 0 against 15 points."""
    rows = {
        elo: re.findall(rf"^\| far \| {elo} \| 15 \| none \|(.*)\|$", STUDIES, re.MULTILINE)[0]
        for elo in (0, 15, 30, 60)
    }
    better, not_better, *_ = (float(cell.strip(" %")) for cell in rows[0].split("|")[:2])
    words = " ".join(PAGE.split())
    assert f"wrong in {better} % at 0" in words
    assert f"and in {rows[15].split('|')[1].strip(' %')} % at 15" in words
    for elo in rows:
        assert rows[elo].split("|")[2].strip() in PAGE
    assert not_better > 90
    assert max(len(line) for line in PAGE.splitlines() if "|" not in line) <= 99
