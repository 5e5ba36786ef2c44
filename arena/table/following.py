"""Following: how far a run is that is under way, again and again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from arena.errors import ArenaError
from arena.store.database import NAME
from arena.store.glance import is_under_way
from arena.table.looking_up import describe_progress

_EVERY = 1.0  # seconds between two looks, and
_SHARE = 5  # times as long as a look took: a copy of a large store takes a while


async def follow_run(path: Path) -> AsyncIterator[dict[str, Any]]:
    """Yield how far a run is now, and whenever games have been added, until nobody writes to it.

    `rate` is the games per second since the look before, None for the first one; `faults` are
    those that were not told of before.
    """
    told: set[str] = set()
    before: tuple[float, int] | None = None
    stamp: object = None
    while True:
        started = time.monotonic()
        goes_on, latest = is_under_way(path), _stamp(path)
        if latest != stamp or not goes_on:
            stamp = latest
            try:
                progress = await run_in_threadpool(describe_progress, path)
            except ArenaError as error:  # nothing has been written yet
                yield {"error": str(error), "over": not goes_on}
            else:
                games = progress["played"]
                rate = None
                if before is not None:
                    rate = (games - before[1]) / (started - before[0])
                before = started, games
                faults = [fault for fault in progress["faults"] if fault["game"] not in told]
                told.update(fault["game"] for fault in faults)
                yield {**progress, "faults": faults, "rate": rate, "over": not goes_on}
            if not goes_on:
                return
        await asyncio.sleep(max(_EVERY, _SHARE * (time.monotonic() - started)))


def _stamp(path: Path) -> list[tuple[int, int]]:
    """Return what changes whenever games are added."""
    stamps = []
    for name in (NAME, f"{NAME}-wal"):
        try:
            facts = (path / name).stat()
        except OSError:
            continue
        stamps.append((facts.st_mtime_ns, facts.st_size))
    return stamps
