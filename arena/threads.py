"""One thread for the arena's own matrices, which are small: further threads would only wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

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
    It takes 0.1 ms.

    >>> import numpy as np
    >>> with one_thread():
    ...     float(np.linalg.det(np.eye(2)))
    1.0
    """
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
