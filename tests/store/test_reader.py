"""A run is read as it is at one moment, and nothing is written into its folder."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.executors.log import QUIET
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.store.reader import read_run
from arena.store.store import Store
from arena.tournament.schedule import PairRange
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.runs.test_verify import HERE
from tests.store.test_store import played


@pytest.mark.slow
def test_a_run_is_copied_and_left_alone(tmp_path: Path) -> None:
    """Games that are added later, by the run or to the copy, are not in the other one."""
    bots = [resolve(name, lane="inproc") for name in ("uniform", "greedy")]
    tournament = Tournament("read", 3, 4, bots, STANDARD)
    run(tournament, HERE, RunFolder(tmp_path), QUIET)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    again, copy = read_run(tmp_path)
    with closing(copy):
        assert (again.labels, again.seed, again.pairs) == (tournament.labels, 3, 4)
        copy.add(played(0, 4, 1))
        assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
        with closing(Store(tmp_path / "run.sqlite")) as store:
            store.add(played(0, 7, 2))
            assert store.finished([PairRange(0, 0, 99)])[0] == [range(4), range(7, 9)]
        assert copy.finished([PairRange(0, 0, 99)])[0] == [range(5)]
