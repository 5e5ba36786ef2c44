"""Each jail has a user and a folder of its own, and what two jails can tell each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.entries.resolve import resolve
from arena.errors import Exhausted
from arena.executors.worker import Worker
from arena.lanes.jail_support import User, find_pid_namespaces, free_user
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Limits
from arena.lanes.scratch import empty_folder, scratch_folder
from arena.tournament.plan import Chunk
from arena.tournament.tournament import Tournament
from bench.studies.telling import bits
from tests.lanes.framed import RULES, play
from tests.lanes.telling import BITS, WIDTHS, measure
from tests.rogues import FOLDER, spec, write
from tests.runs.test_rogues import needs_jail
from tests.tiers import few
from tests.users import IS_ROOT, USERS, run_python, start_python
from tests.waiting import PATIENCE

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


def test_no_two_jails_of_a_worker_have_the_same_user() -> None:
    """They would share one limit of processes."""
    users = [free_user() for _ in range(200)]
    assert len({user.number for user in users}) == 200
    with pytest.raises(OSError, match="in use"):
        User(users[0].number)


@pytest.mark.slow
@needs_jail
@pytest.mark.skipif(not IS_ROOT, reason="only root's jails have users of their own")
def test_a_user_is_held_as_long_as_the_jail(tmp_path: Path) -> None:
    """It is free when the launch is closed."""
    launch = plan_launch(resolve("greedy", lane="jail"), Limits(), tmp_path)
    assert launch.user
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
CAP_SYS_ADMIN = 21
HAS_BUBBLEWRAP = find_pid_namespaces() is not None or "CI" in os.environ
CASES = [
    # the user, the rogue, workers; the last differ little
    *[(user, "frames", 1) for user in USERS],
    *[(user, "frames", 2) for user in USERS],
    *[(user, "frames_by_workers", 1) for user in USERS],
]


def played(user: str, folder: Path, rogue: str, workers: int = 1) -> dict[str, Any]:
    """Return the games and the faults of a bot and an honest one, run as a user."""
    words = ["-m", "tests.lanes.framed", str(workers), f"rogue={rogue}", HONEST]
    with start_python(user, folder, *words) as process:
        out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.mark.slow
@pytest.mark.skipif(not HAS_BUBBLEWRAP, reason="no pid namespaces")
@pytest.mark.parametrize(
    ("user", "rogue", "workers"),
    few(CASES, 1, 2, unpack=True),
)
def test_who_removes_the_folders_of_others_frames_nobody(
    tmp_path: Path, user: str, rogue: str, workers: int
) -> None:
    """It does not see them; without bubblewrap the lane process promises nothing of the kind."""
    found = played(user, tmp_path, spec(rogue), workers)
    assert found["faults"] == []
    assert found["games"] == json.loads(json.dumps(play(1, [FIRST, HONEST])))["games"]


def faults(bots: Sequence[Path], folder: Path) -> list[tuple[int | None, str]]:
    """Return who has won each of two games of these bots that a fault has ended, and the fault."""
    entries = [resolve(str(path), label=path.stem, lane="process") for path in bots]
    tournament = Tournament("test", 0, 1, entries, RULES, Limits())
    folder.mkdir()
    with closing(Worker(tournament, folder)) as worker:
        games = worker.play(Chunk(0, 0, 1)).results
    return [(game.winner, game.fault.message) for game in games if game.fault]


def test_a_folder_is_renewed_whatever_a_bot_has_put_in_its_place(tmp_path: Path) -> None:
    """What a link leads to stays as it is, with its mode."""
    strange = tmp_path / "strange"
    strange.mkdir(0o755)
    (strange / "file").touch()
    folder = tmp_path / "worker" / "bot"
    for spoil in (
        lambda: None,
        lambda: folder.rmdir(),
        lambda: (folder.rmdir(), folder.symlink_to(strange)),
        lambda: (folder / "link").symlink_to(strange),
        lambda: (folder.rmdir(), folder.touch()),
    ):
        spoil()
        empty_folder(folder)
        assert folder.is_dir()
        assert not folder.is_symlink()
        assert list(folder.iterdir()) == []
    assert (strange / "file").exists()
    assert strange.stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(not IS_ROOT, reason="only root's bots have rights of root")
@pytest.mark.skipif(not HAS_BUBBLEWRAP, reason="no pid namespaces")
def test_a_bot_of_root_cannot_mount_in_a_process(tmp_path: Path) -> None:
    """It has root's other rights there."""
    body = (
        "    def choose(self, view, /):\n"
        "        status = open('/proc/self/status').read()\n"
        "        raise ValueError(status.partition('CapEff:')[2].split()[0])"
    )
    bots = [write(tmp_path, "rogue", body), FOLDER / "first.py"]
    with scratch_folder() as folder:
        found = faults(bots, folder / "games")
    rights = {int(message.split()[1], 16) for _, message in found}
    assert [right >> CAP_SYS_ADMIN & 1 for right in rights] == [0]
    assert rights != {0}
