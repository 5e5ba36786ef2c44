"""Play a plan on all sites, with a few batches assigned to each in advance.

The batches of a site that fails go to another one. A batch may be played twice; the first answer
counts, as a game has the same record on every site.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from arena.addons.cluster import wire
from arena.addons.cluster.calls import Calls, Event, Gone, Joined, Left, Places, own_place
from arena.addons.cluster.roster import LEFT, Batch, Held, Host, Opening, Roster, Site
from arena.errors import NoSites
from arena.executors.answers import Garbled, check_refusal
from arena.executors.log import RunLog, logger
from arena.tournament.keys import HERE, PATIENCE, Venue
from arena.tournament.plan import CHUNK_SECONDS, Chunk, Plan, Played
from arena.tournament.timing import Speeds
from arena.tournament.tournament import Tournament

_WINDOW = 2  # batches assigned to each site at a time
_TICK = 0.5  # seconds
_SILENCE = 60.0  # seconds without an answer to a heartbeat, after which a site is lost
_OPENING = 60.0  # seconds for which the first batch waits for all sites to open
_MOST_BATCH = 4096  # short chunks
_LATE = 2.0  # times the mean time of a batch, after which an idle site plays it too
_LATE_AT_LEAST = 1.0  # seconds


class Fleet:
    """Plays the chunks of a plan on sites at all available places.

    A site has the workers of the `venue`, by default one for each core. `own` hosts the client's
    own site, which replays doubtful games if no other machine can.
    """

    def __init__(
        self,
        places: Places,
        plan: Plan,
        tournament: Tournament,
        log: RunLog,
        *,
        venue: Venue = HERE,
        patience: float = PATIENCE,
    ) -> None:
        self.plan = plan
        self.opening = Opening(tournament, venue)
        self.speeds = Speeds()
        self._pairings = tournament.pairings
        self.log = log
        self.roster = Roster(patience)
        self.own = Host("the client", own_place())
        self.calls = Calls(places, self.own, self._sites)
        self.waiting: list[Batch] = []  # to be sent to a site, in the order of the schedule
        self.batches: set[Batch] = set()  # that are not done
        self._doubtful: Counter[int] = Counter()  # numbers of batches that replay games
        self._began = 0.0
        self._is_begun = False
        self._durations = [0.0, 0]  # of batches: their sum and number
        self._late_batches: list[Batch] = []
        self._looked = 0.0
        self._numbers = itertools.count(1)  # of batches

    def play(self) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield its results; raises NoSites and InputError."""
        self._began = time.monotonic()
        try:
            self.calls.start()
            while self._give():
                for event in self.calls.events():
                    yield from self._handle(event)
                self._look()
        finally:
            self.calls.close()

    # what is played where

    def _give(self) -> bool:
        """Send batches to sites that have few; return whether there is anything to wait for."""
        for one in [*self.roster.to_open()]:
            self._open(one)
        if not self._may_begin():
            return True
        hungry = [site for site in self._players() if len(site.batches) < _WINDOW]
        for ahead in range(_WINDOW):
            for site in hungry:
                if len(site.batches) <= ahead and (batch := self._next_batch(site)):
                    self._send(batch, site)
        return bool(self.batches) or not self.plan.is_finished

    def _players(self) -> list[Site]:
        own = self.own.site
        return [*self.roster.ready, *([own] if own and own.is_ready else [])]

    def _sites(self) -> list[Site]:
        """Return all sites, also those that are not ready; can be called in another thread."""
        hosts = [*self.roster.hosts.values(), self.own]
        return [site for site in [one.site for one in hosts] if site]

    def _may_begin(self) -> bool:
        """Return whether all sites have reported what they lack, or their time to do so is over."""
        if not self._is_begun and any(True for _ in self.roster.ready):
            late = time.monotonic() - self._began > _OPENING
            self._is_begun = late or not self.roster.is_opening
        return self._is_begun

    def _next_batch(self, site: Site) -> Batch | None:
        """Return the next batch for a site, None if there is nothing."""
        for batch in sorted(self.waiting, key=lambda batch: batch.chunks[0][:2]):
            if self._is_useless(batch):
                self.waiting.remove(batch)
            elif batch.may_go_to(site):
                self.waiting.remove(batch)
                return batch
        if site.host is self.own:
            return None
        chunks = self._next_chunks(site.host.chunks * self._workers_of(site.host))
        return self._add(Batch(next(self._numbers), chunks)) if chunks else self._late(site)

    def _next_chunks(self, most: int) -> list[Chunk]:
        """Return the next chunks of the plan: so many long ones, or short ones of the same time."""
        chunks: list[Chunk] = []
        seconds = 0.0
        while seconds < most * CHUNK_SECONDS and len(chunks) < max(most, _MOST_BATCH):
            if (chunk := self.plan.next(self._is_clear)) is None:
                break
            chunks.append(chunk)
            expected = self.speeds.expect(self._pairings[chunk.pairing], chunk.games)
            seconds += min(CHUNK_SECONDS, expected)
        return chunks

    def _is_clear(self, pairing: int) -> bool:
        """Return whether no game of a pairing is doubtful; else one of its bots may soon be out."""
        return not self._doubtful[pairing]

    def _add(self, batch: Batch) -> Batch:
        self.batches.add(batch)
        return batch

    def _is_useless(self, batch: Batch) -> bool:
        """Return whether a batch has been played, or all its games have become forfeits by rule."""
        if batch.is_done:
            return True
        if not all(self.plan.is_out(chunk.pairing) for chunk in batch.chunks):
            return False
        self._finish(batch)
        chunks = [batch.held.played.chunk] if batch.held else batch.chunks
        self.plan.take_back(chunks)
        return True

    def _late(self, idle: Site) -> Batch | None:
        """Return a batch that takes another site unusually long, or None."""
        for batch in self._late_batches:
            if not batch.is_done and len(batch.playing) == 1 and batch.may_go_to(idle):
                return batch
        return None

    def _find_late(self) -> list[Batch]:
        """Return the batches that take unusually long, the longest first."""
        total, count = self._durations
        usual = max(_LATE_AT_LEAST, _LATE * total / count if count else _LATE_AT_LEAST)
        late = [batch for batch in self.batches if batch.playing and batch.seconds > usual]
        return sorted(late, key=lambda batch: batch.seconds, reverse=True)

    def _send(self, batch: Batch, site: Site) -> None:
        batch.give(site)
        data = wire.write_batch(batch.number, batch.chunks)
        if site.host.place.pool:
            head = self.opening.head(self._workers_of(site.host))
            self.calls.ask(site, batch, wire.play_once, head, batch.number, data)
        else:
            self.calls.ask(site, batch, wire.play_batch, site.token, batch.number, data)

    def _workers_of(self, one: Host) -> int:
        return self.opening.venue.workers or one.place.cores

    def _open(self, one: Host) -> None:
        """Open a host's site; in a pool it is opened with each batch."""
        one.site = site = Site(one)
        if one.place.pool:
            site.is_ready = True
            return
        head = self.opening.head(self._workers_of(one))
        self.calls.ask(site, None, wire.open_site, site.token, head)

    # what happens

    def _handle(self, event: Event) -> Iterator[Played]:
        """Handle an event, and yield the chunks that it finishes."""
        if isinstance(event, Joined):
            self.roster.join(event.name, event.place)
        elif isinstance(event, Left):
            if site := self.roster.leave(event.name):
                self._lose(site, LEFT)
                self.calls.forget(site)
        elif isinstance(event, Gone):
            self.calls.is_gone = True
            raise NoSites(event.reason)
        else:
            yield from self._hear_answer(*event)

    def _hear_answer(
        self, site: Site, batch: Batch | None, value: Any, error: str
    ) -> Iterator[Played]:
        """Yield the chunks that the answer to a call finishes; without a batch it opened a site."""
        try:
            if error:
                self._lose(site, error)
            elif batch is None:
                self._welcome(site, value)
            elif not site.host.place.pool:
                yield from self._accept(site, batch, value)
            elif self._welcome(site, value[0]):
                yield from self._accept(site, batch, value[1])
        except Garbled as garbled:
            self._lose(site, str(garbled))

    def _welcome(self, site: Site, data: bytes) -> bool:
        """Accept a site unless it lacks something; return whether it plays."""
        if lack := self.opening.find_lack(data):
            self.calls.end(site)
            self.roster.refuse(site.host, lack)
            self._give_back(site)
            return False
        site.is_ready = True
        return True

    def _accept(self, site: Site, batch: Batch, data: bytes) -> Iterator[Played]:
        """Yield the results of a batch, except chunks with games to replay elsewhere first."""
        seconds = batch.seconds
        played, lines = wire.read_answer(data, batch.chunks)
        for one in played:
            check_refusal(one, self.opening.tournament)
        batch.drop(site)
        self._repeat(site, lines)
        self.roster.succeed(site)
        if batch.is_done:
            return
        self._durations[0] += seconds
        self._durations[1] += 1
        self._finish(batch)
        if batch.held:
            yield batch.held.settle([one.check() for one in played])
            return
        for one in played:
            chunk = one.check().chunk
            self.speeds.learn(self._pairings[chunk.pairing], one.seconds / chunk.games)
            held = Held(one)
            if held.chunks:
                self._play_again(held, batch)
            else:
                yield one

    def _finish(self, batch: Batch) -> None:
        batch.is_done = True
        self.batches.discard(batch)
        if batch.held:
            self._doubtful[batch.held.played.chunk.pairing] -= 1

    def _play_again(self, held: Held, batch: Batch) -> None:
        """Have doubtful games replayed on another site, or on the client's own."""
        again = self._add(Batch(next(self._numbers), held.chunks, held))
        again.given |= batch.given
        self._doubtful[held.played.chunk.pairing] += 1
        self.waiting.append(again)

    def _lose(self, site: Site, reason: str) -> None:
        """Give a site up; its batches are played elsewhere."""
        if site.host.site is site:
            if site.host is self.own or site.host.name in self.roster.hosts:
                self.calls.end(site)
            self.roster.fail(site, reason)
        self._give_back(site)

    def _give_back(self, site: Site) -> None:
        """Take the batches back from a site, to be played elsewhere."""
        for batch in [*site.batches]:
            batch.lose(site)
            if not batch.is_done and not batch.playing:
                self.waiting.append(batch)

    def _look(self) -> None:
        """Once per tick, handle what causes no event: silent sites, late batches, no site at all.

        Opens the client's own site if no other can replay a game.
        """
        now = time.monotonic()
        if now - self._looked < _TICK:
            return
        self._looked = now
        self._late_batches = self._find_late()
        for site in self._sites():
            if site.silence() > _SILENCE and self.calls.is_quiet:
                self._lose(site, f"no sign of life for {_SILENCE:g} s")
        if self.own.site is None and any(self._needs_own(batch) for batch in self.waiting):
            if self.own.out:
                raise NoSites(f"{self.own.name}: {self.own.out}")
            if time.monotonic() >= self.own.opens_at:
                self._open(self.own)
        self.roster.check()

    def _needs_own(self, batch: Batch) -> bool:
        """Return whether a batch replays games that no available site may play."""
        return bool(batch.held) and not any(map(batch.may_go_to, self.roster.ready))

    def _repeat(self, site: Site, lines: Sequence[wire.Line]) -> None:
        """Write the log lines of a site to the run's log."""
        for line in lines:
            if line.process == "MainProcess":
                logger.log(line.level, "site %s: %s", site, line.text)
            else:
                self.log.write(f"{site} {line.process}", line)
