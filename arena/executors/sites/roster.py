"""Roster: which hosts there are, which have a site that plays, and which are left out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

from arena.errors import InputError, NoSites
from arena.executors.log import logger

if TYPE_CHECKING:
    from arena.executors.sites.site_batch import Batch

_MOST_FAILURES = 3  # in a row, of the sites of one host
_MOST_ENDS = 30  # of sites in a row, of all hosts, without one batch that was played
_PAUSE = 1.0  # seconds before a host's site is opened again, doubled each time


class Site:
    """One site of a host, from its opening to its end."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.token = uuid4().hex
        self.is_ready = False
        self.batches: set[Batch] = set()
        self.asked = 0.0  # when it was asked for a sign of life that has not come, else 0

    def __str__(self) -> str:
        return self.host.name

    def silence(self) -> float:
        """Return for how many seconds it has been asked for a sign of life that has not come."""
        asked = self.asked  # another thread may hear the sign
        return time.monotonic() - asked if asked else 0.0


class Host:
    """A process on another machine that can have a site; `out` says why it has none for good."""

    def __init__(self, name: str, cores: int) -> None:
        self.name = name
        self.cores = cores
        self.site: Site | None = None
        self.failures = 0
        self.refused = False
        self.out = ""
        self.opens_at = 0.0


class Roster:
    """All hosts that there are, by name.

    `patience` is for how many seconds there may be no site that plays.
    """

    def __init__(self, patience: float) -> None:
        self.hosts: dict[str, Host] = {}
        self.patience = patience
        self.ends = 0
        self.last_reason = ""
        self._since = time.monotonic()  # there was a site that plays

    def join(self, name: str, cores: int) -> None:
        """Add a host."""
        self.hosts[name] = Host(name, cores)

    def leave(self, name: str, reason: str) -> Site | None:
        """Remove a host, and return its site."""
        host = self.hosts.pop(name, None)
        self.last_reason = f"{name}: {reason}"
        return host.site if host else None

    @property
    def ready(self) -> Iterator[Site]:
        """The sites that play."""
        for host in [*self.hosts.values()]:  # another thread may look
            if host.site and host.site.is_ready:
                yield host.site

    @property
    def is_opening(self) -> bool:
        """Whether a host has not said yet whether it plays."""
        return any(host.site and not host.site.is_ready for host in self.hosts.values())

    def to_open(self) -> Iterator[Host]:
        """Yield the hosts that are to open a site now."""
        now = time.monotonic()
        for host in self.hosts.values():
            if host.site is None and not host.out and now >= host.opens_at:
                yield host

    def refuse(self, host: Host, reason: str) -> None:
        """Leave a host out that cannot play this run."""
        host.site, host.refused, host.out = None, True, reason
        logger.warning("site %s is left out: %s", host.name, reason)

    def fail(self, site: Site, reason: str) -> None:
        """Take note that a site has ended; its host opens another one, unless it often did."""
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
            logger.warning("site %s has ended: %s; its games go elsewhere", host.name, reason)

    def succeed(self, site: Site) -> None:
        """Take note that a site has played a batch."""
        site.host.failures = self.ends = 0

    def check(self) -> None:
        """Raise NoSites when there is no hope of a site, InputError if none can play this run."""
        now = time.monotonic()
        hosts = [*self.hosts.values()]
        if self.is_opening or any(True for _ in self.ready):
            self._since = now
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
