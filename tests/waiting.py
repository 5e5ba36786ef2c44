"""Wait for events and not for a time, so that a busy machine changes no test."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 600.0  # seconds: the limit for an event that never happens

T = TypeVar("T")


def until(condition: Callable[[], T]) -> T:
    """Return the first true value of a condition, which is called repeatedly."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, "it never happens"
        time.sleep(0.02)
    return value
