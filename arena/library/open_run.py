"""Opening: the results of a run that is in a folder."""

from __future__ import annotations

import os

from arena.library.request import folder_path
from arena.library.results import Results
from arena.store.reader import read_run
from arena.store.timings import read_timings


def open_run(folder: str | os.PathLike[str]) -> Results:
    """Return the results of a finished or a running run, as they are now.

    The folder is only read, and a run that is writing there goes on. Raises InputError where
    there is no run.

    >>> import arena, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = arena.run(["greedy", "uniform"], pairs=1, out=f"{folder}/friday", progress=False)
    ...     arena.open(f"{folder}/friday").played
    2
    """
    path = folder_path(folder, "folder")
    tournament, store = read_run(path)
    return Results(tournament, store, read_timings(path), path)
