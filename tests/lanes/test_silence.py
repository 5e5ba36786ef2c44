"""What the system shows of a program that will never answer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arena.lanes.meter import has_closed, wait_for_input
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


def test_an_output_that_is_closed_is_seen() -> None:
    """While the process goes on."""
    with program("os.close(1); time.sleep(99)") as (process, pipe):
        until(lambda: has_closed([process.pid], pipe))
    with program("os.close(2); os.write(1, b'x'); time.sleep(99)") as (process, pipe):
        assert process.stdout is not None
        process.stdout.read(1)
        assert not has_closed([process.pid], pipe)


def test_a_process_that_has_ended_has_not_closed_its_output() -> None:
    """How it has ended says more."""
    with program("os._exit(3)") as (process, pipe):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not has_closed([process.pid], pipe)


def test_one_that_waits_for_input_is_seen() -> None:
    """One that works or sleeps does not wait for it."""
    with program("os.read(0, 1)") as (process, _):
        until(lambda: wait_for_input([process.pid]))
    with program("os.write(1, b'x'); time.sleep(99)") as (process, _):
        assert process.stdout is not None
        process.stdout.read(1)
        assert not wait_for_input([process.pid])
