"""Lock: a folder belongs to a process as long as this lives, whatever ends it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def lock_folder(folder: Path) -> int:
    """Return a descriptor that locks the folder until it is closed; raise OSError if locked."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
