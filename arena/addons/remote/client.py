"""Ask the server of a bot: its address, the token for its host, and sessions of bounded requests.

The requests go through httpcore, the connections of httpx: it follows no redirect, keeps no cookie,
decodes nothing and asks no proxy.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import secrets
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from ipaddress import ip_address
from math import inf
from time import perf_counter, sleep
from typing import Any, Final
from urllib.parse import urlsplit

from arena.errors import InputError, not_installed
from arena.lanes.faults import Forfeit
from arena.lanes.messages import Hello, Message, encode
from arena.lanes.process import MOST_LINE, read_answer
from arena.tokens import TOKENS, TOO_SHORT, hide_secrets, is_hidden
from engine import STANDARD
from engine.rules import RULE_NAMES
from engine.strategy import Spent

try:
    import httpcore
except ImportError:
    raise InputError(not_installed("httpx", "remote")) from None

SESSION: Final = "Arena-Session"
KEY: Final = "Idempotency-Key"
TYPE: Final = "application/x-ndjson"
MOST_VERSION: Final = 100
"""The most characters of a version."""

_FORM = (
    "an address is http://HOST:PORT or https://HOST:PORT, perhaps with a path, in ASCII; "
    f"a token stands in {TOKENS}, parameters stand in (...)"
)
_PORTS = {"http": 80, "https": 443}
_CONNECT = 5.0  # seconds for a connection
_LEAST = 0.1  # seconds for a connection when the time of a request is nearly over
_FIRST = 10.0  # seconds in which a server says which version it has
_EMPTY = 5.0  # seconds in which an empty request is answered
_LAST = 1.0  # seconds to say that a session is over
_WHICH = f"which token has it in {TOKENS}?"
_DENIED = {401: _WHICH, 403: _WHICH, 410: "it has forgotten its games: was it started again?"}
_AGAIN = {408, 425, 429}  # statuses that promise another answer later, as those from 500 do
_NEW = (".connect_tcp.complete", ".start_tls.complete")  # events of httpcore
_CUT = ("Server disconnected", "peer closed connection")  # how its messages begin


class Unreached(Exception):
    """A server did not answer: an outage, and no fault of the bot."""


class NotSent(Unreached):
    """There was no connection."""


class Denied(Unreached):
    """The server would answer a repeated request in the same way."""


class Late(Unreached):
    """A server has the request, and did not answer in time."""


def parse_address(text: str) -> str:
    """Return a URL as a bot is known by it; it has only a host, a port and a path.

    Raises InputError.

    >>> parse_address("http://GPU.local:80/greedy/")
    'http://gpu.local/greedy'
    """
    try:
        parts = urlsplit(text)
        port, host, scheme = parts.port, parts.hostname, parts.scheme.lower()
    except ValueError as error:
        raise InputError(f"not an address: {error}") from None
    is_plain = text.isascii() and text.isprintable() and not {*text} & {*"?# "}
    if not host or port == 0 or "@" in parts.netloc or not is_plain:
        raise InputError(_FORM)
    host = f"[{host}]" if ":" in host else host
    place = host if port in (None, _PORTS[scheme]) else f"{host}:{port}"
    return f"{scheme}://{place}{parts.path.rstrip('/')}"


def find_token(url: str) -> str:
    """Return the token for a host, "" if there is none; raises InputError for a bad ARENA_TOKENS.

    No message says what stands in the variable.
    """
    parts, found = urlsplit(url), ""
    whole = parts.netloc if parts.port else f"{parts.netloc}:{_PORTS[parts.scheme]}"
    for number, word in enumerate(os.environ.get(TOKENS, "").split(), 1):
        place, equals, token = word.partition("=")
        if not (place and equals and token and token.isascii() and token.isprintable()):
            raise InputError(f"{TOKENS}: item {number} is not HOST:PORT=TOKEN")
        if not is_hidden(token):
            raise InputError(f"{TOKENS}: item {number}: {TOO_SHORT}")
        if place.lower() in (parts.netloc, whole):
            found = token
    return found


class Session:
    """A session of a bot's server, whose messages are numbered; it is not there before the first.

    A request that fails is sent again after each of the `pauses`, in seconds; `waiting` is called
    before each try. Raises InputError for a bad address.
    """

    def __init__(
        self, text: str, pauses: Sequence[float], waiting: Callable[[], None] = lambda: None
    ) -> None:
        self.url = parse_address(text)
        self.pauses = pauses
        self.waiting = waiting
        self.asked = 0  # messages
        self._name = secrets.token_hex(16)
        self._token = find_token(self.url)
        self._deadline = 0.0
        context = _context() if self.url.startswith("https:") else None
        self._pool = httpcore.ConnectionPool(context, max_connections=1)

    def ask(self, messages: Sequence[Message], seconds: float) -> tuple[list[bytes], float]:
        """Return the lines that answer messages, and the seconds since these were first sent.

        All tries together have so many seconds. Each has the same key, so that no decision is made
        twice. Raises Unreached after the last one, also if the server does not answer an empty
        request after a late one, and Forfeit for a late or a wrong answer.
        """
        key = {KEY: f"{self._name}-{self.asked}"}
        for number, message in enumerate(messages, self.asked):
            message.id = number
        self.asked += len(messages)
        body, most = b"".join(map(encode, messages)), len(messages) * (MOST_LINE + 1)
        began, pauses = inf, iter(self.pauses)
        while True:
            self.waiting()
            now = perf_counter()
            since = min(began, now)
            try:
                data = self._send(body, key, seconds - (now - since), most)
                return data.splitlines(), perf_counter() - since
            except Late:
                wall = perf_counter() - since
                self.waiting()
                self.ping()
                raise Forfeit("timeout", "", spent=Spent(wall, wall)) from None
            except Unreached as error:
                pause = next(pauses, None)
                if pause is None or isinstance(error, Denied):
                    raise
                if not isinstance(error, NotSent):
                    began = since
                sleep(pause)

    def ping(self) -> float:
        """Return the seconds of an empty request, whatever the answer; raises Unreached."""
        began = perf_counter()
        with suppress(Forfeit):
            self._send(b"", {}, _EMPTY)
        return perf_counter() - began

    def end(self) -> None:
        """Tell the server that the session is over, whatever it answers, and close it."""
        if self.asked:
            with suppress(Unreached, Forfeit):
                self._send(b"", {}, _LAST, method="DELETE")
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()

    def _send(
        self,
        body: bytes,
        more: dict[str, str],
        seconds: float,
        most: int = MOST_LINE,
        method: str = "POST",
    ) -> bytes:
        """Return the body of the answer to one request, of at most `most` bytes."""
        headers = {SESSION: self._name, "Content-Type": TYPE, "Accept-Encoding": "identity"} | more
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        self._deadline = perf_counter() + seconds
        limit = max(_LEAST, min(_CONNECT, seconds))
        extensions = {"timeout": {"connect": limit, "write": limit}, "trace": self._meet}
        asked = self._pool.stream(
            method, self.url, headers=[*headers.items()], content=body, extensions=extensions
        )
        with _explained(), asked as response:
            _check_status(response.status)
            if any(name.lower() == b"content-encoding" for name, _ in response.headers):
                raise Forfeit("protocol", "its answer is compressed, which was not asked for")
            data = b""
            for part in response.iter_stream():
                data += part
                if len(data) > most:
                    raise Forfeit("protocol", f"an answer of more than {most:,} bytes")
        data = hide_secrets(data.decode("latin-1")).encode("latin-1")  # before it is read or cut
        return data.removeprefix(codecs.BOM_UTF8)

    def _meet(self, event: str, info: Mapping[str, Any]) -> None:
        """Bound each reading of a new connection by the deadline, however slowly bytes drip."""
        if not event.endswith(_NEW):
            return
        stream = info["return_value"]
        read, peer = stream.read, stream.get_extra_info("server_addr")[0]
        if self._token and self.url.startswith("http:") and is_public(peer):
            stream.close()
            raise Denied(f"its token in {TOKENS} is only sent by https, or to a private address")

        def read_in_time(most: int, timeout: float | None = None) -> Any:  # noqa: ARG001
            left = self._deadline - perf_counter()
            if left <= 0:
                raise httpcore.ReadTimeout
            return read(most, left)

        stream.read = read_in_time


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public internet.

    >>> [is_public(one) for one in ("1.1.1.1", "127.0.0.1", "10.0.0.1", "fe80::1%eth0")]
    [True, False, False, False]
    """
    return ip_address(address.partition("%")[0]).is_global


