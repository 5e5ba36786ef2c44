"""One thread for the arena's own matrices, and as many workers as there are cores to use.

The matrices are small: further threads would only wait.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that limit numpy's libraries to one thread, if they are set before its import."""

_QUOTAS = {"": ["cpu.max"], "cpu": ["cpu.cfs_quota_us", "cpu.cfs_period_us"]}  # version 2, and 1
_LOCK = Lock()
_limits: list[Any] = []
"""An item for each block that runs now. That of the first block restores the number of threads."""


@cache
def _libraries() -> Any:
    """Return the libraries of matrices that this process has loaded; a search takes 20 ms."""
    import numpy  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let numpy's matrices use one thread in a block or function, and then as many as before.

    Blocks may be nested, and run in several threads: the last one that ends restores the number.
    It takes 0.1 ms, and 9 ms more once, but for a command, which has set THREADS.

    >>> import numpy as np
    >>> with one_thread():
    ...     float(np.linalg.det(np.eye(2)))
    1.0
    """
    if all(os.environ.get(name) == "1" for name in THREADS):
        yield
        return
    with _LOCK:
        _limits.append(None if _limits else _libraries().limit(limits=1))
    try:
        yield
    finally:
        with _LOCK:
            first = _limits[0]
            _limits.pop()
            if not _limits:
                first.restore_original_limits()


def machine_cores() -> int:
    """Return the number of cores of this machine, whoever may use them."""
    return os.cpu_count() or 1


def count_cores(proc: Path = Path("/proc/self")) -> int:
    """Return how many cores this process may use: the default number of workers and of checks.

    They are those of its affinity, and no more than the quotas of its control groups keep busy.
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # macOS, for one, has no affinity
        cores = machine_cores()
    with suppress(OSError, ValueError):
        own, mounts = ((proc / name).read_text() for name in ("cgroup", "mountinfo"))
        cores = min([cores, *_quotas(own, mounts)])
    return max(1, cores)


def _quotas(own: str, mounts: str) -> Iterator[int]:
    """Yield the quota of each group around a process, in whole cores, rounded up."""
    for controller, names in _QUOTAS.items():
        group = locate(own, mounts, controller)
        for folder in (group, *group.parents) if group else ():
            with suppress(OSError, ValueError):  # it sets none, or is above all groups
                texts = [(folder / name).read_text() for name in names]
                quota, period = map(int, " ".join(texts).split())
                if quota > 0 < period:
                    yield -(-quota // period)


def locate(own: str, mounts: str, controller: str = "") -> Path | None:
    """Return the folder of a process's group, read from /proc/PID/cgroup and mountinfo.

    With a `controller` it is that of version 1.

    >>> locate("4:pids:/x\\n0::/a/b", "41 31 0:38 /a /sys/fs/cgroup rw - cgroup2 c rw").as_posix()
    '/sys/fs/cgroup/b'
    """
    groups = [line.split(":", 2) for line in own.splitlines()]
    paths = [path for _, names, path in groups if controller in names.split(",")]
    for line in mounts.splitlines():
        fields, _, kind = line.partition(" - ")
        name, _, options = kind.partition(" ")
        is_other = name != ("cgroup" if controller else "cgroup2")
        if not paths or is_other or controller not in ["", *options.split(",")]:
            continue
        root, place = fields.split()[3:5]
        path = Path(paths[0])
        if path.is_relative_to(root) and ".." not in path.parts:
            return Path(place, path.relative_to(root))
    return None
