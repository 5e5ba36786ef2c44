"""Each jail has a user and a folder of its own, and what two jails can tell each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.errors import Exhausted
from arena.lanes.faults import Forfeit
from arena.lanes.jail_support import User, find_pid_namespaces, free_user
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Allowed, Limits
from arena.lanes.process import bot_process
from arena.lanes.temp_and_cache_folders import scratch_folder
from bench.studies.telling import bits
from engine import STANDARD
from tests import asking
from tests.lanes.escapes import play_pair
from tests.lanes.telling import BITS, WIDTHS, measure
from tests.rogues import FOLDER, spec, write
from tests.runs.test_rogues import needs_jail
from tests.tiers import few
from tests.users import IS_ROOT, USERS, run_python

FEW = (3_000_000_000, 6)
"""The first number and the count of a container with few users, of which jails have three."""
ELSEWHERE = (
    "import sys; from arena.lanes.jail_support import free_user; "
    f"user = free_user(*{FEW}); print(user.number, flush=True); sys.stdin.read()"
)


def test_no_two_processes_have_the_same_user(tmp_path: Path) -> None:
    """Also where there are few, and each has a folder of its own for temporary files."""
    others = [
        subprocess.Popen(
            [sys.executable, "-c", ELSEWHERE],
            env={"TMPDIR": str(tmp_path / str(number))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(2)
    ]
    with others[0], others[1]:
        found = {int(other.stdout.readline()) for other in others if other.stdout}
        user = free_user(*FEW)
        assert found | {user.number} == {3_000_000_003, 3_000_000_004, 3_000_000_005}
        with pytest.raises(Exhausted, match="no user is free"):
            free_user(*FEW)
        for other in others:
            other.kill()
            other.wait()
        assert {free_user(*FEW).number} < found  # the name of one that was killed is free again
    user.close()


@pytest.mark.slow
@needs_jail
@pytest.mark.skipif(not IS_ROOT, reason="only root's jails have users of their own")
def test_a_user_is_held_as_long_as_the_jail(tmp_path: Path) -> None:
    """It is free when the launch is closed."""
    launch = plan_launch(resolve("greedy", lane="jail"), Limits(), tmp_path)
    number = launch.user.number
    with pytest.raises(OSError, match="in use"):
        User(number)
    launch.close()
    User(number).close()


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


HONEST, FIRST = f"honest={FOLDER / 'notes.py'}", f"rogue={FOLDER / 'first.py'}"
needs_namespaces = pytest.mark.skipif(
    find_pid_namespaces() is None and "CI" not in os.environ, reason="no pid namespaces"
)
FRAMING = [
    # the user, the rogue, workers; the last differ little
    *[(user, "frames", 1) for user in USERS],
    *[(user, "frames", 2) for user in USERS],
    *[(user, "frames_by_workers", 1) for user in USERS],
]


@pytest.mark.slow
@needs_namespaces
@pytest.mark.parametrize(("user", "rogue", "workers"), few(FRAMING, 1, 2, unpack=True))
def test_who_removes_the_folders_of_others_frames_nobody(
    tmp_path: Path, user: str, rogue: str, workers: int
) -> None:
    """It does not see them; without bubblewrap the lane process promises nothing of the kind."""
    words = ["framed", str(workers), f"rogue={spec(rogue)}", HONEST]
    done = run_python(user, tmp_path, "-m", "tests.lanes.escapes", *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["games"] == json.loads(json.dumps(play_pair(1, [FIRST, HONEST])))["games"]


CAP_SYS_ADMIN = 21


@needs_namespaces
@pytest.mark.skipif(not IS_ROOT, reason="only root's bots have rights of root")
def test_a_bot_of_root_cannot_mount_in_a_process(tmp_path: Path) -> None:
    """It has root's other rights there."""
    body = (
        "status = open('/proc/self/status').read()\n"
        "raise ValueError(status.partition('CapEff:')[2].split()[0])"
    )
    entry = resolve(str(write(tmp_path, "rogue", body)), lane="process")
    with (
        scratch_folder() as folder,
        bot_process(entry, STANDARD, Limits(), folder / "bot-0") as process,
    ):
        process.start()
        (_, answer), _ = process.ask([asking.new(), asking.choose()], Allowed())
    assert isinstance(answer, Forfeit)
    rights = int(answer.fault.message.removeprefix("ValueError: "), 16)
    assert rights >> CAP_SYS_ADMIN & 1 == 0
    assert rights != 0
