"""Cores are counted in one place, within the quotas of control groups; matrices use a thread."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena import threads
from arena.addons.rl.vector import DistrictNoirVectorEnv
from arena.statistics.ratings import Fit
from arena.statistics.two_bots import pair_scores
from arena.statistics.verdicts import Verdicts
from arena.threads import count_cores, machine_cores, one_thread
from tests import ROOT

V1 = "35 31 0:32 / {}/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
V2 = "41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n"
IN_A = V2.replace(" / ", " /a ")  # a container, which sees its group and what is below
DOCKER = "35 31 0:32 /docker/4f {}/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"


@pytest.mark.parametrize(
    ("own", "mounts", "files", "cores"),
    [
        ("0::/a/b\n", V2, {}, 8),
        ("0::/a/b\n", V2, {"a/b/cpu.max": "max 100000\n"}, 8),
        ("0::/a/b\n", V2, {"a/b/cpu.max": "150000 100000\n"}, 2),
        ("0::/a/b\n", V2, {"a/b/cpu.max": "20000 100000\n"}, 1),
        ("0::/a/b\n", V2, {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"}, 3),
        ("0::/a/b\n", V2, {"a/b/cpu.max": "200000 50000\n", "a/cpu.max": "600000 100000\n"}, 4),
        ("0::/a/b\n", V2, {"a/c/cpu.max": "100000 100000\n"}, 8),
        ("0::/\n", V2, {"cpu.max": "5000000 100000\n"}, 8),
        ("0::/a/b\n", V2, {"a/b/cpu.max": "of late\n", "a/cpu.max": "2 0\n"}, 8),
        ("0::/a/b\n", IN_A, {"b/cpu.max": "150000 100000\n"}, 2),
        ("0::/c\n", IN_A, {"cpu.max": "100000 100000\n"}, 8),
        ("0::/a\n", V2.replace("cgroup2", "cgroup"), {"a/cpu.max": "100000 100000\n"}, 8),
        ("0::/../..\n", V2, {"cpu.max": "100000 100000\n"}, 8),
        ("4:cpu,cpuacct:/a\n", V1, {"cpu,cpuacct/a/cpu.cfs_quota_us": "250000\n"}, 3),
        ("4:cpu,cpuacct:/a\n", V1, {"cpu,cpuacct/a/cpu.cfs_quota_us": "-1\n"}, 8),
        ("4:cpu,cpuacct:/docker/4f\n", DOCKER, {"cpu,cpuacct/cpu.cfs_quota_us": "250000\n"}, 3),
        ("4:cpu:/a\n0::/b\n", V1 + V2, {"b/cpu.max": "100000 100000\n"}, 1),
        ("5:cpuset:/a\n", V1, {"cpu,cpuacct/a/cpu.cfs_quota_us": "100000\n"}, 8),
        ("", "", {}, 8),
        ("no group", "no mount - ", {}, 8),
    ],
)
def test_cores_are_what_the_groups_around_a_process_leave_it(
    own: str,
    mounts: str,
    files: dict[str, str],
    cores: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The smallest quota on the way up counts, rounded up; the machine has eight cores."""
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if path.name == "cpu.cfs_quota_us":
            path.with_name("cpu.cfs_period_us").write_text("100000\n")
    (tmp_path / "cgroup").write_text(own)
    (tmp_path / "mountinfo").write_text(mounts.replace("{}", str(tmp_path)))
    assert count_cores(tmp_path) == cores


def test_cores_are_those_of_the_affinity_and_at_least_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on systems that have no affinity, no groups, or no number of cores."""
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5}, raising=False)
    assert (count_cores(tmp_path), machine_cores()) == (2, 8)
    monkeypatch.delattr(os, "sched_getaffinity")
    assert count_cores(tmp_path) == 8
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert count_cores(tmp_path) == machine_cores() == 1


ON_ONE_CORE = """
import os
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from concurrent.futures import ThreadPoolExecutor
from arena.cli.bots import examine_cores
from arena.executors.local import open_executor
from arena.tournament.config_keys import Venue
with (
    open_executor(Venue()) as executor,
    open_executor(Venue(executor=ThreadPoolExecutor(9))) as pool,
):
    print(executor, pool, examine_cores().detail, sep="; ")
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_on_one_core_there_is_one_worker() -> None:
    """On a node of 64 cores, of which one is ours, 64 workers took 26 times as long."""
    words = [sys.executable, "-c", ON_ONE_CORE]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    detail = "1" if os.cpu_count() == 1 else f"1 of {os.cpu_count()}"
    assert done.stdout == f"1 worker; 9 processes of ThreadPoolExecutor; {detail}\n"


