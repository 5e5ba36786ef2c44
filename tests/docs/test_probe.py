"""What docs/probe.md says is true: its commands, and what they print."""

from __future__ import annotations

import re
from pathlib import Path

from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "probe.md").read_text()


def the_commands_print_what_stands_there(ran: markdown.Ran, _: Path) -> None:
    """A network may learn otherwise on another machine: so without its figures."""
    first, _, learned, *small = markdown.blocks(PAGE, "text")
    printed = [done.stdout for _, done in ran]
    assert [printed[0], *printed[2:]] == [first, *small]
    assert re.sub(r"\d+", "N", printed[1]) == re.sub(r"\d+", "N", learned)
