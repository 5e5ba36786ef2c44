"""Messages between an arena and its sites, and the program that hosts a site's crew."""

from __future__ import annotations

import pickle
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Final, NamedTuple

import msgspec

from arena.addons.cluster import wire
from arena.errors import ArenaError
from arena.executors import answers as frames
from arena.executors.answers import Garbled, Part, from_part, to_part
from arena.executors.log import Line as Line
from arena.lanes.faults import describe_exit
from arena.lanes.launch import Program
from arena.tournament.keys import HERE, Venue
from arena.tournament.plan import Chunk, Played, join, join_chunks
from arena.tournament.tournament import Tournament
from arena.tournament.versions import Versions
from engine.state import Seat

HEAD, BATCH = 1, 2
"""Kinds of frames to a site: the tournament, and a batch of its chunks."""

HELLO, ANSWER, BEAT = 1, 2, 3
"""Kinds of frames from a site: what it lacks, the results of a batch, and a heartbeat."""


class Head(NamedTuple):
    """What a site has to know about a run; `imports` are the entries' `hash_imports`."""

    tournament: Tournament
    versions: Versions
    imports: Sequence[str]
    workers: int
    venue: Venue = HERE


class Hello(msgspec.Struct, array_like=True):
    """A site's first message: why it refuses to play, and which bots do not start on it."""

    refusals: list[str]
    problems: list[str]


class Answer(msgspec.Struct, array_like=True):
    """The results of a batch's chunks, and the site's log meanwhile."""

    number: int
    parts: list[Part]
    lines: list[Line]


class _Told(msgspec.Struct, array_like=True):
    """An encoded Head: only a site with the same versions can read the rest."""

    versions: Versions
    head: bytes


class _Asked(msgspec.Struct, array_like=True):
    number: int
    chunks: list[tuple[int, int, int, tuple[Seat, ...], bytes]]


class _Numbered(msgspec.Struct, array_like=True):
    number: int


_told = msgspec.msgpack.Decoder(_Told)
_hello = msgspec.msgpack.Decoder(Hello)
_answer = msgspec.msgpack.Decoder(Answer)
_asked = msgspec.msgpack.Decoder(_Asked)
_numbered = msgspec.msgpack.Decoder(_Numbered)


def write_head(head: Head) -> bytes:
    """Encode the first message to a site."""
    return msgspec.msgpack.encode(_Told(head.versions, pickle.dumps(head)))


def read_versions(data: bytes) -> Versions:
    """Return the versions in an encoded Head, which may come from another version of the arena."""
    return _told.decode(data).versions


def read_head(data: bytes) -> Head:
    """Decode a Head, which must come from the same version of the arena."""
    head: Head = pickle.loads(_told.decode(data).head)
    return head


def write_hello(hello: Hello) -> bytes:
    """Encode a site's first message."""
    return msgspec.msgpack.encode(hello)


def read_hello(data: bytes) -> Hello:
    """Decode a site's first message; raises Garbled."""
    try:
        return _hello.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Garbled(f"its first message cannot be read: {error}") from None


def write_batch(number: int, chunks: Sequence[Chunk]) -> bytes:
    """Encode a batch for a site."""
    places = [
        (*chunk[:3], chunk.seats, pickle.dumps(chunk.question) if chunk.question else b"")
        for chunk in chunks
    ]
    return msgspec.msgpack.encode(_Asked(number, places))


def read_batch(data: bytes) -> tuple[int, list[Chunk]]:
    """Decode the number and the chunks of a batch."""
    asked = _asked.decode(data)
    return asked.number, [
        Chunk(*place[:3], seats=place[3], question=pickle.loads(place[4]) if place[4] else None)
        for place in asked.chunks
    ]


def write_answer(number: int, played: Sequence[Played], lines: list[Line]) -> bytes:
    """Encode a site's answer to a batch; adjacent chunks are joined into one part."""
    ordered = deque(sorted(played, key=lambda one: one.chunk[:2]))
    parts = []
    for chunk in join_chunks([one.chunk for one in played]):
        own: list[Played] = []
        missing = chunk.pairs
        while missing:
            own.append(ordered.popleft())
            missing -= own[-1].chunk.pairs
        parts.append(to_part(join(chunk, own)))
    return msgspec.msgpack.encode(Answer(number, parts, lines))


def number_of(answer: bytes) -> int:
    """Return the number of the batch that an answer is for; raises Garbled."""
    try:
        return _numbered.decode(answer).number
    except (msgspec.DecodeError, RecursionError) as error:
        raise Garbled(f"its answer cannot be read: {error}") from None


def read_answer(data: bytes, chunks: Sequence[Chunk]) -> tuple[list[Played], list[Line]]:
    """Decode the results of these chunks, in order, and the site's log.

    Adjacent chunks are joined. Raises Garbled unless the answer has every game of every chunk
    exactly once, and each is plausible.
    """
    try:
        answer = _answer.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Garbled(f"its answer cannot be read: {error}") from None
    parts = {(part.pairing, part.first): part for part in answer.parts}
    played = []
    for chunk in join_chunks(chunks):
        part = parts.get(chunk[:2])
        if part is None:
            raise Garbled("its answer has other games than it was asked for")
        played.append(from_part(part, chunk))
    return played, answer.lines


CLIENT_PATIENCE = 45.0
"""Seconds without a heartbeat of the client, after which a site is ended."""

