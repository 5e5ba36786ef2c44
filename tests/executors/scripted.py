"""Scripted: places whose sites answer at once and as a test tells them, without processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from arena.addons.cluster import wire
from arena.addons.cluster.roster import Place
from arena.errors import NoSites
from arena.lanes.faults import Fault
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played

Answering: TypeAlias = Callable[[Sequence[Chunk]], list[GameResult] | bytes | None]
"""Returns the games of chunks, or an answer's bytes, or None for no answer; raises to fail."""


def won(chunks: Sequence[Chunk]) -> list[GameResult]:
    """Return games that the pairing's first bot has won."""
    return [
        GameResult(pair, seat, 0, "points", 1, 0, 2, None, "55")
        for chunk in chunks
        for pair in range(chunk.first, chunk.first + chunk.pairs)
        for seat in (0, 1)
    ]


def faulty(kind: str) -> Answering:
    """Return what answers that the first bot has lost every game by this kind of fault."""
    fault = Fault(kind, "as it was told")

    def answer(chunks: Sequence[Chunk]) -> list[GameResult]:
        games = won(chunks)
        return [game._replace(winner=1, win_type="forfeit", fault=fault) for game in games]

    return answer


@dataclass(eq=False)
class ScriptedHost(Executor):
    """A host, what its sites answer, and what they were asked; None is given no answer."""

    answer: Answering = won
    hello: wire.Hello | None = field(default_factory=lambda: wire.Hello([], []))
    is_silent: bool = False
    opens_after: float = 0.0
    cores: int = 1
    pool: str = ""
    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    asked: list[tuple[str, Chunk]] = field(default_factory=list)

    def submit(self, function: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        """Answer a call at once as the script says, or never."""
        future: Future[Any] = Future()
        try:
            value = self.call(function.__name__, *args)
        except Exception as error:
            future.set_exception(error)
            return future
        if value is not None and self.opens_after and function.__name__ == "open_site":
            threading.Timer(self.opens_after, future.set_result, [value]).start()
        elif value is not None:
            future.set_result(value)
        return future

    def call(self, function: str, token: str, *args: Any) -> Any:
        """Return the value of a call, None for none; in a pool the head is the token."""
        if function == "open_site":
            self.opened.append(token)
            return self.hello and wire.write_hello(self.hello)
        if function == "play_batch":
            return self.play(token, *args)
        if function == "play_once":
            assert self.hello
            if self.hello.refusals:
                return wire.write_hello(self.hello), b""
            return wire.write_hello(self.hello), self.play(f"call {len(self.asked)}", *args)
        if function == "close_site":
            self.closed.append(token)
        return None if self.is_silent else b""

    def play(self, token: str, number: int, batch: bytes) -> bytes | None:
        """Return the answer to a batch; no site is asked for a chunk twice."""
        _, chunks = wire.read_batch(batch)
        for chunk in chunks:
            assert (token, chunk) not in self.asked
            self.asked.append((token, chunk))
        games = self.answer(chunks)
        if not isinstance(games, list):
            return games
        played = [
            Played(chunk, [game for game in games if _is_of(game, chunk)], {}, 1.0)
            for chunk in chunks
        ]
        return wire.write_answer(number, played, [])


def _is_of(game: GameResult, chunk: Chunk) -> bool:
    return chunk.first <= game.pair < chunk.first + chunk.pairs


class Scripted:
    """The places of hosts, which come and go; `gone` says why none can be reached any more."""

    def __init__(self, **hosts: ScriptedHost) -> None:
        self.hosts = hosts
        self.gone = ""
        self.changed: Callable[[], None] = lambda: None

    def look(self) -> dict[str, Place]:
        """Return a place for each host."""
        if self.gone:
            raise NoSites(self.gone)
        return {name: Place(host, host.cores, host.pool) for name, host in self.hosts.items()}

    def join(self, name: str, host: ScriptedHost) -> None:
        """Add a host."""
        self.hosts[name] = host
        self.changed()

    def leave(self, name: str) -> None:
        """Remove a host."""
        del self.hosts[name]
        self.changed()

    def end(self, reason: str) -> None:
        """Let no host be reached any more."""
        self.gone = reason
        self.changed()
