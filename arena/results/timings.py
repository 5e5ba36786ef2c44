"""Timings: the content of timings.csv, which only a run can write, read back."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from arena.entries.file import read_file
from arena.errors import InputError
from arena.results.cells import read_back
from arena.results.folder import TIMINGS

if TYPE_CHECKING:
    import pandas as pd

_MOST = 1 << 20  # bytes: a thousand bots have 150 KB


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

    from arena.statistics.tables import make_timings

    try:
        table = read_back(pd.read_csv(BytesIO(content), keep_default_na=False))
    except ValueError as error:
        raise InputError(f"{TIMINGS}: {error}") from None
    if [*table.columns] != [*make_timings({}, []).columns]:
        raise InputError(f"{TIMINGS}: not the columns of timings")
    return table
