"""Timings: the content of timings.csv, which only a run can write, read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from arena.entries.file import read_file
from arena.errors import InputError
from arena.games.timing import Distribution, Timing
from arena.store.cells import read_back
from arena.store.folder import TIMINGS

if TYPE_CHECKING:
    import pandas as pd

_MOST = 1 << 20  # bytes: a thousand bots have 150 KB


Timings: TypeAlias = Mapping[str, Timing]
"""How long the decisions of each bot took, by its label."""


def read_timings(folder: Path) -> bytes | None:
    """Return the content of a run's timings, None where it has none; raises InputError."""
    file = folder / TIMINGS
    if not file.exists():
        return None
    try:
        return read_file(file, _MOST)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def parse_timings(content: bytes) -> pd.DataFrame:
    """Return the table of a file's content; raises InputError for another content."""
    import pandas as pd

    try:
        table = read_back(pd.read_csv(BytesIO(content), keep_default_na=False))
    except ValueError as error:
        raise InputError(f"{TIMINGS}: {error}") from None
    if [*table.columns] != [*make_timings({}, []).columns]:
        raise InputError(f"{TIMINGS}: not the columns of timings")
    return table


def make_timings(by_label: Timings, labels: Iterable[str]) -> pd.DataFrame:
    """Return seconds per decision of each bot, over the decisions that were timed.

    They are given by the time of the processor, and by the wall clock.
    """
    import pandas as pd

    rows = [
        (label, timing.decisions, *_seconds(timing.cpu), *_seconds(timing.wall))
        for label in labels
        if (timing := by_label.get(label))
    ]
    times = [f"{clock}_{what}" for clock in ("cpu", "wall") for what in ("mean", "p99", "max")]
    table = pd.DataFrame(rows, columns=["bot", "decisions", *times])
    return table.round(dict.fromkeys(times, 9))


def _seconds(times: Distribution) -> tuple[float, float, float]:
    return times.mean, times.quantile(0.99), times.longest