COUNTS = {"cpu_count", "process_cpu_count", "sched_getaffinity"}
"""Functions that count cores, under the names that `os`, `psutil` and `multiprocessing` have."""


def test_cores_are_counted_in_one_place() -> None:
    """And no pool takes its size from a library, which counts the cores of the machine."""
    found = set()
    for path in (path for room in ("arena", "bench", "bots", "docs") for path in files_of(room)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "attr", getattr(node, "id", getattr(node, "name", "")))
            if name in COUNTS:
                found.add((path.relative_to(ROOT).as_posix(), name))
            if isinstance(node, ast.Call) and not node.args and not node.keywords:
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                is_pool = called.endswith(("PoolExecutor", "Pool"))
                assert not is_pool or called == "MPIPoolExecutor", path  # it has the ranks of MPI
    owner = "arena/threads.py"
    assert found == {
        (owner, "cpu_count"),
        (owner, "sched_getaffinity"),
        ("bench/peers.py", "sched_getaffinity"),  # to choose one of them
    }


def files_of(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


class Library:
    """A library of matrices, whose number of threads is read here."""

    def __init__(self) -> None:
        self.count = 8
        self.before: list[int] = []

    def limit(self, limits: int) -> Library:
        """Set the number of threads."""
        self.before.append(self.count)
        self.count = limits
        return self

    def restore_original_limits(self) -> None:
        """Set the number of before."""
        self.count = self.before.pop()


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    """Return a library that stands for numpy's."""
    found = Library()
    monkeypatch.setattr(threads, "_libraries", lambda: found)
    return found


def test_a_block_has_one_thread_and_the_number_of_before_comes_back(library: Library) -> None:
    """Also after an error, and when a caller has set another number since."""

    @one_thread()
    def fail() -> None:
        with one_thread():
            raise ValueError(library.count)

    with pytest.raises(ValueError, match=r"^1$"):
        fail()
    assert library.count == 8
    library.count = 3
    with one_thread():
        assert library.count == 1
    assert library.count == 3


def test_the_last_of_blocks_in_several_threads_restores_the_number(library: Library) -> None:
    """The first one to end may be the first one that began."""
    entered, leave = threading.Event(), threading.Event()

    def compute() -> None:
        with one_thread():
            entered.set()
            leave.wait()

    other = threading.Thread(target=compute)
    with one_thread():
        other.start()
        entered.wait()
    assert library.count == 1
    leave.set()
    other.join()
    assert library.count == 8


SCORES = {(0, 1): (3, 1, 9, 1, 6), (0, 2): (1, 1, 5, 1, 12), (1, 2): (4, 0, 9, 0, 7)}


def rate() -> None:
    """Compute what a table of standings has."""
    fit = Fit(3, [pair_scores(*two, counts) for two, counts in SCORES.items()])
    verdicts = Verdicts(fit, SCORES)
    assert len({*verdicts.likely.round(6).ravel()}) > 3
    assert verdicts.first().sum() == pytest.approx(1, abs=1e-3)
    assert np.isfinite(verdicts.ends).any()


def play() -> None:
    """Play some steps against a network."""
    games = DistrictNoirVectorEnv(num_envs=2, opponent="apprentice")
    _, infos = games.reset(seed=1)
    games.step(infos["action_mask"].argmax(axis=1))


@pytest.mark.parametrize("compute", [rate, play])
def test_what_the_arena_computes_uses_one_thread(
    library: Library, monkeypatch: pytest.MonkeyPatch, compute: Callable[[], None]
) -> None:
    """In every product and decomposition that goes through numpy's functions."""
    counts = []

    def spy(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **keys: Any) -> Any:
            counts.append(library.count)
            return function(*given, **keys)

        return call

    for name in ("inv", "cholesky", "solve", "slogdet", "eigh", "lstsq"):
        monkeypatch.setattr(np.linalg, name, spy(getattr(np.linalg, name)))
    monkeypatch.setattr("bots.apprentice.np.floor", spy(np.floor))
    compute()
    assert {*counts} == {1}
    assert library.count == 8
