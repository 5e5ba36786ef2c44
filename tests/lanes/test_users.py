"""Each jail has a user of its own as long as it lives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.errors import Exhausted
from arena.lanes.bubblewrap import User, free_user
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Limits
from tests.runs.test_rogues import needs_jail
from tests.users import IS_ROOT

FEW = (3_000_000_000, 6)
"""The first number and the count of a container with few users, of which jails have three."""
ELSEWHERE = (
    "import sys; from arena.lanes.bubblewrap import free_user; "
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
