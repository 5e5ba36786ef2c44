"""Compare the files in a run's folder with those generated from its store."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import TextIO, cast

from arena.differences.run_files import Files, make_files
from arena.errors import ArenaError, not_installed, shorten
from arena.insight.judged_files import read_judged
from arena.reports.html import find_lack
from arena.reports.run_report import report_writers
from arena.store.csv_files import parse_timings, read_timings
from arena.store.folder import GAMES, GAMES_PARQUET, MANIFEST, REPORT_HTML, Writer
from arena.store.parquet import find_difference, is_available
from arena.store.store import Store
from arena.tournament.tournament import Tournament


class Difference(ArenaError):
    """A file or result in a run's folder differs from what its games and rules give."""

    def __init__(self, message: str) -> None:
        super().__init__(shorten(message))


def check_files(tournament: Tournament, store: Store, path: Path) -> int:
    """Compare every file of a run with one generated from the store.

    Returns the number of files compared; those of `find_left_out` are not. Raises Difference.
    """
    files = make_files(tournament, store)
    writers = dict(files.writers)
    manifest = store.manifest or ""
    writers[MANIFEST] = lambda file: file.write(manifest)
    for name, write in writers.items():
        _compare(path / name, write)
    reports = dict(report_writers(tournament, store, files))
    if not (path / REPORT_HTML).exists():
        reports.pop(REPORT_HTML, None)
    again = cache(lambda: _reports_again(tournament, store, files, path))
    for name, write in reports.items():
        try:
            _compare(path / name, write)
        except Difference as difference:
            if not _is_same(path / name, again().get(name)):
                raise Difference(f"{difference} ({_REPORT})") from None
    return len(writers) + len(reports) + _check_parquet(path)


def find_left_out(path: Path) -> Iterator[str]:
    """Yield a line for each file not compared, as a library is missing now or was at the run."""
    lack = find_lack()
    is_there = (path / REPORT_HTML).exists()
    if is_there and lack:
        yield f"{REPORT_HTML}: not compared: {lack}"
    if not is_there and not lack:
        yield f"{REPORT_HTML}: not there; `arena report` writes it"
    if (path / GAMES_PARQUET).exists() and not is_available():
        yield f"{GAMES_PARQUET}: not compared: {not_installed('pyarrow', 'parquet')}"


def _check_parquet(path: Path) -> int:
    """Compare games.parquet with games.csv if it exists and is readable; return 1, else 0."""
    if not (path / GAMES_PARQUET).exists() or not is_available():
        return 0
    if difference := find_difference(path / GAMES, path / GAMES_PARQUET):
        raise Difference(f"{GAMES_PARQUET}: {difference}")
    return 1


_REPORT = "or it is of another version of the arena: `arena report` writes it again"


def _is_same(path: Path, write: Writer | None) -> bool:
    """Return whether a file equals what the writer writes; False without a writer."""
    if write is None:
        return False
    try:
        _compare(path, write)
    except Difference:
        return False
    return True


def _reports_again(
    tournament: Tournament, store: Store, files: Files, path: Path
) -> Mapping[str, Writer]:
    """Return the writers of the reports of `arena report`, with times and judged decisions."""
    content = read_timings(path)
    timings = None if content is None else parse_timings(content)
    judged = read_judged(path, tournament, store)
    return report_writers(tournament, store, files, timings, judged)


def _compare(path: Path, write: Writer) -> None:
    """Compare a file with what the writer writes; raises Difference."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            comparison = _Comparison(path.name, file)
            write(cast(TextIO, comparison))
            comparison.finish()
    except (OSError, UnicodeDecodeError) as error:
        raise Difference(f"{path.name}: cannot be read: {error}") from None


class _Comparison(io.TextIOBase):
    """A stand-in for a file to write, which compares the written text with an existing file."""

    def __init__(self, name: str, file: TextIO) -> None:
        self.name = name
        self.file = file
        self.line = 1

    def write(self, text: str) -> int:
        """Compare the text with the next part of the file."""
        part = self.file.read(len(text))
        if part != text:
            same = next(n for n, two in enumerate(zip_longest(part, text)) if two[0] != two[1])
            line = self.line + text.count("\n", 0, same)
            raise Difference(f"{self.name}: line {line} is not what the games add up to")
        self.line += text.count("\n")
        return len(text)

    def finish(self) -> None:
        """Raise Difference unless the file ends here."""
        if self.file.read(1):
            raise Difference(f"{self.name}: line {self.line} is one too many")
