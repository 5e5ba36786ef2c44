"""Write games.parquet, the rows of games.csv for other programs, if pyarrow is installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import TextIO

from arena.errors import ArenaError
from arena.store import columns
from arena.store.folder import GAMES, GAMES_PARQUET, Writer, part_of

_SMALL = 1 << 20  # bytes of a games.csv that is converted in this process


def is_available() -> bool:
    """Return whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def parquet_writers() -> Mapping[str, Writer]:
    """Return the writer of games.parquet, to run after games.csv; empty without pyarrow."""
    return {GAMES_PARQUET: _write} if is_available() else {}


def _write(file: TextIO) -> None:
    path = Path(file.name)
    games = part_of(path.with_name(GAMES))
    write = write_here if games.stat().st_size <= _SMALL else write_apart
    write(games, path)


def write_here(games: Path, path: Path) -> None:
    """Convert a small games.csv in this process: another process takes 0.2 s more.

    Raises ArenaError if the file cannot be written.
    """
    try:
        columns.write_parquet(games, path)
    except columns.FAILURES as error:
        raise ArenaError(f"{GAMES_PARQUET}: {type(error).__name__}: {error}") from None


def write_apart(games: Path, path: Path) -> None:
    """Convert a games.csv in a process of its own.

    pyarrow takes 60 MB, which would remain in the process of a long run. Raises ArenaError if the
    file cannot be written.
    """
    words = [sys.executable, "-P", columns.__file__, str(games), str(path)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stderr is not None
        lines = process.stderr.read().decode(errors="replace").splitlines()
    if process.returncode:
        reason = lines[-1] if lines else f"its writer ended with {process.returncode}"
        raise ArenaError(f"{GAMES_PARQUET}: {reason}")


def find_difference(games: Path, path: Path) -> str:
    """Describe how a games.parquet differs from a games.csv, empty if the rows are equal."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            if file.schema_arrow != columns.schema():
                return "not the columns of games"
            found = (file.read_row_group(number) for number in range(file.num_row_groups))
            both = zip_longest(found, columns.read_groups(games))
            for number, (group, wanted) in enumerate(both):
                if group is None or wanted is None or not group.equals(wanted):
                    return f"row group {number} is not what the games add up to"
    except (OSError, pa.ArrowException) as error:
        return f"cannot be read: {error}"
    return ""
