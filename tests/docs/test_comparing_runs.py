"""What docs/comparing-runs.md says is true: its commands, what they print, and the sentence."""

from __future__ import annotations

from pathlib import Path

from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "comparing-runs.md").read_text()


def the_last_command_prints_what_stands_there(ran: markdown.Ran, folder: Path) -> None:
    """Exactly; and the report begins with the sentence."""
    assert ran[-1][1].stdout == markdown.blocks(PAGE, "text")[0]
    (said,) = (line[2:] for line in PAGE.splitlines() if line.startswith("> "))
    assert said in (folder / "results" / "report-monday-friday.md").read_text().splitlines()
