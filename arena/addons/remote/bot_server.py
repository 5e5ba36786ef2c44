"""Serve any bot over HTTP, as `arena serve-bot`: a session is a process of the bot.

A request has messages of the protocol, one a line, and the answer has as many lines. A repeated
request gets the answer that was given before.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from importlib.util import find_spec
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
import msgspec
from msgspec import MsgspecError
from msgspec.json import decode, encode

from arena.cli.options import LANE, Whole, say
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError, not_installed
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Allowed, Budget, Limits
from arena.lanes.messages import Answer, Choose, End, Hello, Message, New
from arena.lanes.probe import find_problems
from arena.lanes.process import MOST_GAMES, BotProcess, bot_process
from arena.lanes.scratch import BOT, scratch_folder
from arena.lanes.signals import TERMINATION
from arena.processes import adopt_orphans
from arena.tokens import SERVE_TOKEN, TOO_SHORT, is_hidden
from engine import STANDARD, EngineError, Rules

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Scope

    from arena.reports.front import Front

MOST_SESSIONS: Final = 64
"""Sessions, each of which is answered at once; a further one takes the place of an idle one."""

_MOST_BODY = MOST_GAMES * 4096  # bytes of a request
_IDLE = 60.0  # seconds after which a session may be ended for another one
_WHOLE = 30.0  # seconds in which a request must be complete
_MOST_SECONDS = 3600.0  # of an answer; the arena that asks has its own clock
_KINDS: Final[dict[str, type[Message]]] = {
    "hello": Hello,
    "new": New,
    "choose": Choose,
    "end": End,
}
_NAME = re.compile(r"[0-9A-Za-z_-]{1,64}")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_SHOWN = 12  # characters of a hash


T = TypeVar("T")


class _Kind(msgspec.Struct):
    """What of a message says which one it is."""

    type: str


class Forgotten(Exception):
    """A session is not known: it has ended, or this server was started again."""


class Busy(Exception):
    """All sessions are in use."""


class Session:
    """The games that one asker plays with one process of the bot; `lock` is for one request."""

    def __init__(self, entry: Entry, rules: Rules, version: str) -> None:
        self.entry = entry
        self.rules = rules
        self.version = version
        self.lock = asyncio.Lock()
        self.used = monotonic()
        self.has_ended = False
        self._kept = (-1, b"")  # the number of the last request, and its answer
        self._stack = ExitStack()
        self._process: BotProcess | None = None

    def _start(self) -> BotProcess:
        if self._process is None:
            folder = self._stack.enter_context(scratch_folder()) / BOT
            limits, check = Limits(start=_MOST_SECONDS), not self.entry.command
            made = bot_process(
                self.entry, self.rules, limits, folder, self._beat, check=check, budget=Budget(inf)
            )
            self._process = self._stack.enter_context(made)
        self._process.start()
        return self._process

    def _beat(self) -> None:
        if self.has_ended and self._process and self._process.pid:  # and is not being killed
            raise Forgotten

    def answer(self, messages: list[Message]) -> bytes:
        """Return the lines that answer some messages, the stored ones if they were asked before."""
        first, (number, kept) = messages[0].id, self._kept
        if first < number or self.has_ended:
            raise Forgotten
        if first > number:
            kept = b"".join(self._ask(messages))
            self._kept = first, kept
        self.used = monotonic()
        return kept

    def _ask(self, messages: list[Message]) -> Iterator[bytes]:
        """Yield the answers; those after the end of the process are missing."""
        numbers = [message.id for message in messages]  # the process has its own
        try:
            process = self._start()
            if isinstance(messages[0], Hello):
                told = {"ready": True, "games": process.games, "version": self.version}
                yield encode({"id": numbers[0]} | told) + b"\n"
                return
            answers, _ = process.ask(messages, Allowed(inf, _MOST_SECONDS))
        except Forfeit as forfeit:
            yield _line(numbers[0], forfeit)
            return
        if any(isinstance(one, New) for one in messages):
            process.forget_output()
        yield from map(_line, numbers, answers)

    def close(self) -> None:
        """End the process."""
        self._stack.close()


def _line(number: int, answer: Answer | Forfeit) -> bytes:
    """Return the answer to a message as the protocol has it."""
    said: dict[str, Any] = {"id": number}
    if isinstance(answer, Forfeit):
        kind, message, traceback, output = answer.fault
        said |= {"error": message, "kind": kind, "traceback": traceback, "output": output}
    elif answer.action is not None:
        said["action"] = answer.action
    return encode(said) + b"\n"


class Hall:
    """The sessions of a server, by the name that the asker has given each."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.version = f"{entry.label} {entry.sha256[:_SHOWN]}"
        self.sessions: dict[str, Session] = {}
        self._threads = ThreadPoolExecutor(MOST_SESSIONS)

    async def answer(self, name: str, body: bytes) -> bytes:
        """Return the answer to a request; raises what `_read` raises, Forgotten and Busy."""
        messages = _read(body)
        if name not in self.sessions:
            self.sessions[name] = self._begin(messages[0])
        session = self.sessions[name]
        async with session.lock:
            return await self._run(lambda: session.answer(messages))

    def _begin(self, hello: Message) -> Session:
        if not isinstance(hello, Hello):
            raise Forgotten
        rules, params = Rules.from_changes(hello.rules), self.entry.params | hello.params
        if len(self.sessions) >= MOST_SESSIONS:
            used = {one.used: name for name, one in self.sessions.items() if not one.lock.locked()}
            if not used or monotonic() - min(used) < _IDLE:
                raise Busy
            idle = self.sessions.pop(used[min(used)])
            idle.has_ended = True
            self._threads.submit(idle.close)
        return Session(replace(self.entry, params=params), rules, self.version)

    async def end(self, name: str) -> None:
        """End a session, if it is there, also while its bot is asked: within 0.1 s."""
        if session := self.sessions.pop(name, None):
            session.has_ended = True
            async with session.lock:
                await self._run(session.close)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def stop(self) -> None:
        """Ask no bot any more."""
        for session in self.sessions.values():
            session.has_ended = True

    def close(self) -> None:
        """End all sessions, after the last request."""
        self.stop()
        self._threads.shutdown()
        for session in self.sessions.values():
            session.close()