@contextmanager
def _explained() -> Iterator[None]:
    """Turn the errors of a request into ours."""
    try:
        yield
    except httpcore.ReadTimeout:
        raise Late("no answer in time") from None
    except (httpcore.TimeoutException, httpcore.ConnectError) as error:
        raise NotSent(f"no connection: {error}") from None
    except httpcore.NetworkError as error:
        raise Unreached(f"{error}" or "the connection was reset") from None
    except httpcore.ProtocolError as error:
        if f"{error}".startswith(_CUT):
            raise Unreached("it closed the connection without an answer") from None
        raise Forfeit("protocol", f"not HTTP: {error}") from None


def _check_status(status: int) -> None:
    """Raise Unreached for the status of an outage, Forfeit for any other but 200 and 204."""
    if status in _DENIED:
        raise Denied(f"it answers {status}: {_DENIED[status]}")
    if status in _AGAIN or status >= 500:
        raise Unreached(f"it answers {status}")
    if status not in (200, 204):
        raise Forfeit("protocol", f"it answers {status}; redirects are not followed")


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()


def find_bot(text: str, params: dict[str, Any]) -> tuple[str, str, str]:
    """Return the address and the version of the bot at a URL, and the hash of both.

    Raises InputError for a bad address, and for a server that does not answer `hello`.
    """
    session = Session(text, (0.0, 0.0))
    spec = f"{session.url} {params}"
    if hide_secrets(spec) != spec:
        raise InputError(f"a token stands in {TOKENS} only, in no address and no parameters")
    rules = {name: getattr(STANDARD, name) for name in RULE_NAMES}
    try:
        (line,), _ = session.ask([Hello(rules=rules, params=params)], _FIRST)
        answer = read_answer(line, 0)
    except (Unreached, Forfeit, ValueError) as error:  # of another number of lines
        why = f"{error}" or "no answer in time"
        raise InputError(f"it does not answer `hello`: {why}") from None
    finally:
        session.end()
    if answer.error is not None or not answer.ready:
        raise InputError(f"it is not ready: {answer.error or 'the answer to hello says so'}")
    if len(answer.version) > MOST_VERSION or not answer.version.isprintable():
        raise InputError(f"its version is not one of at most {MOST_VERSION} printable characters")
    version = hide_secrets(answer.version)
    return session.url, version, hashlib.sha256(f"{session.url}\0{version}".encode()).hexdigest()
