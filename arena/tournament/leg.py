"""Leg: some pairs of one pairing, played in one round."""

from __future__ import annotations

from typing import NamedTuple


class Leg(NamedTuple):
    """The pairs from `first` to `end` of the pairing with this number."""

    pairing: int
    first: int
    end: int
