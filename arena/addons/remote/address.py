"""Reach the server of a bot: its address, the token for its host, and bounded requests.

The requests go through httpcore, the connections of httpx: it follows no redirect, keeps no cookie,
decodes nothing, asks no proxy, and lets us connect to the very address that was checked, with one
deadline for a whole request.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import secrets
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from time import perf_counter
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from arena.errors import InputError, not_installed
from arena.tokens import TOKENS, TOO_SHORT, hide_secrets, is_hidden
from engine import STANDARD
from engine.errors import show_start
from engine.rules import RULE_NAMES

try:
    import httpcore
except ImportError:
    raise InputError(not_installed("httpx", "remote")) from None

SESSION: Final = "Arena-Session"
KEY: Final = "Idempotency-Key"
TYPE: Final = "application/x-ndjson"
MOST_VERSION: Final = 100
"""The most characters of a version."""

_PORTS = {"http": 80, "https": 443}
_CONNECT = 5.0  # seconds for a connection
_FIRST = 10.0  # seconds in which a server says which version it has
_TRIES = 3
_LAST = 1.0  # seconds to say that a session is over
_TICK = 0.1  # seconds between two signs of life while an answer is awaited
_MOST_FIRST = 1 << 16
_AGAIN = {408, 425, 429}  # statuses that promise another answer later, as those from 500 do
_DENIED = {401, 403}
_FORGOTTEN = 410
_NAT64 = IPv6Address("64:ff9b::")


class Unreached(Exception):
    """A server did not answer: an outage, and no fault of the bot; `is_final` means for now."""

    def __init__(self, why: str, *, is_final: bool = False) -> None:
        super().__init__(why)
        self.is_final = is_final


class Late(Unreached):
    """A server has the request, and did not answer in time."""


class BadAnswer(Exception):
    """What a server has answered is no answer of a bot."""


class Address(NamedTuple):
    """The address of a server; `str` of it is its URL, by which the bot is known."""

    scheme: str
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self._host}{port}{self.path}"

    @property
    def _host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def places(self) -> set[str]:
        """The names under which a token can be for this host."""
        whole = f"{self._host}:{self.port}"
        return {whole, self._host} if self.port == _PORTS[self.scheme] else {whole}


def parse_address(text: str) -> Address:
    """Return the parts of a URL; raises InputError unless it has only a host, a port and a path.

    >>> parse_address("http://GPU.local:8000/greedy/")
    Address(scheme='http', host='gpu.local', port=8000, path='/greedy')
    """
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname or ""
    except ValueError as error:
        raise InputError(f"not an address: {error}") from None
    if parts.username is not None or parts.password is not None:
        raise InputError(f"an address has no user and no password; a token stands in {TOKENS}")
    if "?" in text or "#" in text:
        raise InputError("an address has no ? and no #; parameters stand in (...)")
    if not host or not text.isascii() or not text.isprintable() or " " in text or port == 0:
        raise InputError("an address is http://HOST:PORT or https://HOST:PORT, in ASCII")
    scheme = parts.scheme.lower()
    return Address(scheme, host, port or _PORTS[scheme], parts.path.rstrip("/"))


def find_token(address: Address) -> str:
    """Return the token for a host, "" if there is none; raises InputError for a bad ARENA_TOKENS.

    No message says what stands in the variable.
    """
    found = ""
    for number, word in enumerate(os.environ.get(TOKENS, "").split(), 1):
        place, equals, token = word.partition("=")
        if not (place and equals and token and token.isascii() and token.isprintable()):
            raise InputError(f"{TOKENS}: item {number} is not HOST:PORT=TOKEN")
        if not is_hidden(token):
            raise InputError(f"{TOKENS}: item {number}: {TOO_SHORT}")
        if place.lower() in address.places:
            found = token
    return found


class Line:
    """The connection to a server, which is opened when needed, and again after a failure.

    With `public` it only goes to addresses of the public internet. `beat` is called every 0.1 s
    while an answer is awaited. `was_sent` is whether a part of the last request has left.
    """

    def __init__(
        self, address: Address, *, public: bool = False, beat: Callable[[], None] = lambda: None
    ) -> None:
        self.address = address
        self.public = public
        self.beat = beat
        self.token = find_token(address)
        self.deadline = 0.0
        self.was_sent = False
        self.has_ended = False  # whether the server has closed the connection
        self._pool = httpcore.ConnectionPool(
            _context() if address.scheme == "https" else None,
            max_connections=1,
            network_backend=_Backend(self),
        )

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()

    def ask(
        self,
        body: bytes,
        headers: Mapping[str, str],
        seconds: float,
        most: int,
        method: str = "POST",
    ) -> bytes:
        """Return the body of the answer to a request, of at most `most` bytes.

        The whole request has so many seconds. Raises Unreached, Late and BadAnswer.
        """
        more = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        sent = {"Content-Type": TYPE, "Accept-Encoding": "identity", **headers, **more}
        self.deadline = perf_counter() + seconds
        self.was_sent = self.has_ended = False
        url = f"{self.address}" if self.address.path else f"{self.address}/"
        with (
            self._explained(),
            self._pool.stream(method, url, headers=[*sent.items()], content=body) as response,
        ):
            _check_status(response.status)
            if any(name.lower() == b"content-encoding" for name, _ in response.headers):
                raise BadAnswer("its answer is compressed, which was not asked for")
            data = b""
            for part in response.iter_stream():
                data += part
                if len(data) > most:
                    raise BadAnswer(f"an answer of more than {most:,} bytes")
        data = hide_secrets(data.decode("latin-1")).encode("latin-1")  # before it is read or cut
        return data.removeprefix(codecs.BOM_UTF8)

    def end(self, headers: Mapping[str, str]) -> None:
        """Tell the server that a session is over, whatever it answers."""
        with suppress(Unreached, BadAnswer):
            self.ask(b"", headers, _LAST, _MOST_FIRST, "DELETE")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn the errors of a request into ours."""
        try:
            yield
        except httpcore.ReadTimeout:
            raise Late("no answer in time") from None
        except httpcore.TimeoutException:
            raise Unreached(f"no connection within {_CONNECT:g} s") from None
        except httpcore.NetworkError as error:
            raise Unreached(f"{error}" or "the connection was reset") from None
        except httpcore.ProtocolError as error:
            if self.has_ended:
                raise Unreached("it closed the connection without an answer") from None
            raise BadAnswer(f"not HTTP: {error}") from None

    def find_addresses(self) -> list[str]:
        """Return the addresses of the host, all of them checked; raises Unreached.

        With `public` all must be public, and so must none for a token without TLS.
        """
        host, port = self.address.host, self.address.port
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise Unreached(f"{host}: {why}") from None
        addresses = [*dict.fromkeys(str(one[4][0]) for one in found)]
        for one in addresses:
            if self.public and not is_public(one):
                raise Unreached(f"{one} is not a public address", is_final=True)
            if self.token and self.address.scheme == "http" and is_public(one):
                why = f"its token in {TOKENS} is only sent by https, or to a private address"
                raise Unreached(why, is_final=True)
        return addresses


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public internet, also where IPv6 holds an IPv4.

    >>> [is_public(one) for one in ("1.1.1.1", "127.0.0.1", "10.0.0.1", "::ffff:192.168.0.1")]
    [True, False, False, False]
    """
    one: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    if isinstance(one, IPv6Address):
        inner = one.ipv4_mapped or one.sixtofour or (one.teredo and one.teredo[1])
        if int(one) >> 32 == int(_NAT64) >> 32:
            inner = IPv4Address(int(one) & 0xFFFFFFFF)
        one = inner or one
    return one.is_global and not one.is_multicast


def _check_status(status: int) -> None:
    """Raise Unreached for the status of an outage, BadAnswer for any other but 200 and 204."""
    if status in (200, 204):
        return
    if 300 <= status < 400:
        raise BadAnswer(f"it answers {status}: redirects are not followed")
    if status in _DENIED:
        raise Unreached(f"it answers {status}: which token has it in {TOKENS}?", is_final=True)
    if status == _FORGOTTEN:
        raise Unreached("it has forgotten its games: was it started again?", is_final=True)
    if status in _AGAIN or status >= 500:
        raise Unreached(f"it answers {status}")
    raise BadAnswer(f"it answers {status}")


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()


class _Backend(httpcore.NetworkBackend):
    """Opens connections to the addresses that the line has checked."""

    def __init__(self, line: Line) -> None:
        self.line = line

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 (the line's)
        port: int,
        timeout: float | None = None,  # noqa: ARG002 (the line's)
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Any = None,
    ) -> httpcore.NetworkStream:
        """Return a connection to the first of the addresses that accepts one."""
        error: Exception = httpcore.ConnectError("it has no address")
        for one in self.line.find_addresses():
            seconds = max(_TICK, min(_CONNECT, self.line.deadline - perf_counter()))
            try:
                made = httpcore.SyncBackend().connect_tcp(one, port, seconds, None, socket_options)
                return _Stream(made, self.line)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as one_error:
                error = one_error
        raise error


class _Stream(httpcore.NetworkStream):
    """A connection with the deadline of the request that uses it."""

    def __init__(self, inner: httpcore.NetworkStream, line: Line) -> None:
        self.inner = inner
        self.line = line

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """Return what comes next, however slowly it drips, until the deadline."""
        while True:
            left = self.line.deadline - perf_counter()
            if left <= 0:
                raise httpcore.ReadTimeout
            try:
                data = self.inner.read(max_bytes, min(left, _TICK))
            except httpcore.ReadTimeout:
                self.line.beat()
                continue
            self.line.has_ended = not data
            return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Send some bytes until the deadline."""
        self.line.was_sent = True
        self.inner.write(buffer, max(_TICK, self.line.deadline - perf_counter()))

    def close(self) -> None:
        """Close the connection."""
        self.inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        """Return the connection with TLS, for the name of the host and not for its address."""
        return _Stream(self.inner.start_tls(ssl_context, server_hostname, _CONNECT), self.line)

    def get_extra_info(self, info: str) -> Any:
        """Return what the connection knows."""
        return self.inner.get_extra_info(info)


