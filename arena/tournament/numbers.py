"""Numbers: the types of a tournament's numbers, with their bounds."""

from __future__ import annotations

from typing import Annotated, TypeVar

from msgspec import Meta

from arena.tournament.bounds import MOST_BOTS, MOST_PAIRS, MOST_ROUNDS, MOST_SEED, MOST_WORKERS

_Bot = TypeVar("_Bot")

Seed = Annotated[int, Meta(ge=0, le=MOST_SEED)]
Positive = Annotated[int, Meta(ge=1)]
Pairs = Annotated[int, Meta(ge=1, le=MOST_PAIRS)]
Rounds = Annotated[int, Meta(ge=0, le=MOST_ROUNDS)]
Workers = Annotated[int, Meta(ge=1, le=MOST_WORKERS)]
Bots = Annotated[list[_Bot], Meta(max_length=MOST_BOTS)]
