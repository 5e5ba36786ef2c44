"""Control groups hold and measure a bot's processes where there are any, and fail nowhere.

What this machine's kernel cannot do is tested with a stand-in, a tree of files that follows
the rules of the kernel. The tests of the kernel itself need the right to make groups.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.lanes import cgroup, hierarchy, holds
from arena.lanes.cgroup import RUN, Group, groups_of_run, make_group, try_group
from arena.lanes.cleanup import remove_folder
from arena.lanes.faults import Forfeit
from arena.lanes.hierarchy import find_base, locate
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Allowed, Limits
from arena.lanes.meter import Meter
from arena.lanes.process import bot_process
from arena.lanes.scratch import scratch_folder
from engine import STANDARD
from tests import asking, rogues
from tests.runs.test_rogues import needs_jail
from tests.waiting import until

MOUNT = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"
HYBRID = (
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)
FILES = ("cgroup.procs", "cgroup.kill", "cgroup.subtree_control", "cpu.stat")
LIMITS = {"memory": ("memory.max", "memory.swap.max", "memory.oom.group"), "pids": ("pids.max",)}
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
    "cpu" not in try_group(), reason="this user can make no control groups here"
)


class Kernel:
    """Stands for the kernel: keeps the files of groups below a folder, which is the root group."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self._mkdir, self._rmdir = Path.mkdir, Path.rmdir
        self.make(root)
        (root / "cgroup.controllers").write_text("cpu memory pids\n")
        monkeypatch.setattr(Path, "mkdir", lambda path, **_: self.make(path))
        monkeypatch.setattr(Path, "rmdir", lambda path: self.remove(path))
        for module in (hierarchy, cgroup):
            monkeypatch.setattr(module, "write", self.write)

    def make(self, group: Path) -> None:
        self._mkdir(group)
        for name in FILES:
            (group / name).touch()
        self.enable(group, hierarchy.read(group.parent / "cgroup.subtree_control"))

    def enable(self, group: Path, controllers: list[str]) -> None:
        for controller in controllers:
            for name in LIMITS[controller]:
                (group / name).touch()
        (group / "cgroup.controllers").write_text(" ".join(controllers))

    def remove(self, group: Path) -> None:
        if not hierarchy.read(group / "cgroup.procs"):
            for path in group.iterdir():
                if path.is_file():
                    path.unlink()
        self._rmdir(group)

    def write(self, path: Path, text: str) -> None:
        if not path.exists():
            return
        if path.name == "cgroup.subtree_control":
            busy = path.parent != self.root and hierarchy.read(path.parent / "cgroup.procs")
            names = {*hierarchy.read(path), text.removeprefix("+")}
            text = path.read_text() if busy else " ".join(sorted(names))
            for group in groups(path.parent):
                self.enable(path.parent / group, text.split())
        if path.name == "cgroup.procs":
            for group in self.root.rglob("cgroup.procs"):
                group.write_text(" ".join({*hierarchy.read(group)} - {text}))
            text = " ".join([*hierarchy.read(path), text])
        path.write_text(text)

    def has(self, group: Path, *pids: int) -> None:
        """Let a group have these processes."""
        (group / "cgroup.procs").write_text(" ".join(map(str, pids)))


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """Return a kernel in whose root group this process is."""
    made = Kernel(tmp_path / "root", monkeypatch)
    for module in (cgroup, holds):
        monkeypatch.setattr(module, "find_base", lambda: made.root)
    return made


