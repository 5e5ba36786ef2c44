"""What docs/probe.md says is true: its commands, and what they print."""

from __future__ import annotations

import re
from pathlib import Path

from tests import ROOT, markdown

PAGE = (ROOT / "docs" / "probe.md").read_text()


def the_commands_print_what_stands_there(ran: markdown.Ran, _: Path) -> None:
    """A network may learn otherwise on another machine: so without its figures."""
    first, *_, last = markdown.blocks(PAGE, "text")
    assert ran[0][1].stdout == first
    assert re.sub(r"\d+", "N", ran[-1][1].stdout) == re.sub(r"\d+", "N", last)
