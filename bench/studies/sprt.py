"""The sequential test of `arena compare`: wrong verdicts, pairs, and the interval's coverage."""

from __future__ import annotations

from collections.abc import Iterator

SEED = 13


def lines() -> Iterator[str]:
    """Yield the tables of the section, each row as soon as it has been simulated."""
    yield "| true Elo | runs |"
    yield "|---|---|"
