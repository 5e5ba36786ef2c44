"""Batch: some chunks for one site, and games that are played again before they are believed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.lanes.faults import KINDS, Fault
from arena.tournament.chunk import Chunk, Played

if TYPE_CHECKING:
    from arena.executors.sites.roster import Site


class Held:
    """What a chunk came to on one machine, until its faults have been seen on another."""

    def __init__(self, played: Played) -> None:
        self.played = played
        chunk = played.chunk
        forfeits = played.forfeits
        pairs = sorted({one.pair for one in forfeits if one.fault and not _is_sure(one.fault)})
        self.chunks = [Chunk(chunk.pairing, pair, 1, seats=chunk.seats) for pair in pairs]

    def settle(self, again: Sequence[Played]) -> Played:
        """Return what the chunk came to, where the games that were played again count."""
        new = {result[:2]: result for played in again for result in played.results}
        results = [new.get(result[:2], result) for result in self.played.results]
        return self.played._replace(results=results)


def _is_sure(fault: Fault) -> bool:
    """Return whether a fault is the same on all machines; else it is played again on another."""
    return fault.kind in KINDS and KINDS[fault.kind].is_sure


class Batch:
    """Chunks that one site plays, or two, of which the first answer counts.

    `given` are all sites that had it, and `playing` those that have it now. A batch with `held`
    plays games again.
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
        """Return whether a site may play it: no site twice, and games again on another host."""
        if self.held:
            return all(site.host.name != other.host.name for other in self.given)
        return site not in self.given

    def give(self, site: Site) -> None:
        """Take note that a site plays it."""
        self.given.add(site)
        self.playing.add(site)
        site.batches.add(self)
        self.began = time.monotonic()

    def drop(self, site: Site) -> None:
        """Take note that a site does not play it any more."""
        self.playing.discard(site)
        site.batches.discard(self)

    def lose(self, site: Site) -> None:
        """Take note that a site was lost; its host may play it with its next one."""
        self.drop(site)
        self.given.discard(site)

    @property
    def seconds(self) -> float:
        """Since a site has begun with it."""
        return time.monotonic() - self.began
