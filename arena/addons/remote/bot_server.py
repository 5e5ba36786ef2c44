"""Serve any bot over HTTP, as `arena serve-bot`: a session is a process of the bot.

A request has messages of the protocol, one a line, and the answer has as many lines. A repeated
request gets the answer that was given before.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from importlib.util import find_spec
from math import inf
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from arena.cli.options import LANE, Whole, say
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError, not_installed
from arena.lanes.cleanup import adopt_orphans, exit_on_termination
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Allowed, Budget, Limits
from arena.lanes.messages import Answer, Choose, End, Message, New
from arena.lanes.probe import find_problems
from arena.lanes.process import MOST_GAMES, bot_process
from arena.lanes.scratch import BOT, scratch_folder
from arena.tokens import SERVE_TOKEN, TOO_SHORT, is_hidden
from engine import STANDARD, EngineError, Rules

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request

TOKEN: Final = SERVE_TOKEN
"""The environment variable with the token that a server asks for."""

MOST_SESSIONS: Final = 64
"""Sessions at a time; a further one ends the one that has been idle for longest, or waits."""

_MOST_BODY = MOST_GAMES * 4096  # bytes of a request
_IDLE = 60.0  # seconds after which a session may be ended for another one
_WHOLE = 30.0  # seconds in which a request must be complete
_MOST_SECONDS = 3600.0  # of an answer; the arena that asks has its own clock
_MOST_AT_ONCE = 200  # connections
_KINDS: Final[dict[str, type[Message]]] = {"new": New, "choose": Choose, "end": End}
_NAME = re.compile(r"[0-9A-Za-z_-]{1,64}")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_SHOWN = 12  # characters of a hash


class Forgotten(Exception):
    """A session is not known: it has ended, or this server was started again."""


class Busy(Exception):
    """All sessions are in use."""


class _Ended(Exception):
    """A session was ended while its bot was asked."""


class Session:
    """The games that one asker plays with one process of the bot."""

    def __init__(self, entry: Entry, rules: Rules, version: str) -> None:
        self.lock = Lock()
        self.used = time.monotonic()
        self.has_ended = False
        self.version = version
        self._kept = (-1, b"")  # the number of the last request, and its answer
        self._stack = ExitStack()
        folder = self._stack.enter_context(scratch_folder()) / BOT
        limits = Limits(start=_MOST_SECONDS)
        made = bot_process(
            entry, rules, limits, folder, self._beat, check=not entry.command, budget=Budget(inf)
        )
        self._process = self._stack.enter_context(made)

    def _beat(self) -> None:
        if self.has_ended and self._process.pid is not None:  # and is not being killed
            raise _Ended

    def answer(self, messages: list[dict[str, Any]]) -> bytes:
        """Return the lines that answer some messages, the stored ones if they were asked before."""
        first = messages[0]["id"]
        with self.lock:
            self.used = time.monotonic()
            number, kept = self._kept
            if first < number or self.has_ended:
                raise Forgotten
            if first > number:
                kept = b"".join(_line(answer) for answer in self._ask(messages))
                self._kept = first, kept
            self.used = time.monotonic()
            return kept

    def _ask(self, messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the answers; those after the end of the process are missing."""
        try:
            self._process.start()
            if messages[0]["type"] == "hello":
                yield {
                    "id": messages[0]["id"],
                    "ready": True,
                    "games": self._process.games,
                    "version": self.version,
                }
                return
            asked = [msgspec.convert(one, _KINDS[one["type"]]) for one in messages]
            answers, spent = self._process.ask(asked, Allowed(inf, _MOST_SECONDS))
        except Forfeit as forfeit:
            yield {"id": messages[0]["id"], **_describe(forfeit)}
            return
        if any(isinstance(one, New) for one in asked):
            self._process.forget_output()
        for number, (message, answer) in enumerate(zip(messages, answers, strict=False)):
            said = _describe(answer)
            if not number and (said.keys() & {"action"}):
                said["seconds"] = round(spent.wall, 6)
            yield {"id": message["id"], **said}

    def end(self) -> None:
        """End the session and its process; one that is being asked ends within 0.1 s."""
        self.has_ended = True
        with self.lock:
            self._stack.close()


def _describe(answer: Answer | Forfeit) -> dict[str, Any]:
    """Return an answer without its id, as the protocol has it."""
    if isinstance(answer, Answer):
        return {} if answer.action is None else {"action": answer.action}
    kind, message, traceback, output = answer.fault
    said = {"error": message, "kind": kind, "traceback": traceback, "output": output}
    return {name: value for name, value in said.items() if value or name == "error"}


def _line(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, separators=(",", ":")).encode() + b"\n"


