"""Pause: the processes of a bot are stopped while another bot is asked."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from time import perf_counter

import psutil

from arena.lanes.memory_use import find_below

_MOST = 2  # times that processes are stopped before they go on
_EXIT_PATIENCE = 2.0  # seconds from the end of a process's output to its own


class Pause:
    """Stops a process and all below it, so that they can do nothing to another bot."""

    def __init__(self) -> None:
        self._times = 0

    @property
    def is_on(self) -> bool:
        """Whether they have been stopped, and do not go on yet."""
        return self._times > 0

    def begin(self, pid: int) -> None:
        """Stop the processes; a second call stops those that were started during the first."""
        if self._times < _MOST:
            self._times += 1
            _signal_all(pid, signal.SIGSTOP)

    def end(self, pid: int) -> None:
        """Let them go on."""
        if self._times:
            self._times = 0
            _signal_all(pid, signal.SIGCONT)


def _signal_all(pid: int, number: int) -> None:
    for one in (pid, *find_below(pid)):
        with suppress(OSError):
            os.kill(one, number)


def ended_while_stopped(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has ended; one that was killed is not stopped any more."""
    end = perf_counter() + _EXIT_PATIENCE
    while process.poll() is None and perf_counter() < end:
        with suppress(psutil.Error):
            if psutil.Process(process.pid).status() == psutil.STATUS_STOPPED:
                return False
    return process.returncode is not None
