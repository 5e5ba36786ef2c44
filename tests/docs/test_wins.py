"""What docs/wins.md says of the experiment is true: its commands, and the columns."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "wins.md").read_text()
SECTION = PAGE.split("## Swap a card, and play on")[1].split("\n## ")[0]


def test_the_commands_run_and_write_the_columns_of_the_table(tmp_path: Path) -> None:
    """The last one also to a file."""
    *others, last = markdown.commands(SECTION)
    for command in (*others, f"{last} -o cards.csv"):
        done = markdown.run(command, tmp_path)
        assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| (`.+?) \|", SECTION, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert list(pd.read_csv(tmp_path / "cards.csv")) == named


def test_no_page_calls_a_correlation_a_cause() -> None:
    """What was read as a cause is gone, and the warning is there."""
    assert "**`more` and `adds` are no causes.**" in PAGE
    assert "**Decisive is a name, not a cause.**" in PAGE
    for path in (ROOT / "docs").glob("*.md"):
        text = " ".join(path.read_text().split())
        assert "adds to the chance to win" not in text, path
        assert "the loser decided the game" not in text, path