class _Said(msgspec.Struct):
    """The answer to `hello` as far as an entry needs it."""

    ready: bool = False
    version: str = ""
    error: str | None = None


class Found(NamedTuple):
    """What an entry has of a bot that lives elsewhere."""

    target: str
    version: str
    sha256: str


def find_bot(text: str, params: Mapping[str, Any], *, public: bool = False) -> Found:
    """Return the address and the version of the bot at a URL, and the hash of both.

    Raises InputError for a bad address, and for a server that does not answer `hello`.
    """
    address = parse_address(text)
    spec = f"{address} {params}"
    if hide_secrets(spec) != spec:
        raise InputError(f"a token stands in {TOKENS} only, in no address and no parameters")
    rules = {name: getattr(STANDARD, name) for name in RULE_NAMES}
    hello = {"id": 0, "type": "hello", "protocol": 1, "rules": rules, "params": params}
    line = Line(address, public=public)
    said = b""
    try:
        said = _say_hello(line, msgspec.json.encode(hello) + b"\n")
        answer = msgspec.json.decode(said, type=_Said)
    except (Unreached, BadAnswer, ValueError, RecursionError) as error:  # of msgspec, too
        start = f", in {show_start(said)}" if said else ""
        raise InputError(f"it does not answer `hello`: {error}{start}") from None
    finally:
        line.close()
    if answer.error is not None or not answer.ready:
        raise InputError(f"it is not ready: {answer.error or 'the answer to hello says so'}")
    check_version(answer.version)
    version = hide_secrets(answer.version)
    sha256 = hashlib.sha256(f"{address}\0{version}".encode()).hexdigest()
    return Found(str(address), version, sha256)


def _say_hello(line: Line, hello: bytes) -> bytes:
    """Return the answer to `hello` in a session for it alone; a failure is tried again."""
    session = {SESSION: secrets.token_hex(16)}
    headers = session | {KEY: f"{session[SESSION]}-0"}
    for left in range(_TRIES, 0, -1):
        try:
            said = line.ask(hello, headers, _FIRST, _MOST_FIRST)
            break
        except Unreached as error:
            if left == 1 or error.is_final or isinstance(error, Late):
                raise
    line.end(session)
    return said


def check_version(version: str) -> None:
    """Raise InputError for a version that does not fit a line."""
    if len(version) > MOST_VERSION or not version.isprintable():
        raise InputError(f"its version is not one of at most {MOST_VERSION} printable characters")
