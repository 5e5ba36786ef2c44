"""What two jails that play at the same time can tell each other: the halves of a pair, say.

It measures this machine, so its figures are not the same each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

from arena.threads import count_cores
from tests.lanes.telling import BITS, WIDTHS, Known, measure

ROUNDS = 50
WAYS = {
    "nowait": "drops pages of a file; `preadv2(RWF_NOWAIT)`",
    "mincore": "drops pages of a file; `mincore`",
    "cachestat": "drops pages of a file; `cachestat`",
    "late": "drops pages of a file; the time of a read",
    "warmed": "reads pages of a file that the arena has read; the time of a read",
    "fresh": "reads pages that nobody has read; the time of a read",
    "inodes": "opens pipes; the number of the next one (3 bits)",
    "load": "works on all cores, 20 ms a bit; the speed of a loop",
}
"""The ways that were tried: what one jail does, and by what the other finds out."""


def bits(known: Known, width: int = BITS) -> float:
    """Return the bits of a decision that came through, by the share of the bits that were right.

    >>> bits(Known(50, 50, 1.0)), bits(Known(0, 50, 0.5))
    (10.0, 0.0)
    """
    share = min(max(known.bits, 1 - known.bits), 1.0)
    unsure = -sum(part * log2(part) for part in (share, 1 - share) if part)
    return max(0.0, width * (1 - unsure))


def lines() -> Iterator[str]:
    """Yield the section: for each way what it has told."""
    yield f"One jail tells a number of {BITS} bits, {ROUNDS} times, and the other says which it"
    yield f"was; {count_cores()} cores. A way that is closed leaves the other to guess each bit."
    yield "\n| way | numbers known | bits right | bits a decision |"
    yield "|---|---|---|---|"
    for how, way in WAYS.items():
        known = measure(how, ROUNDS)
        told = bits(known, WIDTHS.get(how, BITS))
        row = f"{known.numbers} of {known.rounds} | {known.bits:.0%} | {told:.1f}"
        yield f"| {way} | {row} |"
