"""What docs/comparing-runs.md says is true: its commands, what they print, and the session."""

from __future__ import annotations

from pathlib import Path

from arena.reports.changes_report import NOT_SIGNIFICANT, NOT_TESTED, SIGNIFICANT
from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "comparing-runs.md").read_text()


def the_last_command_prints_what_stands_there(ran: markdown.Ran, _: Path) -> None:
    """Exactly."""
    assert ran[-1][1].stdout == markdown.blocks(PAGE, "text")[0]


def test_the_verdicts_are_those_of_the_page() -> None:
    """All of them, with their meaning."""
    for verdict in (SIGNIFICANT, NOT_SIGNIFICANT, NOT_TESTED):
        assert f"| `{verdict}` |" in PAGE
