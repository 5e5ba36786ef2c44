"""Programs: what one prints that may be missing, broken or hang."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Literal, NamedTuple

PATIENCE = 10.0  # seconds


class Reply(NamedTuple):
    """The first line that a program printed, or with a fault what went wrong with it."""

    line: str
    fault: Literal["", "failed", "hung", "broken"] = ""


def ask(words: Sequence[str], patience: float = PATIENCE) -> Reply:
    """Run a program and return the first line it prints, or its last complaint if it failed.

    It runs in the root folder, where no project's settings change what it prints. When its
    time is over it is killed with all it has started.
    """
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=os.sep,
            errors="replace",
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Reply(f"cannot be run: {error}", "broken")
    try:
        out, err = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        return Reply(f"no answer within {patience:g} s", "hung")
    finally:
        _end(process)
    return _reply(process.returncode, _lines(out), _lines(err))


def _reply(status: int, out: list[str], err: list[str]) -> Reply:
    if status:
        printed = err or out
        return Reply(f"exit status {status}" + (f": {printed[-1]}" if printed else ""), "failed")
    return Reply((out or err or ["prints nothing"])[0])


def _lines(text: str) -> list[str]:
    """Return the lines that are not empty."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a program that has not ended, and do not wait long for it."""
    if process.returncode is None:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()
