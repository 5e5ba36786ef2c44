"""Campaign: hypothesis tries every target in turn for a time, with another seed each turn."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

from tests.fuzz import strategies, targets

TARGETS: dict[str, tuple[Any, Callable[[Any], None]]] = {
    "configs": (strategies.configs, targets.try_config),
    "specs": (strategies.specs, targets.try_spec),
    "records": (strategies.records, targets.try_records),
    "stores": (strategies.stores, targets.try_store),
    "answers": (strategies.answers, targets.try_answers),
}
_HOUR = 3600.0
_TURN = 50  # inputs from one seed
_SHARE = 60.0  # seconds of a target, before it is the next one's turn


def seconds() -> float:
    """Return how long to try: an hour, or what ARENA_FUZZ_SECONDS says."""
    return float(os.environ.get("ARENA_FUZZ_SECONDS", _HOUR))


def campaign(duration: float) -> dict[str, int]:
    """Return how many inputs of each kind were tried; raises AssertionError for a finding."""
    counts = dict.fromkeys(TARGETS, 0)
    end = time.monotonic() + duration
    turn = 0
    while time.monotonic() < end:
        for name, (strategy, target) in TARGETS.items():
            share = time.monotonic() + min(_SHARE, duration / len(TARGETS))
            counts[name] += _try(strategy, target, turn)
            while time.monotonic() < share:
                turn += 1
                counts[name] += _try(strategy, target, turn)
        turn += 1
    return counts


def _try(strategy: Any, target: Callable[[Any], None], turn: int) -> int:
    """Try one turn's inputs, and return how many there were."""
    tried = 0

    @seed(turn)
    @settings(
        max_examples=_TURN,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def attempt(value: Any) -> None:
        nonlocal tried
        tried += 1
        with targets.bounded():
            target(value)

    attempt()
    return tried
