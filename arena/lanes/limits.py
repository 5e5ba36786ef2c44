"""Limits: the time and the memory that a bot may use."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86_400)]
Megabytes: TypeAlias = Annotated[int, Meta(ge=64, le=1_048_576)]

GRACE = 0.5  # extra seconds before a silent bot is killed


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a bot may use: seconds per decision, per game (None: no limit) and to start.

    `memory` is in MB, for all processes of a bot together.
    """

    decision: Seconds = 10.0
    game: Seconds | None = None
    start: Seconds = 10.0
    memory: Megabytes = 1024
