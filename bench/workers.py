"""How much a second worker brings to a run of configs/quickstart.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

from arena import config, executors
from arena.schedule import round_robin
from bench.engine import Row

QUICKSTART = Path(__file__).parent.parent / "configs" / "quickstart.yaml"
PAIRS = 2000
ROUNDS = 5


def rows() -> Iterator[Row]:
    """Yield games/s on one and on two workers, which took turns, and the ratio."""
    found = config.read(QUICKSTART)
    entries = {entry.label: entry for entry in config.entries(found)}
    job = executors.Job(
        found.seed, found.game_rules(), entries, round_robin([*entries]), min(PAIRS, found.pairs)
    )
    rates = [(_rate(job, 1), _rate(job, 2)) for _ in range(ROUNDS)]
    one, two = (median(column) for column in zip(*rates, strict=True))
    ratio = median(second / first for first, second in rates)
    yield Row("one worker, games/s", f"{one:,.0f}")
    yield Row("two workers, games/s", f"{two:,.0f}", f"{ratio:.2f} of one", "1.6")


def _rate(job: executors.Job, workers: int) -> float:
    start = perf_counter()
    for _ in executors.play_all(job, workers):
        pass
    return job.games / (perf_counter() - start)
