"""Cores are counted in one place, within the quotas of control groups."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.threads import count_cores, locate, machine_cores
from tests import ROOT

MOUNT = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"
HYBRID = (
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)


@pytest.mark.parametrize(
    ("own", "mounts", "folder"),
    [
        ("0::/\n", MOUNT, "/sys/fs/cgroup"),
        ("4:memory:/x\n0::/a/b\n", HYBRID, "/sys/fs/cgroup/unified/a/b"),
        ("0::/a/b\n", MOUNT.replace(" / ", " /a "), "/sys/fs/cgroup/b"),
        ("0::/c\n", MOUNT.replace(" / ", " /a "), None),
        ("0::/../..\n", MOUNT, None),
        ("4:memory:/x\n", HYBRID, None),
        ("0::/a\n", MOUNT.replace("cgroup2", "cgroup"), None),
        ("", "", None),
    ],
)
def test_the_own_group_is_found(own: str, mounts: str, folder: str | None) -> None:
    """Also beside groups of version 1, and in a container; not outside of what is mounted."""
    assert locate(own, mounts) == (folder and Path(folder))


V1 = "35 31 0:32 / {}/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
V2 = "41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n"
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
from arena.cli.doctor import examine_cores
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


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_a_run_on_one_core_has_one_worker_and_the_same_files(tmp_path: Path) -> None:
    """The number of workers changes no result."""
    pin = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); "
    play = "from arena.cli import main; main()"
    more = ["play", "greedy", "uniform", "--pairs", "2", "--quiet", "--no-repeat", "--out"]
    for folder, code, workers in (("one", pin, []), ("three", "", ["--workers", "3"])):
        words = [sys.executable, "-c", code + play, *more, str(tmp_path / folder), *workers]
        subprocess.run(words, check=True, cwd=ROOT)
    assert "4 games, 1 worker\n" in (tmp_path / "one" / "run.log").read_text()
    assert "4 games, 3 workers\n" in (tmp_path / "three" / "run.log").read_text()
    for name in ("games.csv", "standings.csv", "report.md", "manifest.json"):
        one, three = ((tmp_path / folder / name).read_bytes() for folder in ("one", "three"))
        assert one == three, name


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
