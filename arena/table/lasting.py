"""Answer long requests and endless streams, without delaying the end of the server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.responses import Response


async def at_length(work: Callable[[], dict[str, Any]], closing: asyncio.Event) -> dict[str, Any]:
    """Return the result of work that takes seconds, done in a daemon thread.

    Raises what the work raises, and HTTPException 503 if the server ends before.
    """
    future: Future[dict[str, Any]] = Future()
    threading.Thread(target=_do, args=(work, future), daemon=True).start()
    done = asyncio.wrap_future(future)
    ended = asyncio.ensure_future(closing.wait())
    either: set[asyncio.Future[Any]] = {done, ended}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    if not done.done():
        done.cancel()
        raise HTTPException(503, "the table ends")
    return done.result()


def _do(work: Callable[[], dict[str, Any]], future: Future[dict[str, Any]]) -> None:
    future.set_running_or_notify_cancel()
    try:
        future.set_result(work())
    except Exception as error:
        future.set_exception(error)


def stream(documents: AsyncIterator[dict[str, Any]], closing: asyncio.Event) -> Response:
    """Return a response that streams documents as they arrive, until the server ends."""

    async def events() -> AsyncIterator[ServerSentEvent]:
        async for document in _until(closing, documents):
            yield ServerSentEvent(json.dumps(document, separators=(",", ":")))

    return EventSourceResponse(
        events(), ping=15, ping_message_factory=lambda: ServerSentEvent(comment="still there")
    )


async def _until(
    closing: asyncio.Event, documents: AsyncIterator[dict[str, Any]]
) -> AsyncIterator[dict[str, Any]]:
    """Yield documents until the event `closing` is set."""
    ended = asyncio.ensure_future(closing.wait())
    try:
        while not closing.is_set():
            following = asyncio.ensure_future(anext(documents))
            try:
                await asyncio.wait({ended, following}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not following.done():
                    following.cancel()
            if not following.done():
                return
            try:
                yield following.result()
            except StopAsyncIteration:
                return
    finally:
        ended.cancel()
