"""Ask a bot that lives elsewhere in place of a process: the lane `remote`.

A decision takes the time from the request to the answer, less that of an empty request, but at
most the `latency` of the limits, also if the server delays empty requests. Whatever the network
does, no decision is made twice: each request has a key, and a repeated one gets the same answer.
No redirect is followed and no proxy asked; a status that promises no answer is an outage.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from ipaddress import ip_address
from math import inf
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, Final

from arena.entries.entry import Entry
from arena.errors import InputError, Unreachable, not_installed
from arena.lanes.faults import Forfeit, Kind
from arena.lanes.launch import Launch
from arena.lanes.limits import Allowed, Budget, Limits
from arena.lanes.messages import MOST_LINE, Answer, Message, hello
from arena.lanes.meter import Held, Stopwatch
from arena.lanes.process import MOST_GAMES, BotProcess
from arena.tokens import TOKENS, TOO_SHORT, hide_secrets, is_hidden
from engine import STANDARD
from engine.strategy import Spent

try:
    import httpx
except ImportError:
    raise InputError(not_installed("httpx", "remote")) from None

SESSION: Final = "Arena-Session"
KEY: Final = "Idempotency-Key"
TYPE: Final = "application/x-ndjson"

_FORM = (
    "an address is http://HOST:PORT or https://HOST:PORT, perhaps with a path, in ASCII; "
    f"a token stands in {TOKENS}, parameters stand in (...)"
)
_PORTS = {"http": 80, "https": 443}
_MOST_VERSION = 100  # characters
_CONNECT = 5.0  # seconds for a connection, and for an empty request
_LEAST = 0.1  # seconds for a connection when the time of a request is nearly over
_LAST = 1.0  # seconds to say that a session is over
_PINGS = 3  # when a session begins
_NEW = ("connect_tcp.complete", "start_tls.complete")  # events of httpcore


def parse_address(text: str) -> str:
    """Return a URL as a bot is known by it; it has only a host, a port and a path.

    Raises InputError.

    >>> parse_address("http://GPU.local:80/greedy/")
    'http://gpu.local/greedy'
    """
    try:
        url = httpx.URL(text)  # without the port that its scheme has
    except httpx.InvalidURL as error:
        raise InputError(f"not an address: {error}") from None
    is_plain = text.isascii() and not {*text} & {*"?# @"}
    if not (is_plain and url.host and url.port in (None, *range(1, 1 << 16))):
        raise InputError(_FORM)
    return f"{url}".rstrip("/")


def find_token(url: str) -> str:
    """Return the token for a host, or ""; raises InputError for a bad ARENA_TOKENS.

    No message says what stands in the variable.
    """
    scheme, _, place, *_ = url.split("/")
    places, found = (place, f"{place}:{_PORTS[scheme[:-1]]}"), ""
    for number, word in enumerate(os.environ.get(TOKENS, "").split(), 1):
        host, _, token = word.partition("=")
        if not (host and token and token.isascii() and token.isprintable()):
            raise InputError(f"{TOKENS}: item {number} is not HOST:PORT=TOKEN")
        if not is_hidden(token):
            raise InputError(f"{TOKENS}: item {number}: {TOO_SHORT}")
        if host.lower() in places:
            found = token
    return found


class Wait(Stopwatch):
    """Measures a turn, whose request takes `wall` seconds, and the network `latency` of them."""

    def __init__(self) -> None:
        self.wall = self.latency = self.before = 0.0

    def start(self) -> None:
        """Begin a turn."""
        self.wall = 0.0

    def stop(self) -> Spent:
        """End the turn; its processor time is that without the network."""
        return Spent(self.wall, max(0.0, self.wall - self.latency))


class RemoteBot(BotProcess):
    """A session of a bot's server, which begins when it is needed, in place of a process.

    A session is what a process is elsewhere: it plays one game of a pair at most, and ends after a
    fault. A request that fails is sent again after each of the `pauses`, in seconds; `waiting` is
    called before each try. Raises Unreachable if the server cannot be asked, or has another
    version than before; without a hash, its entry has no version yet.
    """

    pauses: Sequence[float] = (0.0, 0.2, 0.8, 1.0, 1.0, 1.0)  # a silent worker is given up after 1
    most_held = Held()  # nothing is known of what it uses
    version = ""
    _client: httpx.Client | None = None
    _body = b""

    def __init__(
        self, entry: Entry, hello: Message, limits: Limits, waiting: Callable[[], None]
    ) -> None:
        launch = Launch([entry.target], {}, Path(), jailed=False, hosted=True)
        super().__init__(launch, hello, limits, waiting, Budget())  # its clock is its only limit
        self.entry = entry
        self._wait = Wait()

    @property
    def pid(self) -> int | None:
        """0 while there is a session, else None."""
        return None if self._client is None else 0

    def start(self) -> None:
        """Begin a session, unless one is open."""
        super().start()
        if self.entry.sha256 and self.version != self.entry.program:
            now = f"{self.version!r} now, and was {self.entry.program!r}"
            raise self._outage(f"its version is {now}: it is another bot")

    def _open(self) -> int:
        if self._client is None:
            self._reset()
            self.room.games = MOST_GAMES
            try:
                token = find_token(self.entry.target)
            except InputError as error:
                raise self._outage(error) from None
            self._is_secret = bool(token) and self.entry.target.startswith("http:")
            self._name = secrets.token_hex(16)
            headers = {SESSION: self._name, "Content-Type": TYPE, "Accept-Encoding": "identity"}
            headers |= {"Authorization": f"Bearer {token}"} if token else {}
            self._client = httpx.Client(headers=headers, verify=_context(), trust_env=False)
            self._wait.latency = 0.0
            self._watch = self._wait
        return 0

    def _meter(self, _pid: int, _main: int | None = None) -> Stopwatch:
        return self._wait

    def _greet(self) -> Answer:
        answer = super()._greet()
        self.version = hide_secrets(answer.version)[: _MOST_VERSION + 1]
        self._wait.latency = min(self.limits.latency, *(self.ping() for _ in range(_PINGS)))
        return answer

    def _outage(self, why: object) -> Unreachable:
        """End the session, and return the exception that leaves its games unplayed."""
        self.kill()
        return Unreachable(f"{self.entry.label}: {self.entry.target}: {why}")

    def _write(self, data: bytes) -> None:
        self._body = data

    def _line(self, allowed: Allowed) -> bytes:
        """Return the next line of the answers; the first of a turn sends the request."""
        if self._body:
            body, self._body = self._body, b""
            seconds = min(allowed.wall, allowed.charged + self._wait.latency)
            try:
                self._pipes.received = self._deliver(seconds, body)
            except Forfeit as forfeit:
                raise self._kill_for(forfeit) from None
        return self._pipes.take_line()

    def ping(self) -> float:
        """Return the seconds of an empty request; raises Unreachable if it is not answered."""
        began = perf_counter()
        self.waiting()
        try:
            self._request("POST", _CONNECT)
        except httpx.TransportError as error:
            raise self._outage(error) from None
        return perf_counter() - began

    def _deliver(self, seconds: float, body: bytes) -> bytes:
        """Return the answer to some messages, and note the seconds since they were first sent.

        All tries have this many seconds, and the same key, so that no decision is made twice.
        Raises Unreachable after the last one, also if the server does not answer an empty request
        after a late one, and Forfeit for a late or a large answer.
        """
        sent = inf
        for pause in (*self.pauses, None):
            self.waiting()
            began = perf_counter()
            since = min(sent, began)
            try:
                return self._request("POST", seconds - (began - since), body)
            except httpx.ReadTimeout:
                break
            except httpx.TransportError as error:
                if pause is None:
                    raise self._outage(error) from None
                if not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
                    sent = since
                sleep(pause)
            finally:
                self._wait.wall = perf_counter() - since
        self.ping()
        raise Forfeit("timeout", "", spent=Spent(self._wait.wall, self._wait.wall))

    def _request(self, method: str, seconds: float, body: bytes = b"") -> bytes:
        """Return the body of the answer to one request, of a line for each of its own."""
        assert self._client is not None
        self._deadline = perf_counter() + seconds
        data, most = b"", (MOST_LINE + 1) * max(1, body.count(b"\n"))
        with self._client.stream(
            method,
            self.entry.target,
            content=body,
            headers={KEY: f"{self._name}-{self._answered}"} if body else {},
            timeout=max(_LEAST, min(_CONNECT, seconds)),
            extensions={"trace": self._meet},
        ) as answer:
            if answer.status_code not in (200, 204):
                raise httpx.TransportError(f"it answers {answer.status_code}")
            for part in answer.iter_raw():
                data += part
                if len(data) > most:
                    raise Forfeit("protocol", f"an answer of more than {most:,} bytes")
        return hide_secrets(data.decode("latin-1")).encode("latin-1")  # before it is read or cut

    def _meet(self, event: str, info: Mapping[str, Any]) -> None:
        """Bound each reading of a new connection by the deadline, however slowly bytes drip."""
        if not event.endswith(_NEW):
            return
        stream = info["return_value"]
        read, peer = stream.read, stream.get_extra_info("server_addr")[0]
        if self._is_secret and is_public(peer):
            why = f"its token in {TOKENS} is only sent by https, or to a private address"
            raise httpx.ConnectError(why)

        def read_in_time(most: int, timeout: float | None = None) -> Any:  # noqa: ARG001
            if (left := self._deadline - perf_counter()) <= 0:
                raise httpx.ReadTimeout("no answer in time")
            return read(most, left)

        stream.read = read_in_time

    def _may_say(self, kind: Kind) -> bool:
        return not kind.is_final

    def kill(self) -> None:
        """End the session, and say so to the server."""
        if self._client is not None:
            with suppress(httpx.TransportError, Forfeit):
                self._request("DELETE", _LAST)
            self._client.close()
        self._client, self._asked, self._body = None, 0, b""


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public internet.

    >>> [is_public(one) for one in ("1.1.1.1", "127.0.0.1", "10.0.0.1", "fe80::1%eth0")]
    [True, False, False, False]
    """
    return ip_address(address.partition("%")[0]).is_global


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()


def find_bot(text: str, params: dict[str, Any]) -> tuple[str, str, str]:
    """Return the address and the version of the bot at a URL, and the hash of both.

    Raises InputError for a bad address, and for a server that does not answer `hello`.
    """
    url = parse_address(text)
    if hide_secrets(f"{url} {params}") != f"{url} {params}":
        raise InputError(f"a token stands in {TOKENS} only, in no address and no parameters")
    find_token(url)
    entry = Entry("hello", url, sha256="", params=params, command=(url,))
    bot = RemoteBot(entry, hello(entry, STANDARD, None), Limits(), lambda: None)
    bot.pauses = (0.0, 0.0)
    try:
        bot.start()
    except (Forfeit, Unreachable) as error:
        why = f"{error}".removeprefix(f"{entry.label}: {url}: ")
        raise InputError(f"it does not answer `hello`: {why}") from None
    bot.kill()
    if len(version := bot.version) > _MOST_VERSION or not version.isprintable():
        raise InputError(f"its version is not one of at most {_MOST_VERSION} printable characters")
    return url, version, hashlib.sha256(f"{url}\0{version}".encode()).hexdigest()