class Hall:
    """The sessions of a server, by the name that the asker has given each."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.version = f"{entry.label} {entry.sha256[:_SHOWN]}"
        self.sessions: dict[str, Session] = {}
        self._lock = Lock()

    def answer(self, name: str, body: bytes) -> bytes:
        """Return the answer to a request; raises ValueError, Forgotten and Busy."""
        messages = _read(body)
        with self._lock:
            session = self.sessions.get(name)
            if session is None:
                if messages[0]["type"] != "hello":
                    raise Forgotten
                session = self.sessions[name] = self._begin(messages[0])
        try:
            return session.answer(messages)
        except _Ended:
            raise Forgotten from None

    def _begin(self, hello: dict[str, Any]) -> Session:
        if len(self.sessions) >= MOST_SESSIONS:
            oldest = min(self.sessions, key=lambda name: self.sessions[name].used)
            if time.monotonic() - self.sessions[oldest].used < _IDLE:
                raise Busy
            self.sessions.pop(oldest).end()
        rules, params = Rules.from_changes(hello["rules"]), self.entry.params | hello["params"]
        return Session(replace(self.entry, params=params), rules, self.version)

    def end(self, name: str) -> None:
        """End a session, if it is there."""
        with self._lock:
            session = self.sessions.pop(name, None)
        if session is not None:
            session.end()

    def close(self) -> None:
        """End all sessions."""
        for name in [*self.sessions]:
            self.end(name)


def _read(body: bytes) -> list[dict[str, Any]]:
    """Return the messages of a request; raises ValueError unless each may follow the others."""
    messages = [json.loads(line) for line in body.split(b"\n") if line.strip()]
    kinds = [one.get("type") if isinstance(one, dict) else None for one in messages]
    known = all(kind in _KINDS for kind in kinds) or kinds == ["hello"]
    if not known or not all(isinstance(one.get("id"), int) for one in messages):
        raise ValueError("not messages of the protocol")
    return messages


def make_application(hall: Hall, token: str) -> Starlette:
    """Return the application that answers for the sessions of a hall."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route

    from arena.addons.remote.address import SESSION, TYPE

    async def answer(request: Request) -> Response:
        said = request.headers.get("authorization", "").encode()
        if token and not hmac.compare_digest(said, f"Bearer {token}".encode()):
            return PlainTextResponse("a token is needed", 401)
        name = request.headers.get(SESSION, "")
        if not _NAME.fullmatch(name):
            return PlainTextResponse(f"no header {SESSION}", 400)
        if request.method == "DELETE":
            await run_in_threadpool(hall.end, name)
            return Response(status_code=204)
        body = await _receive(request)
        if body is None:
            return PlainTextResponse("too long", 413)
        if not body.strip():
            return Response(status_code=204)
        try:
            lines = await run_in_threadpool(hall.answer, name, body)
            return Response(lines, media_type=TYPE)
        except Forgotten:
            return PlainTextResponse("no such session", 410)
        except Busy:
            return PlainTextResponse(f"{MOST_SESSIONS} sessions are in use", 503)
        except (ValueError, KeyError, TypeError, EngineError, RecursionError) as error:
            return PlainTextResponse(f"{type(error).__name__}: {error}"[:200], 400)

    return Starlette(routes=[Route("/{path:path}", answer, methods=["POST", "DELETE"])])


async def _receive(request: Request) -> bytes | None:
    """Return the body of a request, None for one that is too long or too slow."""
    body = b""
    with suppress(TimeoutError):
        async with asyncio.timeout(_WHOLE):
            async for part in request.stream():
                body += part
                if len(body) > _MOST_BODY:
                    return None
            return body
    return None


def serve(entry: Entry, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve a bot until a signal comes; once it can be asked, its address is passed to `tell`.

    Raises InputError for a bot that does not start, for a port that cannot be used, and for an
    address that others reach without a token.
    """
    import uvicorn

    from arena.reports.page_server import listen

    token = os.environ.get(TOKEN, "")
    if host not in _LOOPBACK and not token:
        raise InputError(f"--host {host}: others may reach it, so {TOKEN} has to hold a token")
    if token and not is_hidden(token):
        raise InputError(f"{TOKEN}: {TOO_SHORT}")
    for problem in find_problems([entry], STANDARD, Limits()):
        raise InputError(problem)
    hall = Hall(entry)
    config = uvicorn.Config(
        make_application(hall, token),
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        limit_concurrency=_MOST_AT_ONCE,
        timeout_graceful_shutdown=1,
    )
    with listen(port, host) as bound, exit_on_termination(), suppress(KeyboardInterrupt):
        bound.listen()  # whoever is told the address can connect
        tell(f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}")
        try:
            uvicorn.Server(config).run(sockets=[bound])
        finally:
            hall.close()


@click.command("serve-bot")
@click.argument("spec")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=Whole(0, 65_535), default=8000, show_default=True, metavar="N",
              help="The port; 0 for a free one.")  # fmt: skip
@click.option("--lane", type=LANE, help="The lane of its processes.  [default: process]")
def serve_bot(spec: str, host: str, port: int, lane: str | None) -> None:
    """Serve a bot over HTTP, for arenas on this machine or on others.

    `arena play http://127.0.0.1:8000 uniform` then plays against it. Each session is a process of
    the bot. With the variable ARENA_SERVE_TOKEN, only who sends this token is answered; any other
    host than this machine needs it. Needs the extra `remote`.

    \b
    Example:
      arena serve-bot greedy --port 8000
    """
    for library in ("starlette", "uvicorn"):
        if find_spec(library) is None:
            raise InputError(not_installed(library, "remote"))
    entry = resolve(spec, lane=lane)
    if entry.lane == "inproc":
        entry = replace(entry, lane="process")
    if entry.lane == "remote":
        raise InputError(f"bot {spec!r}: it has a server already")
    adopt_orphans()
    serve(entry, host, port, lambda address: say(f"{entry.label} is at {address}; Ctrl-C ends it"))
