"""`python -m tests.fuzz [SECONDS]` tries every target in turn; with --save it writes bench/FUZZ.md.

Hypothesis makes the input, with another seed each turn.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

from tests import ROOT
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
        for name in TARGETS:
            share = time.monotonic() + min(_SHARE, duration / len(TARGETS))
            counts[name] += attempt(name, turn)
            while time.monotonic() < share:
                turn += 1
                counts[name] += attempt(name, turn)
        turn += 1
    return counts


def attempt(name: str, turn: int, most: int = _TURN) -> int:
    """Try one turn's inputs of a kind, and return how many there were."""
    tried, (strategy, target) = 0, TARGETS[name]

    @seed(turn)
    @settings(
        max_examples=most,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def try_one(value: Any) -> None:
        nonlocal tried
        tried += 1
        with targets.bounded():
            target(value)

    try_one()
    return tried


HEAD = """# Random input

What `python -m tests.fuzz {duration:g} --save` has tried: hypothesis makes input that is nearly
right, with another seed every fifty inputs (tests/fuzz). Whatever it is, it is used or
refused with one printable line, after a bounded number of calls. `make study` does the same for
as many seconds as ARENA_FUZZ_SECONDS says, by default an hour.

| input | tried | findings |
|---|---|---|
"""


def main() -> None:
    """Try, print how many inputs there were, and save that if asked to."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    duration = float(words[0]) if words else seconds()
    counts = campaign(duration)
    text = HEAD.format(duration=duration)
    text += "".join(f"| {name} | {count:,} | 0 |\n" for name, count in counts.items())
    print(text)
    if "--save" in sys.argv:
        (ROOT / "bench" / "FUZZ.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
