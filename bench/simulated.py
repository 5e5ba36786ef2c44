"""A simulated cluster: a fleet plays for real, and only its sites and its clock are made up.

The clock stands still while the client works, and is then put on by the time that the processor
has needed for it. So a busy machine changes little, and an hour takes no hour.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from queue import Empty
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest import mock

from arena.addons.cluster import calls, fleet, roster, wire
from arena.addons.cluster.calls import Event
from arena.addons.cluster.fleet import Fleet
from arena.addons.cluster.roster import Place
from arena.executors.log import RunLog
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Plan, Played, join_chunks
from arena.tournament.schedule import Pairing
from arena.tournament.timing import Timing
from arena.tournament.tournament import Tournament
from engine.strategy import Spent

_ACTIONS = "4T" * 24  # of 48 plies: 95 bytes a game with the rest
_DECISIONS = [Spent(1e-5 * 1.3**step, 1e-5 * 1.3**step, 0.0) for step in range(12)]
_MOST = 3600.0  # seconds of a simulation
_WIRE = 0.0005  # seconds from one machine to another


@dataclass(frozen=True)
class Cluster:
    """What is simulated; rates are games/s of a core, `calls` and times are seconds.

    A site dies every `deaths` seconds and is there again under another name after `back`. Of all
    hosts a share of `slow` plays at a tenth of the rate. The scheduler needs `calls` for each
    call, and the client's library `client` of the client's processor. Without `charged` the
    client works in no time, so that a run is always the same.
    """

    sites: int = 1000
    cores: int = 16
    rate: float = 10.0
    deaths: float = 0.0
    back: float = 5.0
    slow: float = 0.0
    calls: float = 0.0
    client: float = 0.0
    charged: bool = True
    seed: int = 1


class Clock:
    """Simulated seconds, and what happens when; the fleet takes events from it as from a queue."""

    def __init__(self, *, charged: bool) -> None:
        self.now = 0.0
        self.busy = 0.0  # seconds of the client's processor
        self.ready: deque[Event] = deque()  # what the client has not seen yet
        self._charged = charged
        self._numbers = itertools.count()
        self._plans: list[tuple[float, int, Callable[[], None]]] = []
        self._stood = time.thread_time()

    def monotonic(self) -> float:
        """Return the time as `time.monotonic` does."""
        return self.now

    def at(self, when: float, action: Callable[[], None]) -> None:
        """Let something happen later."""
        heapq.heappush(self._plans, (when, next(self._numbers), action))

    def put(self, event: Event) -> None:
        """Let the client see an event."""
        self.ready.append(event)

    def charge(self, seconds: float) -> None:
        """Let the client have worked."""
        self.busy += seconds
        if self._charged:
            self.now += seconds

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Do what the client does not do, in no time."""
        self.charge(time.thread_time() - self._stood)
        try:
            yield
        finally:
            self._stood = time.thread_time()

    def get(self, timeout: float) -> Event:
        """Return the next event; raises Empty if there is none for so long."""
        with self.aside():
            self._happen(self.now)
            until = self.now + timeout
            while not self.ready and self._plans and self._plans[0][0] <= until:
                self._happen(self._plans[0][0])
            if self.ready:
                return self.ready.popleft()
            self.now = until
            assert self.now < _MOST, "the fleet waits for what will not happen"
            raise Empty

    def get_nowait(self) -> Event:
        """Return an event that has happened; raises Empty if there is none."""
        return self.get(0.0)

    def empty(self) -> bool:
        """Return whether nothing waits for the client."""
        return not self.ready

    def _happen(self, until: float) -> None:
        """Let everything happen up to a time."""
        self.now = max(self.now, until)
        while self._plans and self._plans[0][0] <= self.now:
            _, _, action = heapq.heappop(self._plans)
            action()


