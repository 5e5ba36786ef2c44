"""Keep track of the machines of a cluster: which can play, what they play, which are excluded."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import Final, NamedTuple
from uuid import uuid4

from arena.addons.cluster import wire
from arena.addons.cluster.site import hash_imports
from arena.errors import InputError, NoSites, escape
from arena.executors.log import logger
from arena.lanes.faults import KINDS, Fault
from arena.lanes.probe import find_problems
from arena.tournament.keys import Venue
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from arena.tournament.versions import versions_here

LEFT: Final = "its host has gone"
"""The reason for the loss of a site whose place has disappeared."""

_MOST_FAILURES = 3  # failures in a row of the sites of one host
_MOST_ENDS = 30  # ends of sites in a row, on all hosts, without a batch played between
_CHUNKS = 2  # chunks of a batch, for each worker of its site
_MOST_CHUNKS = 32  # the same in a pool at most: about 10 times the time to open a site
_PAUSE = 1.0  # seconds before a host's site is opened again, doubled each time


class Place(NamedTuple):
    """Where a site can be: an executor that calls functions there, and its number of cores.

    All calls reach the same process, also while other calls run. With `pool`, the name of an
    executor with several processes, a call reaches any one of them.
    """

    executor: Executor
    cores: int = 1
    pool: str = ""


class Site:
    """One site of a host, from its opening to its end."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.token = uuid4().hex
        self.is_ready = False
        self.batches: set[Batch] = set()
        self.asked = 0.0  # the time of a heartbeat call not yet answered, else 0

    def __str__(self) -> str:
        return self.host.name

    def silence(self) -> float:
        """Return for how many seconds a heartbeat call has not been answered."""
        asked = self.asked  # another thread may reset it
        return time.monotonic() - asked if asked else 0.0


class Host:
    """A process that can have a site; `out` is the reason if it is excluded for good.

    `chunks` is the number of chunks in its batches for each worker. It grows during a run in a
    pool, where a site is opened for each batch.
    """

    def __init__(self, name: str, place: Place) -> None:
        self.name = name
        self.place = place
        self.chunks = _CHUNKS
        self.site: Site | None = None
        self.failures = 0
        self.refused = False
        self.out = ""
        self.opens_at = 0.0


class Roster:
    """All current hosts, by name.

    `patience` is for how many seconds a run waits while no site plays.
    """

    def __init__(self, patience: float) -> None:
        self.hosts: dict[str, Host] = {}
        self.patience = patience
        self.ends = 0
        self.last_reason = ""
        self._since = time.monotonic()  # the last time with a site that plays
        self._waits = False  # whether it waits for a first host

    def join(self, name: str, place: Place) -> None:
        """Add a host."""
        self.hosts[name] = Host(name, place)

    def leave(self, name: str) -> Site | None:
        """Remove a host, and return its site."""
        host = self.hosts.pop(name, None)
        self.last_reason = f"{name}: {LEFT}"
        return host.site if host else None

    @property
    def ready(self) -> Iterator[Site]:
        """The sites that are ready to play."""
        for host in [*self.hosts.values()]:  # can be called in another thread
            if host.site and host.site.is_ready:
                yield host.site

    @property
    def is_opening(self) -> bool:
        """Whether a site has not reported yet whether it can play."""
        return any(host.site and not host.site.is_ready for host in self.hosts.values())

    def to_open(self) -> Iterator[Host]:
        """Yield the hosts on which to open a site now."""
        now = time.monotonic()
        for host in self.hosts.values():
            if host.site is None and not host.out and now >= host.opens_at:
                yield host

    def refuse(self, host: Host, reason: str) -> None:
        """Exclude a host that cannot play this run."""
        host.site, host.refused, host.out = None, True, reason
        logger.warning("site %s is left out: %s", host.name, reason)

    def fail(self, site: Site, reason: str) -> None:
        """Record the failure of a site; its host opens another one, up to a number of failures."""
        host = site.host
        if host.site is not site:
            return
        self.ends += 1
        self.last_reason = f"{host.name}: {reason}"
        host.site = None
        host.failures += 1
        host.opens_at = time.monotonic() + _PAUSE * 2**host.failures
        if host.failures >= _MOST_FAILURES:
            host.out = reason
            logger.warning(
                "site %s is left out after %d failures: %s", host.name, host.failures, reason
            )
        else:
            still = "its games are still to be played"
            logger.warning("site %s has ended: %s; %s", host.name, reason, still)

    def succeed(self, site: Site) -> None:
        """Record that a site has played a batch."""
        host = site.host
        host.failures = self.ends = 0
        if host.place.pool:
            host.chunks = min(2 * host.chunks, _MOST_CHUNKS)

    def check(self) -> None:
        """Raise NoSites if the wait for a site is over, InputError if no site can play this run."""
        now = time.monotonic()
        hosts = [*self.hosts.values()]
        if self.is_opening or any(True for _ in self.ready):
            self._since = now
        if not (hosts or self._waits):
            logger.warning("there is no site; waiting up to %g s for one", self.patience)
        self._waits = not hosts
        if self.ends >= _MOST_ENDS:
            raise NoSites(_describe(f"{self.ends} sites in a row have ended", self.last_reason))
        if hosts and all(host.refused for host in hosts):
            raise InputError(f"no site can play this run: {hosts[0].name}: {hosts[0].out}")
        if hosts and all(host.out for host in hosts):
            raise NoSites(_describe("all sites are left out", self.last_reason))
        if now - self._since > self.patience:
            what = f"there was no site for {self.patience:g} s"
            raise NoSites(_describe(what, self.last_reason))


