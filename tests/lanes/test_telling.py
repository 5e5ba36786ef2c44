"""What two jails that play at the same time can tell each other."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from bench.studies.telling import bits
from tests.lanes.telling import BITS, WIDTHS, measure
from tests.runs.test_rogues import needs_jail
from tests.tiers import few
from tests.users import USERS, run_python

CLOSED = ("nowait", "mincore", "cachestat", "late", "warmed")
"""Ways through the page cache that need a system call which no bot has, or a file not yet read."""
ROUNDS = 50
MOST_KNOWN = 2


@pytest.mark.slow
@needs_jail
@pytest.mark.parametrize("user", few(USERS, 1, 0))
def test_the_page_cache_tells_nothing(user: str) -> None:
    """One jail reads pages of a file that both see, and another one asks which are there."""
    with tempfile.TemporaryDirectory(prefix="telling-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        done = run_python(user, folder, "-m", "tests.lanes.telling", str(ROUNDS), *CLOSED)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [*found] == [*CLOSED]
    assert {how: known for how, (known, *_) in found.items() if known > MOST_KNOWN} == {}


@needs_jail
@pytest.mark.study
@pytest.mark.parametrize(("how", "most"), [("fresh", 10.0), ("inodes", 3.0), ("load", 5.0)])
def test_what_stays_is_known(how: str, most: float) -> None:
    """The time of a first read, numbers of inodes, and how busy the processors are.

    The figures are in bench/STUDIES.md. No more bits can come through than a number has.
    """
    assert 0.0 <= bits(measure(how, ROUNDS), WIDTHS.get(how, BITS)) <= most
