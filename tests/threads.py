"""Threads that change places anywhere, as they do in a server that runs for a long time."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

_OFTEN = 50  # new objects between two collections


@contextmanager
def changing_places() -> Iterator[None]:
    """Let another thread go on wherever Python collects garbage, which it does often meanwhile.

    In a long-lived process objects that are collected call code of their own there.
    """

    def give_way(_phase: str, _info: dict[str, int]) -> None:
        time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(_OFTEN)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(give_way)
