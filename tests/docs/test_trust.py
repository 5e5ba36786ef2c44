"""The figures and promises of docs/trust.md and docs/table.md are held by code and tests."""

from __future__ import annotations

import pytest

from arena.entries.archive import MOST_DATA, MOST_FILES
from arena.entries.syntax import MEGABYTES, SECONDS, SECONDS_OF_MB
from arena.lanes.bubblewrap import OLDEST_JAIL
from arena.lanes.confine import DISK, INODES, MOST_OPEN, SOCKETS
from arena.lanes.jail import most_processes
from arena.lanes.syscalls import ALLOWED, DECIDED
from arena.lanes.warm import MOST
from arena.reports.front import MOST_WAITING, WHOLE
from tests import ROOT
from tests.rogues import fills_kernel

PAGE = " ".join((ROOT / "docs" / "trust.md").read_text(encoding="utf-8").split())
STUDY = (ROOT / "bench" / "STUDIES.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        f"{len(ALLOWED)} system calls",
        f"{len(DECIDED)} more",
        f"{DISK >> 20} MB and {INODES:,} files",
        f"{MOST_OPEN} files in each process",
        f"{SOCKETS} sockets",
        f"{fills_kernel.ALLOWED >> 20} MB",
        f"{most_processes(hosted=True) - 1} processes and threads",
        f"{MOST >> 30} GB",
        f"{MOST_FILES:,} files or {MOST_DATA >> 20} MB",
        f"{SECONDS} s of a processor",
        f"{SECONDS_OF_MB} s more for each MB",
        f"{MEGABYTES} MB",
        f"{WHOLE:.0f} s to come whole",
        f"{MOST_WAITING} connections",
        f"Linux {OLDEST_JAIL[0]}.{OLDEST_JAIL[1]}",
    ],
)
def test_a_figure_is_that_of_the_code(words: str) -> None:
    """The page has it, with its unit."""
    assert words in PAGE


def test_what_stays_is_that_of_the_study() -> None:
    """The trials and the bits of a decision."""
    rows = {row.split(" | ")[0][2:]: row.split(" | ")[1:] for row in STUDY.splitlines()}
    fresh = next(row for way, row in rows.items() if way.startswith("reads pages that nobody"))
    load = next(row for way, row in rows.items() if way.startswith("works on all cores"))
    trials, known = (fresh[0].split(" of ")[place] for place in (1, 0))
    assert f"{known} of {trials} trials" in PAGE
    inodes = next(row for way, row in rows.items() if way.startswith("opens pipes"))
    assert f"{inodes[0]} trials" in PAGE
    assert f"{load[2].rstrip(' |')} bits a decision" in PAGE