PROGRAM: Final = "from arena.addons.cluster.site import main; main()"
"""The program of a site."""

_SITE_PATIENCE = 30.0  # seconds without a heartbeat of the site
_END_PATIENCE = 10.0  # seconds in which a site may end before it is killed
_TICK = 1.0

_sites: dict[str, HostedSite] = {}
_lock = threading.Lock()


class SiteEnded(ArenaError):
    """A site has ended, or does not answer."""


class HostedSite:
    """A site's program, as its host sees it; several threads may use it."""

    def __init__(self, head: bytes, *, hears_of_client: bool = True) -> None:
        self.hears_of_client = hears_of_client
        self._program = Program(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process = self._program.process
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._sink = self._process.stdin.fileno()
        self._source = self._process.stdout.fileno()
        self._sending = threading.Lock()
        self._waiting: dict[int, SimpleQueue[bytes]] = {}
        self._hello: SimpleQueue[bytes] = SimpleQueue()
        self._beat = self.heard = time.monotonic()
        self.ended = ""
        for work in (self._listen, self._watch):
            threading.Thread(target=work, daemon=True).start()
        self._send(wire.HEAD, head)

    def hello(self) -> bytes:
        """Return the site's first message; raises SiteEnded."""
        return self._take(self._hello)

    def play(self, number: int, batch: bytes) -> bytes:
        """Send a batch, and return its results; raises SiteEnded."""
        answers = self._waiting.setdefault(number, SimpleQueue())
        self._send(wire.BATCH, batch)
        try:
            return self._take(answers)
        finally:
            self._waiting.pop(number, None)

    def _take(self, queue: SimpleQueue[bytes]) -> bytes:
        if self.ended:
            raise SiteEnded(self.ended)
        data = queue.get()
        if not data:
            queue.put(b"")
            raise SiteEnded(self.ended)
        return data

    def _send(self, kind: int, data: bytes) -> None:
        with suppress(OSError), self._sending:  # `_listen` notices its end
            frames.send(self._sink, kind, data)

    def _listen(self) -> None:
        """Receive the site's messages until it ends."""
        with suppress(EOFError, OSError, frames.Garbled):
            while True:
                kind, data = frames.receive(self._source)
                self._beat = time.monotonic()
                if kind == wire.HELLO:
                    self._hello.put(data)
                elif kind == wire.ANSWER:
                    answers = self._waiting.get(wire.number_of(data))
                    if answers is not None:
                        answers.put(data)
        self.kill()  # it has ended, or has sent invalid data
        self._fail(self.ended or self._last_words())

    def _last_words(self) -> str:
        """Return why the site has ended."""
        said = self._program.last_words()
        how = describe_exit(self._process.returncode)
        return f"its program {how}" + (f": {said}" if said else "")

    def _fail(self, why: str) -> None:
        """Wake all threads that wait for an answer, which will not come."""
        self.ended = why
        for queue in (self._hello, *[*self._waiting.values()]):
            queue.put(b"")

    def _watch(self) -> None:
        """End the site if its client, or the site itself, is silent for too long."""
        while self._process.poll() is None:
            now = time.monotonic()
            if self.hears_of_client and now - self.heard > CLIENT_PATIENCE:
                self.ended = f"the client was silent for {CLIENT_PATIENCE:g} s"
                self.end()
            elif now - self._beat > _SITE_PATIENCE:
                self.ended = f"its program was silent for {_SITE_PATIENCE:g} s"
                self.kill()
            time.sleep(_TICK)

    def end(self) -> None:
        """End the site by closing its input; kill it if that is not enough."""
        with self._sending, suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        try:
            self._process.wait(_END_PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill the site's program; its workers die with it, and the next site removes its files."""
        self._program.kill()


def open_site(token: str, head: bytes) -> bytes:
    """Start the site with this token, and return its first message; raises SiteEnded."""
    with _lock:
        for other in [other for other, ended in _sites.items() if ended.ended]:
            del _sites[other]
        site = _sites[token] = HostedSite(head)
    return site.hello()


def play_batch(token: str, number: int, batch: bytes) -> bytes:
    """Return the results of a batch, played on the site with this token; raises SiteEnded."""
    return _find(token).play(number, batch)


def play_once(head: bytes, number: int, batch: bytes) -> tuple[bytes, bytes]:
    """Open a site, play a batch on it and end it; return its first message and the results.

    For pools, in which a certain process cannot be reached again: nothing outlives the call. The
    results are empty if the site refuses to play. Raises SiteEnded.
    """
    site = HostedSite(head, hears_of_client=False)
    try:
        hello = site.hello()
        return hello, b"" if wire.read_hello(hello).refusals else site.play(number, batch)
    finally:
        site.end()


def beat_site(token: str) -> None:
    """Pass a heartbeat of the client on to a site; raises SiteEnded."""
    _find(token)


def close_site(token: str) -> None:
    """End the site with this token, if there is one."""
    with _lock:
        site = _sites.pop(token, None)
    if site is not None:
        site.end()


def _find(token: str) -> HostedSite:
    with _lock:
        site = _sites.get(token)
    if site is None:
        raise SiteEnded("it has ended, or its host was started anew")
    site.heard = time.monotonic()
    if site.ended:
        raise SiteEnded(site.ended)
    return site
