"""Marked: the processes that were started with a folder in their environment."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from arena.lanes.scratch import scratch_folder
from tests.waiting import PATIENCE


def marked(folder: Path) -> list[int]:
    """Return the running processes that have a folder, or one in it, in their environment."""
    return [pid for pid in psutil.pids() if pid != os.getpid() and _is_marked(pid, folder)]


def _is_marked(pid: int, folder: Path) -> bool:
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:  # a dead one has none
        return os.fsencode(folder) in file.read()
    return False


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until a condition is true that takes long to look at."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never happens"
        time.sleep(0.2)


def assert_no_process_is_left(folder: Path) -> None:
    """Wait until no marked process runs; the next run removes what a killed one has left."""
    wait_for(lambda: not marked(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        with scratch_folder():
            pass
    assert not [*folder.iterdir()]


def assert_nothing_is_left(folder: Path) -> None:
    """Wait until no marked process runs, and the folder for temporary files is empty."""
    wait_for(lambda: not [*folder.iterdir()] and not marked(folder))
