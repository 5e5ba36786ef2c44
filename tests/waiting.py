"""Waiting for what happens, and not for so many seconds: a busy machine changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 600.0  # seconds: the last resort where something never happens

T = TypeVar("T")


def until(condition: Callable[[], T]) -> T:
    """Return the first true value of a condition, asked again and again."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, "it never happens"
        time.sleep(0.02)
    return value
