"""What docs/probe.md says is true: its commands, and what they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "probe.md").read_text()


@pytest.mark.slow
def test_the_commands_print_what_stands_there(tmp_path: Path) -> None:
    """A network may learn otherwise on another machine: so without its figures."""
    printed = [markdown.run(command, tmp_path).stdout for command in markdown.commands(PAGE)]
    first, _, second = markdown.blocks(PAGE, "text")
    assert printed[0] == first
    assert re.sub(r"\d+", "N", printed[1]) == re.sub(r"\d+", "N", second)
