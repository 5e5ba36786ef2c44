"""Orphans: processes whose own parent has ended come to this process, and go with it.

A bot can hide a process of its own from whoever looks for it; it cannot choose who adopts it.
"""

from __future__ import annotations

import sys

import psutil

from arena.lanes.process import kill_all

_PR_SET_CHILD_SUBREAPER = 36

_adopting = False


def adopt() -> None:
    """Become the parent of every process below this one whose own parent ends (Linux)."""
    global _adopting
    if sys.platform == "linux":
        import ctypes

        _adopting = ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1) == 0


def children() -> set[psutil.Process]:
    """Return the processes that this one has started or adopted."""
    return set(psutil.Process().children())


def kill(but: set[psutil.Process]) -> None:
    """Kill those that have been adopted, and all below them, but not these and theirs."""
    while _adopting and (found := children() - but):
        spared = {*but, *(below for process in but for below in _below(process))}
        kill_all([process for process in _below(psutil.Process()) if process not in spared])
        psutil.wait_procs(found, timeout=1)


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children(recursive=True))
    except psutil.Error:
        return []
