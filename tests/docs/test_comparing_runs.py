"""What docs/comparing-runs.md says is true: its commands, what they print, and the session."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.reports.differences import NOT_SIGNIFICANT, NOT_TESTED, SIGNIFICANT
from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "comparing-runs.md").read_text()


@pytest.mark.slow
def test_the_commands_print_what_stands_there(tmp_path: Path) -> None:
    """The last one exactly."""
    for command in markdown.commands(PAGE):
        done = markdown.run(command, tmp_path)
        assert done.returncode == 0, done.stderr
    assert done.stdout == markdown.blocks(PAGE, "text")[0]


def test_the_session_runs() -> None:
    """As it is printed."""
    assert markdown.failures("comparing-runs.md", markdown.blocks(PAGE, "pycon")) == 0


def test_the_verdicts_are_those_of_the_page() -> None:
    """All of them, with their meaning."""
    for verdict in (SIGNIFICANT, NOT_SIGNIFICANT, NOT_TESTED):
        assert f"| `{verdict}` |" in PAGE
