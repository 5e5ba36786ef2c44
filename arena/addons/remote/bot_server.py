"""Serve any bot over HTTP, as `arena serve-bot`: a session is a process of the bot.

A request has messages of the protocol, one a line, and the answer has as many lines. A repeated
request gets the answer that was given before.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from threading import Lock
from time import monotonic
from typing import Final

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from arena.addons.remote.remote_bot import SESSION, TYPE
from arena.entries.entry import Entry
from arena.errors import InputError
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Allowed, Budget, Limits
from arena.lanes.load_check import find_problems
from arena.lanes.messages import Answer, Choose, End, Hello, Message, New
from arena.lanes.process import MOST_GAMES, bot_process
from arena.lanes.temp_and_cache_folders import BOT, scratch_folder
from arena.processes import TERMINATION
from arena.reports.http_server import Bounded, Front, FrontServer, listen
from arena.tokens import SERVE_TOKEN, TOO_SHORT, is_hidden
from engine import STANDARD, Rules

MOST_SESSIONS: Final = 32
"""Sessions at a time, fewer than threads of Starlette, so that each is answered at once."""

_MOST_BODY = MOST_GAMES * 4096  # bytes of a request
_IDLE = 60.0  # seconds after which a session may be ended for another one
_WHOLE = 30.0  # seconds in which a request must be complete
_MOST_SECONDS = 3600.0  # of an answer; the arena that asks has its own clock
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_messages = msgspec.json.Decoder(Hello | New | Choose | End)
_FORGOTTEN = 410, "no such session: it has ended, or the server was started again"


class Session:
    """The games that one asker plays with one process of the bot; `lock` is for one request."""

    def __init__(self, entry: Entry, rules: Rules) -> None:
        self.version = f"{entry.label} {entry.sha256[:12]}"
        self.lock = Lock()
        self.used = monotonic()
        self.has_ended = False
        self._kept = (-1, b"")  # the number of the last request, and its answer
        self._stack = ExitStack()
        folder = self._stack.enter_context(scratch_folder()) / BOT
        limits, check = Limits(start=_MOST_SECONDS), not entry.command
        made = bot_process(entry, rules, limits, folder, self._beat, check=check, budget=Budget())
        self.process = self._stack.enter_context(made)

    @property
    def is_idle(self) -> bool:
        """Whether it may be ended for another one."""
        return not self.lock.locked() and monotonic() - self.used > _IDLE

    def answer(self, messages: list[Message]) -> bytes:
        """Return the lines that answer some messages, the stored ones if they were asked before."""
        with self.lock:
            first, (number, kept) = messages[0].id, self._kept
            if first < number or self.has_ended:
                raise HTTPException(*_FORGOTTEN)
            if first > number:
                numbers = [message.id for message in messages]  # the process has its own
                kept = b"".join(map(_line, numbers, self._ask(messages)))
                self._kept = first, kept
            self.used = monotonic()
            return kept

    def _ask(self, messages: list[Message]) -> list[Answer | Forfeit]:
        """Return the answers; those after the end of the process are missing."""
        try:
            self.process.start()
            if isinstance(messages[0], Hello):
                return [Answer(0, ready=True, games=self.process.games, version=self.version)]
            answers = self.process.ask(messages, Allowed(wall=_MOST_SECONDS)).answers
        except Forfeit as forfeit:
            return [forfeit]
        if any(isinstance(one, New) for one in messages):
            self.process.forget_output()
        return answers

    def _beat(self) -> None:
        if self.has_ended and self.process.pid:  # and is not being killed
            raise HTTPException(*_FORGOTTEN)

    def close(self) -> None:
        """End the process within 0.1 s, even if an answer is awaited."""
        self.has_ended = True
        with self.lock:
            self._stack.close()


def _line(number: int, said: Answer | Forfeit) -> bytes:
    """Return the answer to a message as the protocol has it."""
    if isinstance(said, Forfeit):
        kind, message, traceback, output = said.fault
        said = Answer(0, error=message, kind=kind, traceback=traceback, output=output)
    said.id = number
    return msgspec.json.encode(said) + b"\n"


class Hall:
    """The sessions of a server, by the name that the asker has given each."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.sessions: dict[str, Session] = {}
        self._lock = Lock()

    def answer(self, name: str, body: bytes) -> bytes:
        """Return the answer to a request; raises HTTPException, and other errors for a bad one."""
        messages: list[Message] = _messages.decode_lines(body)
        if any(isinstance(one, Hello) for one in messages[1:]):
            raise ValueError("hello comes alone")
        with self._lock:
            session = self.sessions.get(name) or self._begin(name, messages[0])
        return session.answer(messages)

    def _begin(self, name: str, hello: Message) -> Session:
        if not isinstance(hello, Hello):
            raise HTTPException(*_FORGOTTEN)
        if len(self.sessions) >= MOST_SESSIONS:
            idle = [other for other, one in [*self.sessions.items()] if one.is_idle]
            if not idle:
                raise HTTPException(503, f"{MOST_SESSIONS} sessions are in use")
            self.end(idle[0])
        entry = replace(self.entry, params=self.entry.params | hello.params)
        self.sessions[name] = Session(entry, Rules.from_changes(hello.rules))
        return self.sessions[name]

    def end(self, name: str) -> None:
        """End a session, if it is there."""
        if session := self.sessions.pop(name, None):
            session.close()

    def close(self) -> None:
        """End all sessions."""
        for name in [*self.sessions]:
            self.end(name)


def make_front(hall: Hall, token: str) -> Front:
    """Return the front that answers for the sessions of a hall."""

    def refuse(scope: Scope) -> ASGIApp | None:
        said = Headers(scope=scope).get("authorization", "").encode()
        if token and not hmac.compare_digest(said, f"Bearer {token}".encode()):
            return PlainTextResponse("a token is needed", 401)
        return None

    async def answer(request: Request) -> Response:
        body = await Bounded(request, _MOST_BODY).body()
        try:
            if not (name := request.headers.get(SESSION, "")):
                raise ValueError(f"the header {SESSION} is missing")
            if request.method == "DELETE":
                await run_in_threadpool(hall.end, name)
            elif body.strip():
                said = await run_in_threadpool(hall.answer, name, body)
                return Response(said, media_type=TYPE)
        except (ValueError, LookupError, RecursionError, msgspec.MsgspecError) as error:
            return PlainTextResponse(f"{type(error).__name__}: {error}"[:200], 400)
        return Response(status_code=204)

    routes = [Route("/{path:path}", answer, methods=["POST", "DELETE"])]
    return Front(Starlette(routes=routes), refuse, whole=_WHOLE)


def serve(entry: Entry, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve a bot until a signal comes; once it answers, its address is passed to `tell`.

    Raises InputError for a bot that does not start, for a port that cannot be used, and for an
    address that others reach without a token.
    """
    token = os.environ.get(SERVE_TOKEN, "")
    if host not in _LOOPBACK and not token:
        why = f"others may reach it, so {SERVE_TOKEN} has to hold a token"
        raise InputError(f"--host {host}: {why}")
    if token and not is_hidden(token):
        raise InputError(f"{SERVE_TOKEN}: {TOO_SHORT}")
    for problem in find_problems([entry], STANDARD, Limits()):
        raise InputError(problem)
    shown = f"[{host}]" if ":" in host else host
    with listen(port, host) as bound, closing(Hall(entry)) as hall:
        address = f"http://{shown}:{bound.getsockname()[1]}"
        server = FrontServer(make_front(hall, token), TERMINATION, hall.close)
        server.run_until_end(bound, lambda: tell(address))
