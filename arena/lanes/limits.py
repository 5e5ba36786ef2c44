"""Limits: the time and memory a bot may use."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86_400)]
Megabytes: TypeAlias = Annotated[int, Meta(ge=64, le=1_048_576)]

GRACE = 0.5  # seconds between a limit and the killing of who has not answered


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds per decision, per game (None: no limit) and to start, and memory.

    `memory` is in MB, for each of a bot's processes.
    """

    decision: Seconds = 10.0
    game: Seconds | None = None
    start: Seconds = 10.0
    memory: Megabytes = 1024
