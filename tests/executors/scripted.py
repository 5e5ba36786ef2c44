"""Scripted: a transport whose sites answer at once and as a test tells them, without processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from arena.executors.sites import wire
from arena.executors.sites.transport import Done, Event, Failed, Joined
from arena.games.match import GameResult
from arena.lanes.faults import Fault
from arena.tournament.chunk import Chunk, Played

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


@dataclass
class ScriptedHost:
    """A host, what its sites answer, and what they were asked; None is given no answer."""

    answer: Answering = won
    hello: wire.Hello | None = field(default_factory=lambda: wire.Hello([], []))
    is_silent: bool = False
    opens_after: float = 0.0
    cores: int = 1
    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    asked: list[tuple[str, Chunk]] = field(default_factory=list)

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
    """Calls nothing: it does what its hosts' scripts say.

    `open_calls` are those whose values have not been taken.
    """

    def __init__(self, **hosts: ScriptedHost) -> None:
        self.hosts = hosts
        self.open_calls: set[int] = set()

    def start(self, tell: Callable[[Event], None]) -> None:
        """Tell of all hosts."""
        self.tell = tell
        for name, host in self.hosts.items():
            tell(Joined(name, host.cores))

    def call(self, number: int, host: str, function: Callable[..., Any], *args: Any) -> None:
        """Tell at once what the host's script says."""
        scripted = self.hosts[host]
        try:
            value = self._answer(scripted, function.__name__, *args)
        except Exception as error:
            self.tell(Failed(number, str(error)))
            return
        if value is not None:
            self.open_calls.add(number)
            wait = scripted.opens_after if function.__name__ == "open_site" else 0.0
            if wait:
                threading.Timer(wait, self.tell, [Done(number, value)]).start()
            else:
                self.tell(Done(number, value))

    def _answer(self, host: ScriptedHost, function: str, token: str, *args: Any) -> Any:
        """Return the value of a call, None for none."""
        if function == "open_site":
            host.opened.append(token)
            return host.hello and wire.write_hello(host.hello)
        if function == "play_batch":
            return host.play(token, *args)
        if function == "close_site":
            host.closed.append(token)
        return None if host.is_silent else b""

    def took(self, number: int) -> None:
        """Take note that a value was used."""
        self.open_calls.discard(number)

    def close(self) -> None:
        """Tell nothing more."""
        self.tell = lambda _event: None
