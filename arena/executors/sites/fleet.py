"""Fleet: plays a plan on sites, wherever they are, with a few batches on the way to each.

Whatever becomes of a site, its batches go to another one: a game has the same bytes on all of
them. So a batch may be played twice, and the first answer counts.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from queue import Empty, SimpleQueue
from typing import Any

from arena.entries.elsewhere import hash_imports
from arena.errors import NoSites
from arena.executors.log import RunLog, logger
from arena.executors.sites import host, wire
from arena.executors.sites.batch import Batch, Held
from arena.executors.sites.roster import Host, Roster, Site
from arena.executors.sites.transport import (
    Done,
    Event,
    Failed,
    Gone,
    Here,
    Joined,
    Left,
    Transport,
)
from arena.executors.sites.versions import versions_here
from arena.lanes.faults import printable
from arena.lanes.probe import find_problems
from arena.tournament.chunk import Played
from arena.tournament.executor import PATIENCE
from arena.tournament.plan import Plan
from arena.tournament.tournament import Tournament

_WINDOW = 2  # batches on the way to each site
_CHUNKS = 2  # of a batch, for each core of its site
_TICK = 0.5  # seconds
_BEAT = 10.0  # seconds from one sign of life of the client to the next
_SILENCE = 60.0  # seconds in which a site answers one
_OPENING = 60.0  # seconds for which the first game waits for sites to open
_CLOSING = 15.0  # seconds in which sites end
_LATE = 2.0  # times the usual length of a batch, after which an idle site plays it too
_LATE_AT_LEAST = 1.0  # seconds


class Fleet:
    """Plays the chunks of a plan on the sites of a transport's hosts.

    A site has `workers` workers, or with 0 one for each core of its host. `own` has the client's
    own site, on which doubtful games are played again where there is no other site.
    """

    def __init__(
        self,
        transport: Transport,
        plan: Plan,
        tournament: Tournament,
        log: RunLog,
        *,
        workers: int = 0,
        patience: float = PATIENCE,
    ) -> None:
        self.transport = transport
        self.plan = plan
        self.tournament = tournament
        self.log = log
        self.workers = workers
        self._imports = [hash_imports(entry) for entry in tournament.entries]
        self._heads: dict[int, bytes] = {}  # by number of workers
        self.roster = Roster(patience)
        self.own = Host("the client", 1)
        self.own_transport = Here({})
        self.waiting: deque[Batch] = deque()
        self.batches: set[Batch] = set()  # that are not done
        self.events: SimpleQueue[Event] = SimpleQueue()
        self._numbers = itertools.count(1)
        self._calls: dict[int, tuple[Site, Batch | None]] = {}
        self._beats: dict[int, Site] = {}
        self._began = 0.0
        self._is_begun = self._is_gone = False
        self._durations = [0.0, 0]  # of batches: their sum and number
        self._ended = threading.Event()

    def play(self) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each; raises NoSites and InputError."""
        self._began = time.monotonic()
        beats = threading.Thread(target=self._beat, daemon=True)
        try:
            self.transport.start(self._hear)
            self.own_transport.start(self._hear)
            beats.start()
            while self._give():
                for event in self._next_events():
                    yield from self._handle(event)
                self._look()
        finally:
            self._ended.set()
            self._close()

    # what is played where

    def _give(self) -> bool:
        """Give batches to sites that have few; return whether there is anything to wait for."""
        for one in [*self.roster.to_open()]:
            self._open(one)
        if not self._may_begin():
            return True
        for ahead in range(_WINDOW):
            for site in self._players():
                if len(site.batches) <= ahead and (batch := self._next_batch(site)):
                    self._send(batch, site)
        return bool(self.batches) or not self.plan.is_finished

    def _players(self) -> list[Site]:
        own = self.own.site
        return [*self.roster.ready, *([own] if own and own.is_ready else [])]

    def _may_begin(self) -> bool:
        """Return whether all sites have said what they lack, or have had the time to."""
        if not self._is_begun and any(True for _ in self.roster.ready):
            late = time.monotonic() - self._began > _OPENING
            self._is_begun = late or not self.roster.is_opening
        return self._is_begun

    def _next_batch(self, site: Site) -> Batch | None:
        """Return what a site is to play next."""
        for batch in [*self.waiting]:
            if self._is_useless(batch):
                self.waiting.remove(batch)
            elif batch.may_go_to(site):
                self.waiting.remove(batch)
                return batch
        if site.host is self.own:
            return None
        most = _CHUNKS * self._workers_of(site.host)
        chunks = [*itertools.islice(iter(self.plan.next, None), most)]
        return self._add(Batch(next(self._numbers), chunks)) if chunks else self._late(site)

    def _add(self, batch: Batch) -> Batch:
        self.batches.add(batch)
        return batch

    def _is_useless(self, batch: Batch) -> bool:
        """Return whether all of a batch has become forfeits by rule, or has been played."""
        if batch.is_done:
            return True
        if not all(self.plan.is_out(chunk.pairing) for chunk in batch.chunks):
            return False
        self._finish(batch)
        chunks = [batch.held.played.chunk] if batch.held else batch.chunks
        self.plan.take_back(chunks)
        return True

    def _late(self, idle: Site) -> Batch | None:
        """Return a batch that takes another site unusually long."""
        total, count = self._durations
        usual = max(_LATE_AT_LEAST, _LATE * total / count if count else _LATE_AT_LEAST)
        late = [
            batch
            for batch in self.batches
            if len(batch.playing) == 1 and batch.may_go_to(idle) and batch.seconds > usual
        ]
        return max(late, key=lambda batch: batch.seconds, default=None)

    def _send(self, batch: Batch, site: Site) -> None:
        batch.give(site)
        data = wire.write_batch(batch.number, batch.chunks)
        self._call(site, batch, host.play_batch, site.token, batch.number, data)

    def _workers_of(self, one: Host) -> int:
        return self.workers or one.cores

    def _open(self, one: Host) -> None:
        """Open a host's site."""
        one.site = site = Site(one)
        workers = self._workers_of(one)
        if workers not in self._heads:  # 1,000 sites get the same
            head = wire.Head(self.tournament, versions_here(), self._imports, workers)
            self._heads[workers] = wire.write_head(head)
        self._call(site, None, host.open_site, site.token, self._heads[workers])

    def _call(
        self, site: Site, batch: Batch | None, function: Callable[..., Any], *args: Any
    ) -> None:
        number = next(self._numbers)
        self._calls[number] = site, batch
        self._transport_of(site).call(number, site.host.name, function, *args)

    def _transport_of(self, site: Site) -> Transport:
        return self.own_transport if site.host is self.own else self.transport

    # what happens

    def _next_events(self) -> Iterator[Event]:
        """Yield what has happened; wait a tick for the first event."""
        with suppress(Empty):
            yield self.events.get(timeout=_TICK)
            while True:
                yield self.events.get_nowait()

    def _handle(self, event: Event) -> Iterator[Played]:
        """Yield the chunks that an event finishes."""
        if isinstance(event, Joined):
            self.roster.join(event.host, event.cores)
        elif isinstance(event, Left):
            if site := self.roster.leave(event.host, event.reason):
                self._lose(site, event.reason)
        elif isinstance(event, Gone):
            self._is_gone = True
            raise NoSites(event.reason)
        elif event.call in self._calls:
            yield from self._hear_answer(*self._calls.pop(event.call), event)

    def _hear_answer(
        self, site: Site, batch: Batch | None, event: Done | Failed
    ) -> Iterator[Played]:
        """Yield the chunks that the answer to a call finishes; without a batch it opened a site."""
        try:
            if isinstance(event, Failed):
                self._lose(site, event.reason)
            elif batch is None:
                self._welcome(site, event.value)
            else:
                yield from self._accept(site, batch, event.value)
        except wire.Garbled as error:
            self._lose(site, str(error))
        finally:
            self._transport_of(site).took(event.call)

    def _welcome(self, site: Site, data: bytes) -> None:
        """Let a site play, unless it lacks something."""
        hello = wire.read_hello(data)
        lacking = hello.refusals or [text for text in hello.problems if self._is_lack(text)]
        if lacking:
            texts = "; ".join(printable(text) for text in lacking)
            self._end(site)
            self.roster.refuse(site.host, texts)
        else:
            site.is_ready = True

    def _is_lack(self, problem: str) -> bool:
        """Return whether a bot that does not start on a site starts here."""
        return _bot_of(problem) not in self._problems_here

    @cached_property
    def _problems_here(self) -> set[str]:
        tournament = self.tournament
        found = find_problems(tournament.entries, tournament.rules, tournament.limits)
        return {_bot_of(problem) for problem in found}

    def _accept(self, site: Site, batch: Batch, data: bytes) -> Iterator[Played]:
        """Yield what a batch came to, except what is to be played again elsewhere first."""
        seconds = batch.seconds
        batch.drop(site)
        played, lines = wire.read_answer(data, batch.chunks)
        self._repeat(site, lines)
        self.roster.succeed(site)
        if batch.is_done:
            return
        self._durations[0] += seconds
        self._durations[1] += 1
        self._finish(batch)
        if batch.held:
            yield batch.held.settle(played)
            return
        for one in played:
            held = Held(one)
            if held.chunks:
                self._play_again(held, batch)
            else:
                yield one

    def _finish(self, batch: Batch) -> None:
        batch.is_done = True
        self.batches.discard(batch)

    def _play_again(self, held: Held, batch: Batch) -> None:
        """Have doubtful games played on another site, or on the client."""
        again = self._add(Batch(next(self._numbers), held.chunks, held))
        again.given |= batch.given
        self.waiting.appendleft(again)

    def _lose(self, site: Site, reason: str) -> None:
        """Give a site up; what it had is played elsewhere."""
        if site.host is self.own or site.host.name in self.roster.hosts:
            self._end(site)
        if site.host.site is site:
            self.roster.fail(site, reason)
        for batch in [*site.batches]:
            batch.drop(site)
            if not batch.is_done and not batch.playing:
                self.waiting.append(batch)

    def _look(self) -> None:
        """Give up sites that are silent; open the client's own where no other can play."""
        now = time.monotonic()
        for site in self._players():
            if site.asked and now - site.asked > _SILENCE and self.events.empty():
                self._lose(site, f"no sign of life for {_SILENCE:g} s")
        if self.own.site is None and any(self._needs_own(batch) for batch in self.waiting):
            self._open(self.own)
        self.roster.check()

    def _needs_own(self, batch: Batch) -> bool:
        """Return whether every site that there is has had a batch that plays games again."""
        return bool(batch.held) and not any(map(batch.may_go_to, self.roster.ready))

    def _repeat(self, site: Site, lines: Sequence[wire.Line]) -> None:
        """Log what a site has logged."""
        for line in lines:
            text = printable(line.text).replace("\n", " ")
            if line.process == "MainProcess":
                logger.log(line.level, "site %s: %s", site, text)
                continue
            record = logging.LogRecord(logger.name, line.level, "", 0, text, None, None)
            record.processName = f"{site} {printable(line.process)}"
            for handler in self.log.handlers:
                handler.handle(record)

    # signs of life

    def _hear(self, event: Event) -> None:
        """Take an event of a transport, in any thread."""
        if isinstance(event, Done | Failed) and event.call in self._beats:
            site = self._beats.pop(event.call)
            if isinstance(event, Done):
                site.asked = 0.0
                self._transport_of(site).took(event.call)
                return
            self._calls[event.call] = site, None
        self.events.put(event)

    def _beat(self) -> None:
        """Let all sites know that the client lives, until the end."""
        while not self._ended.wait(_BEAT):
            for site in self._players():
                if site.asked:
                    continue
                number = next(self._numbers)
                site.asked = time.monotonic()
                self._beats[number] = site
                transport = self._transport_of(site)
                transport.call(number, site.host.name, host.beat_site, site.token)

    def _end(self, site: Site) -> int:
        """Have a site ended; return the number of the call."""
        number = next(self._numbers)
        transport = self._transport_of(site)
        transport.call(number, site.host.name, host.close_site, site.token)
        return number

    def _close(self) -> None:
        """End all sites, and wait for those that answer."""
        hosts = [] if self._is_gone else [*self.roster.hosts.values()]
        sites = [one.site for one in (*hosts, self.own) if one.site]
        calls = {self._end(site) for site in sites if not site.asked}
        deadline = time.monotonic() + _CLOSING
        with suppress(Empty):
            while calls:
                event = self.events.get(timeout=max(0.0, deadline - time.monotonic()))
                if isinstance(event, Done | Failed):
                    calls.discard(event.call)
        self.transport.close()
        self.own_transport.close()


def _bot_of(problem: str) -> str:
    """Return which bot a problem is about."""
    return problem.partition(": does not start")[0]