def _describe(what: str, reason: str) -> str:
    return f"{what}{f', the last: {reason}' if reason else ''}"


def _machine(site: Site) -> str:
    """Return the machine of a site; all places of a pool count as one, as they may be."""
    return site.host.place.pool or site.host.name


class Held:
    """The results of a chunk, held back until its games with faults are replayed elsewhere."""

    def __init__(self, played: Played) -> None:
        self.played = played
        chunk = played.chunk
        forfeits = played.forfeits
        pairs = sorted({one.pair for one in forfeits if one.fault and not _is_sure(one.fault)})
        self.chunks = [Chunk(chunk.pairing, pair, 1, seats=chunk.seats) for pair in pairs]

    def settle(self, again: Sequence[Played]) -> Played:
        """Return the results of the chunk, with the replayed games in place of the first ones."""
        new = {result[:2]: result for played in again for result in played.results}
        results = [new.get(result[:2], result) for result in self.played.results]
        return self.played._replace(results=results)


def _is_sure(fault: Fault) -> bool:
    """Return whether a fault is the same on all machines, so that it needs no replay on another."""
    return fault.kind in KINDS and KINDS[fault.kind].is_sure


class Batch:
    """Chunks sent to one site, or to two, of which the first answer counts.

    `given` are all sites that have received it, `playing` those that are playing it now. A batch
    with `held` replays games with faults.
    """

    def __init__(self, number: int, chunks: Sequence[Chunk], held: Held | None = None) -> None:
        self.number = number
        self.chunks = chunks
        self.held = held
        self.given: set[Site] = set()
        self.playing: set[Site] = set()
        self.is_done = False
        self.began = 0.0

    def may_go_to(self, site: Site) -> bool:
        """Return whether a site may play it: no site twice, and replays on another machine."""
        if self.held:
            return all(_machine(site) != _machine(other) for other in self.given)
        return site not in self.given

    def give(self, site: Site) -> None:
        """Record that a site plays it."""
        self.given.add(site)
        self.playing.add(site)
        site.batches.add(self)
        self.began = time.monotonic()

    def drop(self, site: Site) -> None:
        """Record that a site no longer plays it."""
        self.playing.discard(site)
        site.batches.discard(self)

    def lose(self, site: Site) -> None:
        """Record that a site was lost; the next site of its host may play it."""
        self.drop(site)
        self.given.discard(site)

    @property
    def seconds(self) -> float:
        """The seconds since a site began to play it."""
        return time.monotonic() - self.began


class Opening:
    """The first message to each site of a run, and the check of its answer."""

    def __init__(self, tournament: Tournament, venue: Venue) -> None:
        self.tournament = tournament
        self.venue = venue
        self._imports = [hash_imports(entry) for entry in tournament.entries]
        self._heads: dict[int, bytes] = {}  # by number of workers

    def head(self, workers: int) -> bytes:
        """Return the first message to a site with this number of workers, encoded only once."""
        if workers not in self._heads:
            known = self.tournament, versions_here(), self._imports, workers, self.venue
            self._heads[workers] = wire.write_head(wire.Head(*known))
        return self._heads[workers]

    def find_lack(self, data: bytes) -> str:
        """Return what a site lacks, by its first message, "" if it can play.

        Raises Garbled.
        """
        hello = wire.read_hello(data)
        lacking = hello.refusals or [text for text in hello.problems if self._is_lack(text)]
        return "; ".join(escape(text) for text in lacking)

    def _is_lack(self, problem: str) -> bool:
        """Return whether the bot that does not start on the site does start here."""
        return _bot_of(problem) not in self._problems_here

    @cached_property
    def _problems_here(self) -> set[str]:
        tournament = self.tournament
        found = find_problems(tournament.entries, tournament.rules, tournament.limits)
        return {_bot_of(problem) for problem in found}


def _bot_of(problem: str) -> str:
    """Return the bot that a problem is about."""
    return problem.partition(": does not start")[0]
