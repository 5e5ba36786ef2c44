"""News: what is to be told of a game, from its thread to any number of listeners elsewhere."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any


class News:
    """A document that changes; a listener gets the latest one, and those that follow.

    Its `frames` only become more, and a listener gets each of them once: `from` is how many
    it has had. A document with `over` is the last one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._document: dict[str, Any] | None = None
        self._listeners: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    @property
    def latest(self) -> dict[str, Any]:
        """The document as it is now."""
        return self._document or {}

    def publish(self, document: dict[str, Any]) -> None:
        """Replace the document, and wake the listeners."""
        with self._lock:
            self._document = document
            listeners = [*self._listeners.items()]
        for event, loop in listeners:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(event.set)

    async def follow(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the document now, and again whenever it has changed, until it is over."""
        changed = asyncio.Event()
        with self._lock:
            self._listeners[changed] = asyncio.get_running_loop()
        told: dict[str, Any] | None = None
        sent = 0
        try:
            while not (told and told["over"]):
                changed.clear()
                latest = self._document
                if latest is told or latest is None:
                    await changed.wait()
                    continue
                told = latest
                yield {**told, "from": sent, "frames": told["frames"][sent:]}
                sent = len(told["frames"])
        finally:
            with self._lock:
                del self._listeners[changed]