class SimulatedHost:
    """A host whose site plays the chunks that it has got in their order, one on each core."""

    def __init__(self, joined: float, cores: int, rate: float) -> None:
        self.joined = joined
        self.left: float | None = None
        self.rate = rate
        self.free = [joined] * cores  # when each core has nothing to do any more: a heap
        self.begun: float | None = None
        self.worked = 0.0  # seconds of all cores, also in the future

    def play(self, now: float, chunks: Sequence[Chunk]) -> tuple[float, list[float]]:
        """Return when chunks have been played, and the seconds of each."""
        self.begun = now if self.begun is None else self.begun
        end, durations = now, []
        for chunk in chunks:
            duration = len(chunk.seats) * chunk.pairs / self.rate
            finished = max(now, self.free[0]) + duration
            heapq.heapreplace(self.free, finished)
            end = max(end, finished)
            durations.append(duration)
        self.worked += sum(durations)
        return end, durations

    def idle(self, now: float) -> tuple[float, float]:
        """Return the seconds of its cores without and with work, since its first batch."""
        if self.begun is None:
            return 0.0, 0.0
        until = now if self.left is None else self.left
        there = len(self.free) * (until - self.begun)
        worked = self.worked - sum(max(0.0, free - until) for free in self.free)
        return there - worked, worked