@pytest.fixture
def scope(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a group in which this process is alone, with limits above it."""
    group = kernel.root / "scope"
    kernel.write(kernel.root / "cgroup.subtree_control", "+memory")
    kernel.write(kernel.root / "cgroup.subtree_control", "+pids")
    group.mkdir()
    kernel.has(group, os.getpid())
    monkeypatch.setattr(cgroup, "find_base", lambda: group)
    return group


def groups(below: Path) -> list[str]:
    return sorted(path.name for path in below.iterdir() if path.is_dir())


def written(group: Group) -> dict[str, str]:
    """Return the limits of a group."""
    assert group.folder
    names = [name for names in LIMITS.values() for name in names]
    return {name: (group.folder / name).read_text() for name in names}


def written_at_all(group: Group) -> bool:
    """Return whether a group has limits."""
    return bool(group.folder and (group.folder / "memory.max").exists())


def test_a_group_limits_memory_and_processes_together(kernel: Kernel) -> None:
    """With 16 MB for the jail and the kernel, none of it swapped; the whole group ends together."""
    with groups_of_run(NAME):
        group = make_group(Path("/tmp", NAME, "worker", "bot"), 256, 35)
        assert written(group) == {
            "memory.max": str(272 << 20),
            "memory.swap.max": "0",
            "memory.oom.group": "1",
            "pids.max": "35",
        }
        group.remove()
        group.remove()
        assert make_group(Path("/tmp/elsewhere"), 256, 35) == Group()
    assert groups(kernel.root) == []


def test_in_a_scope_of_its_own_the_arena_makes_room(kernel: Kernel, scope: Path) -> None:
    """A group with limits below it can have no processes; so they move, and are found there."""
    with groups_of_run(NAME):
        assert groups(scope) == ["district-noir", GROUP]
        assert hierarchy.read(scope / "district-noir/cgroup.procs") == [str(os.getpid())]
        assert written(make_group(Path(NAME), 1, 1))["pids.max"] == "1"
    assert locate("0::/scope/district-noir\n", MOUNT) == locate("0::/scope\n", MOUNT)
    kernel.has(scope / "district-noir")


def test_a_program_that_calls_the_arena_is_not_moved(scope: Path) -> None:
    """Nor are the settings of its group changed; its bots are only measured."""
    before = {path: path.read_text() for path in scope.iterdir()}
    with groups_of_run(NAME, is_own_program=False):
        assert not written_at_all(make_group(Path(NAME), 1, 1))
        assert {path: path.read_text() for path in scope.iterdir() if path.is_file()} == before


def test_in_a_scope_with_others_nobody_is_moved(kernel: Kernel, scope: Path) -> None:
    """Then the group only measures, and nothing is left."""
    kernel.has(scope, os.getpid(), os.getppid())
    with groups_of_run(NAME):
        group = make_group(Path(NAME), 1, 1)
        assert group.folder
        assert not (group.folder / "memory.max").exists()
        assert groups(scope) == [GROUP]
    assert groups(scope) == []


def test_where_limits_are_refused_all_move_back(
    scope: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left of the attempt."""
    write = cgroup.write
    refused = "cgroup.subtree_control"
    monkeypatch.setattr(hierarchy, "write", lambda p, t: p.name == refused or write(p, t))
    with groups_of_run(NAME):
        assert groups(scope) == [GROUP]
        assert hierarchy.read(scope / "cgroup.procs") == [str(os.getpid())]


def test_groups_of_others_are_left_alone(kernel: Kernel) -> None:
    """Whatever their names; that of a killed run goes with its folder."""
    for name in ("killed", "arena", "friday"):
        (kernel.root / f"noir-arena-{RUN}{name}").mkdir()
    before = groups(kernel.root)
    with groups_of_run(NAME):
        assert groups(kernel.root) == sorted([*before, GROUP])
    assert groups(kernel.root) == before
    cgroup.remove_groups(f"{RUN}killed")
    assert groups(kernel.root) == sorted({*before} - {f"noir-arena-{RUN}killed"})


@pytest.mark.parametrize("base", [None, Path("/proc"), Path("/nowhere/at/all")])
def test_without_groups_everything_else_works(
    base: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group without a folder does nothing."""
    monkeypatch.setattr(cgroup, "find_base", lambda: base)
    with groups_of_run(NAME):
        group = make_group(Path("/tmp", NAME), 1, 1)
    assert (group, group.joining, group.used()) == (Group(), (), 0.0)
    group.kill()
    group.remove()
    assert try_group() == set()


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max 4\noom 1\noom_kill 2\n", True),
        ("max 0\noom 0\noom_kill 2\n", False),  # the machine has no memory left
        ("max 4\noom 3\noom_kill 0\n", False),
        ("", False),
    ],
)
def test_only_the_groups_own_limit_is_a_lack_of_memory(
    tmp_path: Path, text: str, expected: bool
) -> None:
    """Whoever the kernel kills for others is not at fault."""
    (tmp_path / "memory.events").write_text(text)
    assert Group(tmp_path).lacked_memory() is expected
    assert Group().lacked_memory() is False


def test_a_process_killed_for_its_memory_has_that_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no crash, which could come from outside."""
    monkeypatch.setattr(Group, "lacked_memory", lambda _: True)
    entry = rogues.rogue("kills_itself", "process")
    with bot_process(entry, STANDARD, Limits(memory=256), tmp_path) as process:
        process.start()
        process.ask([asking.new()], Allowed())
        (answer,), _ = process.ask([asking.choose()], Allowed())
    assert isinstance(answer, Forfeit)
    assert answer.fault.message == "its processes use more than 256 MB together"
    assert (answer.fault.kind, answer.ended) == ("memory", "")


@needs_jail
def test_the_doctor_says_what_groups_do(monkeypatch: pytest.MonkeyPatch, kernel: Kernel) -> None:
    """And how to get what they could do."""
    monkeypatch.setattr(holds, "try_group", lambda: {"cpu", "memory", "pids"})
    found = holds.describe_holds()
    assert found["memory held by"] == "a control group"
    assert found["processes"] == "held by a control group"
    assert "a control group for each bot" in holds.describe_clock()
    monkeypatch.setattr(holds, "try_group", set)
    assert "control group" not in holds.describe_holds()["memory held by"]
    assert "unseen" in holds.describe_clock()
    monkeypatch.setattr(holds, "find_base", lambda: kernel.root / "scope")
    assert "-p Delegate=yes" in holds.describe_holds()["memory held by"]


@pytest.fixture
def group() -> Iterator[Group]:
    """Yield a group of the kernel itself, and see that nothing is left of it."""
    with groups_of_run(NAME):
        made = make_group(Path(NAME), 256, 35)
        yield made
        made.remove()
        assert made.folder
        assert not made.folder.exists()
    assert not made.folder.parent.exists()


@needs_groups
def test_what_leaves_the_family_is_measured_and_killed(group: Group) -> None:
    """A process whose parent has ended, in a session of its own."""
    process = subprocess.Popen([*group.joining, sys.executable, "-c", LEAVES])
    whole = Meter(process.pid, used=group.used)
    until(lambda: whole.look() >= 0.3)
    assert group.folder
    members = hierarchy.read(group.folder / "cgroup.procs")
    assert str(process.pid) in members
    assert len(members) == 2
    group.kill()
    assert process.wait() == -signal.SIGKILL
    until(lambda: hierarchy.read(group.folder / "cgroup.procs") == [])  # type: ignore[operator]


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
                assert str(process.pid) in hierarchy.read(run / name / "cgroup.procs")
                process.kill()
                assert groups(run) == []
    assert not run.exists()


@needs_groups
def test_with_its_folder_a_run_loses_its_groups_and_all_in_them() -> None:
    """As when the fork server cleans up behind a run that was killed."""
    with scratch_folder() as folder:
        group = make_group(folder / "bot", 256, 35)
        process = subprocess.Popen([*group.joining, "sleep", "600"])
        until(lambda: group.used() > 0)
        remove_folder(folder)
        assert process.wait() == -signal.SIGKILL
        assert group.folder
        assert not group.folder.parent.exists()
