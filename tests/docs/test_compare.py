"""What docs/compare.md says is true: its commands, what they print, and its figures."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "compare.md").read_text()
STUDIES = (ROOT / "bench" / "STUDIES.md").read_text()


def the_commands_print_what_stands_there(ran: markdown.Ran, folder: Path) -> None:
    """The first one exactly; a row of the decided games can be shown by either name."""
    first, second, shown = (done.stdout for _, done in ran)
    assert first.startswith(markdown.blocks(PAGE, "text")[0])
    assert "separate round robins" in second
    assert "results in results/compare-new-greedy-against/\n" in second
    assert "ply " in shown
    *words, _ = ran[-1][0].split()
    row = pd.read_csv(folder / words[2] / "details" / "decided.csv").iloc[0]
    for game in (row["game"], row["old_game"]):
        assert "ply " in markdown.run(shlex.join([*words, game]), folder).stdout


def _rows() -> Iterator[tuple[float, float, list[str]]]:
    """Yield the true Elo, elo1 and all cells of each simulated row."""
    for line in re.findall(r"^\| (?:near|far) \|.*\|$", STUDIES, re.MULTILINE):
        cells = line.strip("|").split("|")
        yield float(cells[1]), float(cells[2]), cells


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
    wrong = [
        float(cells[4 + (elo > 0)].strip(" %"))
        for elo, elo1, cells in _rows()
        if elo <= 0 or elo >= elo1
    ]
    assert len(wrong) > 20
    assert f"worst of all rows of 1,000 has {max(wrong)} %" in words
    assert max(len(line) for line in PAGE.splitlines() if "|" not in line) <= 99