class SimulatedPlace(Executor):
    """Calls one host of a simulated cluster."""

    def __init__(self, places: SimulatedPlaces, host: SimulatedHost) -> None:
        self.places = places
        self.host = host

    def submit(self, function: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        """Let a call pass the scheduler."""
        future: Future[Any] = Future()
        self.places.call(future, self.host, function.__name__, args)
        return future


class SimulatedPlaces:
    """Calls that pass a scheduler and come to made-up answers; hosts that die and come back."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self.cluster = cluster
        self.clock = clock
        self.hosts: dict[str, SimulatedHost] = {}
        self.places: dict[str, Place] = {}
        self.gone: list[SimulatedHost] = []
        self.calls = self.deaths = 0
        self.changed: Callable[[], None] = lambda: None
        self._rng = Random(cluster.seed)
        self._names = itertools.count(1)
        self._scheduler = 0.0  # until then it has something to do
        self._hello = wire.write_hello(wire.Hello([], []))
        self._timings: dict[int, dict[str, Timing]] = {}
        self.labels: Sequence[Pairing] = []

    def __str__(self) -> str:
        return f"{self.cluster.sites} simulated sites"

    def look(self) -> dict[str, Place]:
        """Return the places of all hosts; from the first look on they die."""
        if not self.hosts and not self.gone:
            for _ in range(self.cluster.sites):
                self._add()
            self._plan_death()
        return self.places

    def _join(self) -> None:
        """Let a host join."""
        self._add()
        self.changed()

    def _add(self) -> None:
        cluster = self.cluster
        slow = self._rng.random() < cluster.slow
        name = f"host{next(self._names):05}"
        rate = cluster.rate / 10 if slow else cluster.rate
        self.hosts[name] = host = SimulatedHost(self.clock.now, cluster.cores, rate)
        self.places[name] = Place(SimulatedPlace(self, host), cluster.cores)

    def _plan_death(self) -> None:
        if self.cluster.deaths:
            pause = self._rng.expovariate(1 / self.cluster.deaths)
            self.clock.at(self.clock.now + pause, self._die)

    def _die(self) -> None:
        """Let one host die, and another come."""
        self._plan_death()
        if not self.hosts:
            return
        name = self._rng.choice([*self.hosts])
        host = self.hosts.pop(name)
        del self.places[name]
        host.left = self.clock.now
        self.gone.append(host)
        self.deaths += 1
        self.changed()
        self.clock.at(self.clock.now + self.cluster.back, self._join)

    def call(
        self, future: Future[Any], host: SimulatedHost, function: str, args: tuple[Any, ...]
    ) -> None:
        """Let a call pass the scheduler."""
        with self.clock.aside():
            self.calls += 1
            self.clock.charge(self.cluster.client)
            self._pass(partial(self._arrive, future, host, function, args))

    def _pass(self, action: Callable[[], None]) -> None:
        """Let something happen when the scheduler has had the time for it."""
        self._scheduler = max(self.clock.now, self._scheduler) + self.cluster.calls
        self.clock.at(self._scheduler + _WIRE, action)

    def _arrive(
        self, future: Future[Any], host: SimulatedHost, function: str, args: tuple[Any, ...]
    ) -> None:
        """Answer a call on its host, if it lives until then."""
        if host.left is not None:
            future.cancel()
        elif function == "play_batch":
            batch_number, chunks = wire.read_batch(args[2])
            end, durations = host.play(self.clock.now, chunks)
            back = partial(self._answer, future, host, batch_number, chunks, durations)
            self.clock.at(end, lambda: self._pass(back))
        else:
            value = self._hello if function == "open_site" else None
            self._pass(lambda: _finish(future, value))

    def _answer(
        self,
        future: Future[Any],
        host: SimulatedHost,
        batch_number: int,
        chunks: Sequence[Chunk],
        durations: Sequence[float],
    ) -> None:
        """Tell what a batch has come to, unless its host has died meanwhile."""
        if host.left is not None:
            return
        share = sum(durations) / sum(chunk.pairs for chunk in chunks)
        played = [
            Played(chunk, _games(chunk), self._times(chunk.pairing), share * chunk.pairs)
            for chunk in join_chunks(chunks)
        ]
        _finish(future, wire.write_answer(batch_number, played, []))

    def _times(self, pairing: int) -> dict[str, Timing]:
        """Return made-up times of decisions."""
        if pairing not in self._timings:
            timing = Timing()
            for spent in _DECISIONS:
                timing.add(spent)
            self._timings[pairing] = dict.fromkeys(self.labels[pairing], timing)
        return self._timings[pairing]

    def idle(self) -> tuple[float, float]:
        """Return the seconds of all cores without and with work, since the first batch of each."""
        pairs = [host.idle(self.clock.now) for host in (*self.hosts.values(), *self.gone)]
        idle, worked = (sum(column) for column in zip(*pairs, strict=True))
        return idle, worked


def _finish(future: Future[Any], value: object) -> None:
    if not future.cancelled():
        future.set_result(value)


def _games(chunk: Chunk) -> list[GameResult]:
    pairs = range(chunk.first, chunk.first + chunk.pairs)
    return [
        GameResult(pair, seat, (pair + seat) % 2, "points", 21, 17, 48, None, _ACTIONS)
        for pair in pairs
        for seat in (0, 1)
    ]


class SimulatedExecutor:
    """Plays on a simulated cluster, for at most so many simulated seconds."""

    def __init__(self, cluster: Cluster, seconds: float = float("inf")) -> None:
        self.cluster = cluster
        self.seconds = seconds
        self.clock = Clock(charged=cluster.charged)
        self.places = SimulatedPlaces(cluster, self.clock)
        self.games = 0

    def __str__(self) -> str:
        return str(self.places)

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        """Play on the real fleet; raises TimeoutError when the seconds are over."""
        self.places.labels = tournament.pairings
        with ExitStack() as stack:
            times = SimpleNamespace(monotonic=self.clock.monotonic)
            for module in (calls, fleet, roster):
                stack.enter_context(mock.patch.object(module, "time", times))
            stack.enter_context(mock.patch.object(calls.Calls, "_repeat"))
            stack.enter_context(mock.patch.object(calls, "wait"))
            playing = Fleet(self.places, plan, tournament, log)
            playing.calls._events = self.clock  # type: ignore[assignment]
            self.places.changed = playing.calls.look
            for played in playing.play():
                self.games += len(played.results)
                yield played
                if self.clock.now > self.seconds:
                    raise TimeoutError
