"""Calls: what the client asks its sites through the transports, and the signs of life it sends."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from arena.executors.sites import site_host as host
from arena.executors.sites.roster import Host, Site
from arena.executors.sites.site_batch import Batch
from arena.executors.sites.transport import Done, Event, Failed, Here, Transport

_TICK = 0.5  # seconds
_BEAT = 10.0  # seconds from one sign of life of the client to the next
_CLOSING = 15.0  # seconds in which sites end


class Calls:
    """Calls hosts, through a transport or, for the client's `own` host, in this process.

    `sites` returns those that are to hear that the client lives; it is called in another thread.
    """

    def __init__(
        self, transport: Transport, own: Host, sites: Callable[[], Iterable[Site]]
    ) -> None:
        self.transport = transport
        self.own = own
        self.own_transport: Transport = Here({})
        self.is_gone = False  # the transport: only the own host can be called
        self.numbers = itertools.count(1)
        self._sites = sites
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._open: dict[int, tuple[Site, Batch | None]] = {}
        self._beats: dict[int, Site] = {}
        self._ended = threading.Event()

    def start(self) -> None:
        """Hear from now on what happens, and let sites know that the client lives."""
        self.transport.start(self._hear)
        self.own_transport.start(self._hear)
        threading.Thread(target=self._beat, daemon=True).start()

    @property
    def is_quiet(self) -> bool:
        """Whether everything that has been heard has been seen to."""
        return self._events.empty()

    def events(self) -> Iterator[Event]:
        """Yield what has happened; wait a tick for the first event."""
        with suppress(Empty):
            yield self._events.get(timeout=_TICK)
            while True:
                yield self._events.get_nowait()

    def ask(
        self, site: Site, batch: Batch | None, function: Callable[..., Any], *args: Any
    ) -> None:
        """Call a function on a site's host, for a batch or to open the site."""
        number = next(self.numbers)
        self._open[number] = site, batch
        self._of(site).call(number, site.host.name, function, *args)

    def asked(self, number: int) -> tuple[Site, Batch | None] | None:
        """Return what a call was about, once; None for one that ended a site."""
        return self._open.pop(number, None)

    def took(self, number: int, site: Site | None = None) -> None:
        """Take note that what a call came to has been used."""
        (self._of(site) if site else self.transport).took(number)

    def end(self, site: Site) -> int:
        """Have a site ended; return the number of the call."""
        number = next(self.numbers)
        self._of(site).call(number, site.host.name, host.close_site, site.token)
        return number

    def close(self) -> None:
        """End all sites, and wait for those that answer."""
        self._ended.set()
        sites = [site for site in self._sites() if site.host is self.own or not self.is_gone]
        ended = [(self.end(site), site) for site in sites]
        waited = {number for number, site in ended if site.silence() <= _BEAT}
        deadline = time.monotonic() + _CLOSING
        with suppress(Empty):
            while waited:
                event = self._events.get(timeout=max(0.0, deadline - time.monotonic()))
                if isinstance(event, Done | Failed):
                    waited.discard(event.call)
                    self.transport.took(event.call)
        self.transport.close()
        self.own_transport.close()

    def _of(self, site: Site) -> Transport:
        return self.own_transport if site.host is self.own else self.transport

    def _hear(self, event: Event) -> None:
        """Take an event of a transport, in any thread."""
        if isinstance(event, Done | Failed) and event.call in self._beats:
            site = self._beats.pop(event.call)
            if isinstance(event, Done):
                site.asked = 0.0
                self.took(event.call, site)
                return
            self._open[event.call] = site, None
        self._events.put(event)

    def _beat(self) -> None:
        """Let all sites know that the client lives, until the end."""
        while not self._ended.wait(_BEAT):
            for site in self._sites():
                if site.asked:
                    continue
                number = next(self.numbers)
                site.asked = time.monotonic()
                self._beats[number] = site
                self._of(site).call(number, site.host.name, host.beat_site, site.token)
