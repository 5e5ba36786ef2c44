"""Call functions on the machines of a cluster, through any executor of `concurrent.futures`.

A `Place` is a process that can host a site. Results of calls, and places that appear or disappear,
are reported as events. The client also sends its heartbeats to the sites as calls.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from arena.addons.cluster import wire
from arena.addons.cluster.roster import Batch, Host, Place, Site
from arena.errors import NoSites, escape

_TICK = 0.5  # seconds
_LOOK = 2.0  # seconds between two looks at the places
_BEAT = 10.0  # seconds between two heartbeats of the client
_CLOSING = 15.0  # seconds in which sites may end
_OWN_CALLS: Final = 4
"""Concurrent calls of the client's own site: one opens it, two play batches, one ends it."""


class Places(Protocol):
    """A source of places for sites, such as a Dask cluster or a pool of processes."""

    def look(self) -> Mapping[str, Place]:
        """Return all places available now, by name.

        Raises NoSites if no place can be reached any more.
        """


class Joined(NamedTuple):
    """Event: a place has appeared."""

    name: str
    place: Place


class Left(NamedTuple):
    """Event: a place has disappeared; its calls will not be answered."""

    name: str


class Gone(NamedTuple):
    """Event: no place can be reached any more, now or later."""

    reason: str


class Answered(NamedTuple):
    """Event: the value of a call to a site, for a batch or to open it, or the `error`."""

    site: Site
    batch: Batch | None
    value: Any = None
    error: str = ""


Event: TypeAlias = Joined | Left | Gone | Answered


class Calls:
    """Calls functions at places, and at the client's `own` host.

    `sites` returns the sites that get the client's heartbeats; it is called in another thread.
    """

    def __init__(self, places: Places, own: Host, sites: Callable[[], Iterable[Site]]) -> None:
        self.places = places
        self.own = own
        self.is_gone = False  # when no place can be reached: only the own site can
        self._sites = sites
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._known: set[str] = set()
        self._open: dict[Future[Any], Site] = {}
        self._ended = threading.Event()

    def start(self) -> None:
        """Start to report events, and to send heartbeats to sites."""
        self.look()
        for work, seconds in ((self.look, _LOOK), (self.beat, _BEAT)):
            threading.Thread(target=self._repeat, args=(work, seconds), daemon=True).start()

    def _repeat(self, work: Callable[[], None], seconds: float) -> None:
        while not self._ended.wait(seconds):
            work()

    def look(self) -> None:
        """Report places that have appeared or disappeared."""
        try:
            places = self.places.look()
        except NoSites as error:
            self._ended.set()
            self._events.put(Gone(str(error)))
            return
        for name in sorted(self._known - places.keys()):
            self._events.put(Left(name))
        for name in sorted(places.keys() - self._known):
            self._events.put(Joined(name, places[name]))
        self._known = {*places}

    def beat(self) -> None:
        """Send a heartbeat to all sites except those in a pool, which cannot receive it."""
        for site in self._sites():
            if not (site.asked or site.host.place.pool):
                site.asked = time.monotonic()
                self._submit(site, partial(self._heard, site), wire.beat_site, site.token)

    def _heard(self, site: Site, _value: Any, error: str) -> None:
        if error:
            self._events.put(Answered(site, None, error=error))
        else:
            site.asked = 0.0

    @property
    def is_quiet(self) -> bool:
        """Whether all events have been taken."""
        return self._events.empty()

    def events(self) -> Iterator[Event]:
        """Yield the events so far; wait up to a tick for the first one."""
        with suppress(Empty):
            yield self._events.get(timeout=_TICK)
            while True:
                yield self._events.get_nowait()

    def ask(
        self, site: Site, batch: Batch | None, function: Callable[..., Any], *args: Any
    ) -> None:
        """Call a function on a site's host, for a batch or to open the site; an event follows."""

        def tell(value: Any, error: str) -> None:
            self._events.put(Answered(site, batch, value, error))

        self._submit(site, tell, function, *args)

    def _submit(
        self,
        site: Site,
        tell: Callable[[Any, str], None],
        function: Callable[..., Any],
        *args: Any,
    ) -> Future[Any] | None:
        """Call a function on a site's host, and pass `tell` its value or an error message."""
        try:
            future: Future[Any] = site.host.place.executor.submit(function, *args)
        except Exception as error:  # it has been shut down, or has lost its processes
            tell(None, _reason(error))
            return None

        def answer(future: Future[Any]) -> None:
            self._open.pop(future, None)
            if future.cancelled():
                tell(None, "its call was cancelled")
            elif error := future.exception():
                tell(None, _reason(error))
            else:
                tell(future.result(), "")

        self._open[future] = site
        future.add_done_callback(answer)
        return future

    def forget(self, site: Site) -> None:
        """Cancel the calls of a site whose host has gone."""
        for future, asked in [*self._open.items()]:
            if asked is site:
                future.cancel()

    def end(self, site: Site) -> Future[Any] | None:
        """End a site; one in a pool ends with its call."""
        if site.host.place.pool:
            self.forget(site)
            return None
        return self._submit(site, lambda *_: None, wire.close_site, site.token)

    def close(self) -> None:
        """End all sites, and wait for those that answer and for the calls that pools still run."""
        self._ended.set()
        sites = [site for site in self._sites() if site.host is self.own or not self.is_gone]
        ending = {self.end(site) for site in sites if site.silence() <= _BEAT}
        for site in sites:
            if site.silence() > _BEAT:
                self.end(site)
        playing = {future for future, site in [*self._open.items()] if site.host.place.pool}
        wait([future for future in ending | playing if future], timeout=_CLOSING)
        self.own.place.executor.shutdown(wait=False)


def own_place() -> Place:
    """Return the place in this process itself, for a site of one worker."""
    return Place(ThreadPoolExecutor(_OWN_CALLS, thread_name_prefix="own-site"))


def _reason(error: BaseException) -> str:
    return escape(str(error)).partition("\\n")[0] or type(error).__name__