def _read(body: bytes) -> list[Message]:
    """Return the messages of a request.

    Raises ValueError, LookupError, RecursionError or MsgspecError for an invalid one.
    """
    lines = [line for line in body.split(b"\n") if line.strip()]
    messages = [decode(line, type=_KINDS[decode(line, type=_Kind).type]) for line in lines]
    if len(messages) > 1 and any(isinstance(one, Hello) for one in messages):
        raise ValueError("hello comes alone")
    return messages


def make_front(hall: Hall, token: str) -> Front:
    """Return the front that answers for the sessions of a hall."""
    from starlette.applications import Starlette
    from starlette.datastructures import Headers
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route

    from arena.addons.remote.client import SESSION, TYPE
    from arena.reports.front import Bounded, Front

    def refuse(scope: Scope) -> ASGIApp | None:
        said = Headers(scope=scope).get("authorization", "").encode()
        if token and not hmac.compare_digest(said, f"Bearer {token}".encode()):
            return PlainTextResponse("a token is needed", 401)
        return None

    async def answer(request: Request) -> Response:
        name = request.headers.get(SESSION, "")
        if not _NAME.fullmatch(name):
            return PlainTextResponse(f"no header {SESSION}", 400)
        if request.method == "DELETE":
            await hall.end(name)
            return Response(status_code=204)
        body = await Bounded(request, _MOST_BODY).body()
        if not body.strip():
            return Response(status_code=204)
        try:
            return Response(await hall.answer(name, body), media_type=TYPE)
        except Forgotten:
            return PlainTextResponse("no such session", 410)
        except Busy:
            return PlainTextResponse(f"{MOST_SESSIONS} sessions are in use", 503)
        except (ValueError, LookupError, RecursionError, EngineError, MsgspecError) as error:
            return PlainTextResponse(f"{type(error).__name__}: {error}"[:200], 400)

    routes = [Route("/{path:path}", answer, methods=["POST", "DELETE"])]
    return Front(Starlette(routes=routes), refuse, whole=_WHOLE)


def serve(entry: Entry, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve a bot until a signal comes; once it can be asked, its address is passed to `tell`.

    Raises InputError for a bot that does not start, for a port that cannot be used, and for an
    address that others reach without a token.
    """
    from arena.reports.front import FrontServer, listen

    token = os.environ.get(SERVE_TOKEN, "")
    if host not in _LOOPBACK and not token:
        raise InputError(
            f"--host {host}: others may reach it, so {SERVE_TOKEN} has to hold a token"
        )
    if token and not is_hidden(token):
        raise InputError(f"{SERVE_TOKEN}: {TOO_SHORT}")
    for problem in find_problems([entry], STANDARD, Limits()):
        raise InputError(problem)
    shown = f"[{host}]" if ":" in host else host
    with listen(port, host) as bound, closing(Hall(entry)) as hall:
        address = f"http://{shown}:{bound.getsockname()[1]}"
        server = FrontServer(make_front(hall, token), TERMINATION, hall.stop)
        server.run_until_end(bound, lambda: tell(address))


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
