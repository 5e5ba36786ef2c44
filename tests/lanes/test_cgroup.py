"""Control groups measure and end a bot's processes where there are any, and fail nowhere.

The tests of the kernel itself need the right to make groups.
"""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.lanes import cleanup
from arena.lanes.cleanup import (
    RUN,
    Group,
    count_cores,
    find_base,
    groups_of_run,
    locate,
    machine_cores,
    make_group,
    remove_folder,
)
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Limits
from arena.lanes.meter import Meter
from arena.lanes.process import bot_process
from arena.lanes.scratch import scratch_folder
from engine import STANDARD
from tests import ROOT
from tests.runs.test_rogues import has_groups, needs_jail
from tests.waiting import until

MOUNT = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"
HYBRID = (
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)
NAME = f"{RUN}test-{os.getpid()}"
GROUP = f"noir-arena-{NAME}"
LEAVES = (
    "import os, time\n"
    "if os.fork(): time.sleep(600)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "while time.process_time() < 0.3: pass\n"
    "time.sleep(600)\n"
)

needs_groups = pytest.mark.skipif(
    not has_groups(), reason="this user can make no control groups here"
)


def groups(below: Path) -> list[str]:
    return sorted(path.name for path in below.iterdir() if path.is_dir())


def members(group: Path) -> list[str]:
    return (group / "cgroup.procs").read_text().split()


def test_groups_of_others_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their names; that of a killed run goes with its folder."""
    monkeypatch.setattr(cleanup, "find_base", lambda: tmp_path)
    for name in ("killed", "arena", "friday"):
        (tmp_path / f"noir-arena-{RUN}{name}").mkdir()
    before = groups(tmp_path)
    with groups_of_run(NAME):
        assert groups(tmp_path) == sorted([*before, GROUP])
    assert groups(tmp_path) == before
    cleanup.remove_groups(f"{RUN}killed")
    assert groups(tmp_path) == sorted({*before} - {f"noir-arena-{RUN}killed"})


@pytest.mark.parametrize("base", [None, Path("/proc"), Path("/nowhere/at/all")])
def test_without_groups_everything_else_works(
    base: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group without a folder does nothing."""
    monkeypatch.setattr(cleanup, "find_base", lambda: base)
    with groups_of_run(NAME):
        group = make_group(Path("/tmp", NAME))
    assert (group, group.joining, group.used()) == (Group(), (), 0.0)
    group.kill()
    group.remove()
    assert not has_groups()


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
from arena.cli.machine import examine_cores
from arena.executors.local import open_executor
from arena.tournament.keys import Venue
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
    owner = "arena/lanes/cleanup.py"
    assert found == {
        (owner, "cpu_count"),
        (owner, "sched_getaffinity"),
        ("bench/peers.py", "sched_getaffinity"),  # to choose one of them
    }


def files_of(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


@pytest.fixture
def group() -> Iterator[Group]:
    """Yield a group of the kernel itself, and see that nothing is left of it."""
    with groups_of_run(NAME):
        made = make_group(Path(NAME))
        yield made
        made.remove()
        assert made.folder
        assert not made.folder.exists()
    assert not made.folder.parent.exists()


@needs_groups
def test_what_leaves_the_family_is_measured_and_killed(group: Group) -> None:
    """A process whose parent has ended, in a session of its own."""
    process = subprocess.Popen([*group.joining, sys.executable, "-c", LEAVES])
    for jailed in (True, False):
        whole = Meter(process.pid, used=group.used, jailed=jailed)
        until(lambda: whole.look() >= 0.3)  # noqa: B023
    assert group.folder
    found = members(group.folder)
    assert str(process.pid) in found
    assert len(found) == 2
    group.kill()
    assert process.wait() == -signal.SIGKILL
    until(lambda: members(group.folder) == [])  # type: ignore[operator]


@needs_groups
def test_a_process_that_cannot_join_runs_all_the_same(group: Group) -> None:
    """Nothing is printed about it."""
    group.remove()
    words = [*group.joining, "echo", "one  word", "two"]
    done = subprocess.run(words, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"one  word two\n", b"")


@needs_groups
@needs_jail
def test_a_jailed_bot_sees_no_groups(group: Group, tmp_path: Path) -> None:
    """Its own group is the root of those that it could name."""
    entry = resolve("cmd:sh -c 'cat /proc/self/cgroup; ls /sys'", lane="jail")
    process = plan_launch(entry, Limits(), tmp_path).popen(group.joining)
    out, errors = process.communicate()
    assert b"0::/\n" in out
    assert b"/sys" in errors
    assert group.used() > 0


@needs_groups
def test_each_process_of_a_bot_has_a_group_as_long_as_it_runs() -> None:
    """It is below that of the run, which has the name of the run's folder."""
    with scratch_folder() as folder:
        base = find_base()
        assert base
        run = base / f"noir-arena-{folder.name}"
        (folder / "bot").mkdir()
        entry = resolve("greedy", lane="process")
        with bot_process(entry, STANDARD, Limits(), folder / "bot") as process:
            for _ in range(2):
                process.start()
                (name,) = groups(run)
                assert str(process.pid) in members(run / name)
                process.kill()
                assert groups(run) == []
    assert not run.exists()


@needs_groups
def test_with_its_folder_a_run_loses_its_groups_and_all_in_them() -> None:
    """As when the fork server cleans up behind a run that was killed."""
    with scratch_folder() as folder:
        group = make_group(folder / "bot")
        process = subprocess.Popen([*group.joining, "sleep", "600"])
        until(lambda: group.used() > 0)
        remove_folder(folder)
        assert process.wait() == -signal.SIGKILL
        assert group.folder
        assert not group.folder.parent.exists()


def test_where_a_group_cannot_be_made_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on without it: its group may be full, or gone."""
    monkeypatch.setattr(cleanup, "_run_of", lambda _: tmp_path / "gone")
    assert make_group(Path("/tmp", NAME)) == Group()
