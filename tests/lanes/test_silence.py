"""What the system shows of a program that will never answer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.lanes.limits import Limits
from arena.lanes.meter import CLOSED, WAITS, find_silence
from arena.lanes.process import bot_process
from arena.processes import read_status
from engine import STANDARD
from tests.waiting import until

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="needs Linux")


@contextmanager
def program(code: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Yield a process that runs this code, and the inode of its output."""
    words = [sys.executable, "-I", "-S", "-c", f"import os, time\n{code}"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield process, os.fstat(process.stdout.fileno()).st_ino
        finally:
            process.kill()


def said(process: subprocess.Popen[bytes], pipe: int, *, is_read: bool = True) -> str:
    return find_silence(lambda: [process.pid], pipe, is_read=is_read)


def test_an_output_that_is_closed_is_seen() -> None:
    """While the process goes on."""
    with program("os.close(1); time.sleep(99)") as (process, pipe):
        until(lambda: said(process, pipe) == CLOSED)
    with program("os.close(2); os.write(1, b'x'); time.sleep(99)") as (process, pipe):
        assert process.stdout is not None
        process.stdout.read(1)
        assert said(process, pipe) == ""


def test_of_a_process_that_has_ended_nothing_is_said() -> None:
    """How it has ended says more."""
    with program("os._exit(3)") as (process, pipe):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert said(process, pipe) == ""


def test_one_that_waits_for_input_is_seen() -> None:
    """Not if it has not read all, or if a thread has run while it was looked at."""
    with program("os.read(0, 1); os.read(0, 1)") as (process, pipe):
        until(lambda: said(process, pipe) == WAITS)
        assert said(process, pipe, is_read=False) == ""

        def own() -> list[int]:
            if next(looks):
                before = read_status(process.pid)
                os.write(process.stdin.fileno(), b"x")  # type: ignore[union-attr]
                until(lambda: read_status(process.pid) != before)
            return [process.pid]

        looks = iter([False, True])
        assert find_silence(own, pipe, is_read=True) == ""
        until(lambda: said(process, pipe) == WAITS)


FORKING = """#!/bin/sh
read -r hello
for n in $(seq 200); do found=$(true | cat); done
echo '{"id": 0, "ready": true}'
"""
"""Nearly always one of its processes waits for another that has just begun or ended."""


@pytest.mark.slow
def test_a_program_that_starts_others_is_not_taken_for_one_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is looked at, and in whatever order its processes are."""
    monkeypatch.setattr("arena.lanes.process._TICK", 0.0)
    (tmp_path / "forking.sh").write_text(FORKING)
    entry = resolve(f"cmd:sh {tmp_path}/forking.sh", lane="process")
    (tmp_path / "own").mkdir()
    limits = Limits(decision=60.0, start=60.0)
    with bot_process(entry, STANDARD, limits, tmp_path / "own") as process:
        process.start()
