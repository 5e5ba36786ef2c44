"""Lock: a file or folder belongs to a process as long as this lives, whatever ends it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def lock_file(path: Path) -> int:
    """Return a descriptor that locks a file or folder until it is closed.

    Raises BlockingIOError if it is locked, and OSError where the file system has no locks.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
