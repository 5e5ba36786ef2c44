"""Check in a separate process whether `ulimit -v` leaves a command enough memory.

Without memory, numpy may exit, hang or send SIGINT, and pyarrow aborts. So if there is such a
limit, the libraries are first imported in a separate process, which may fail.
"""

from __future__ import annotations

import errno
import sys
from typing import Final, NamedTuple

from arena.errors import ArenaError

try:
    import resource  # at once: when memory is short, a later import could fail
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]


class _Need(NamedTuple):
    """Modules a command loads, its threads, and memory in MB: `spare` beside, `least` in all."""

    libraries: str
    code: str
    least: int
    threads: int
    spare: int


_LOAD_TABLES = """
import arena.reports.run_report, arena.differences.comparison
try:
    import pyarrow.csv, pyarrow.parquet
except ModuleNotFoundError:
    pass
"""
_TABLES = _Need("numpy and pandas need", _LOAD_TABLES, least=512, threads=4, spare=192)
_ARRAYS = _Need("numpy needs", "import numpy", least=128, threads=2, spare=160)
NEEDS: Final = {"check": _ARRAYS} | dict.fromkeys(
    (
        "run",
        "play",
        "compare",
        "plan",
        "evaluate",
        "probe",
        "ablate",
        "tune",
        "league",
        "report",
        "worth",
        "analyse",
        "verify",
        "table",
        "sites",
    ),
    _TABLES,
)
"""Needs of the commands that need much more memory than Python itself."""

_OWN = 64  # MB: the arena itself takes 30
_PATIENCE = 60.0  # seconds: a trial that hangs has failed
_SIGNS = ("map segment", "allocate", "start new thread", "without exception set")
_TRY = """
import threading
bytearray({least} << 20)
{code}
end = threading.Event()
try:
    for thread in [threading.Thread(target=end.wait) for _ in range({threads})]:
        thread.start()
    bytearray({spare} << 20)
finally:
    end.set()
"""


def check_memory(command: str) -> None:
    """Raise ArenaError if a limit leaves too little memory for the modules that a command loads."""
    need = NEEDS[command]
    if _find_limit() is None:
        return
    import subprocess

    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _TRY.format(**need._asdict())],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
        failed = done.returncode != 0 and b"ModuleNotFoundError" not in done.stderr
    except (OSError, subprocess.TimeoutExpired):
        failed = True
    if failed:
        raise ArenaError(describe_shortage(f"{need.libraries} more"))


def is_shortage(error: BaseException) -> bool:
    """Return whether an error was caused by a lack of memory.

    Under the smallest limits Python itself can fail with any error, also while it compiles a
    module.
    """
    limit = _find_limit()
    if limit is not None and limit < _OWN << 20:
        return True
    if isinstance(error, ImportError | RuntimeError | SystemError):
        return any(words in str(error) for words in _SIGNS)
    return isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM


def describe_shortage(why: str) -> str:
    """Return the message for a lack of memory, with the limit if there is one."""
    limit = _find_limit()
    if limit is not None:
        why += f"; `ulimit -v` allows {limit >> 20:,} MB: raise it, as with `ulimit -v unlimited`"
    return f"too little memory: {why}"


def _find_limit() -> int | None:
    """Return the limit of this process's memory in bytes, None without a limit."""
    if resource is None:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit
