"""Schedule: which games a run has, and the address of each one's randomness."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from engine.seeds import Step


class Pairing(NamedTuple):
    """Two bots that meet, by label; `bot` is the one the run names first."""

    bot: str
    opponent: str

    def deal_address(self, pair: int) -> tuple[Step, ...]:
        """Return where the deal of a pair of games comes from.

        The labels are sorted, so that it does not matter which bot the run names first.
        """
        return ("deal", *sorted(self), pair)


def round_robin(labels: Sequence[str]) -> list[Pairing]:
    """Return every pairing of the labels once, in their order.

    >>> [" ".join(pairing) for pairing in round_robin(["a", "b", "c"])]
    ['a b', 'a c', 'b c']
    """
    return [Pairing(*two) for two in combinations(labels, 2)]
