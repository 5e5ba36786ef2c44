"""After kill -9 of `arena check` nothing goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.runs.test_resume import left_over
from tests.runs.test_rogues import is_dead
from tests.waiting import until


@pytest.mark.slow
def test_an_inspector_that_was_stopped_ends_with_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot may stop it, where there are no namespaces; it reads no end of its input then."""
    for name in ("TMPDIR", "PYTEST_CUP"):
        monkeypatch.setenv(name, str(tmp_path))
    check = subprocess.Popen(
        [sys.executable, "-m", "arena", "check", "greedy", "--lane", "process"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: any(map(is_inspector, left_over(tmp_path))))
        (inspector,) = filter(is_inspector, left_over(tmp_path))
        until(lambda: inspector.children() != [])
        inspector.suspend()
        check.kill()
        check.wait()
        until(lambda: is_dead(inspector))
        until(lambda: left_over(tmp_path) == [])
    finally:
        for process in left_over(tmp_path):
            with suppress(psutil.Error):
                os.kill(process.pid, signal.SIGKILL)


def is_inspector(process: psutil.Process) -> bool:
    """Return whether a process is the one that inspects a bot."""
    with suppress(psutil.Error):
        return any("inspector" in word for word in process.cmdline())
    return False
