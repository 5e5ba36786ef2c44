"""What the checksums of a store cost: at each commit, and when the store is opened."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest import mock
from zlib import crc32

from arena.store import damage, store
from arena.store.damage import enable
from arena.store.store import Store
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from bench.engine import Row
from bench.timing import Work, paired

_PAIRS = 300  # of a chunk
_CHUNKS = 50
_GAMES = 2 * _PAIRS * _CHUNKS
_COLUMNS = "pairing, pair, seat, winner, win_type, points, opponent_points, plies, fault, actions"


def rows() -> Iterator[Row]:
    """Yield what commits and openings take, with checksums beside without."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with_sums, without, ratio = paired(_committing(place / "a"), _without(place / "b"))
        yield _row("commit", with_sums, ratio, "876,000 games/s")
        yield _row("commit without checksums", without)
        with closing(sqlite3.connect(place / "a")) as database:
            enable(database)
            yield from _opening(database)


def _opening(database: sqlite3.Connection) -> Iterator[Row]:
    """Yield what the check of a store takes that is opened."""

    def check() -> None:
        damage.find_damage(database)

    def check_without() -> None:
        with mock.patch.object(damage, "find_altered", return_value=None):
            damage.find_damage(database)

    with_sums, without, ratio = paired(check, check_without)
    yield _row("open", with_sums, ratio)
    yield _row("open without checksums", without)

    def one_each() -> None:
        database.execute(f"SELECT sum(one({_COLUMNS})) FROM games").fetchone()

    database.create_function("one", -1, lambda *row: crc32(repr(row).encode()))
    yield _row("a checksum of each game in Python", paired(one_each, check_without, 5)[0])


def _committing(path: Path) -> Work:
    """Return what stores the same games again, chunk by chunk."""
    results = [
        GameResult(n // 2, n % 2, n % 3 % 2, "points", n % 40, n % 31, 48, None, "5678234xyzCT" * 4)
        for n in range(2 * _PAIRS)
    ]
    chunks = [
        Played(
            Chunk(0, first, _PAIRS),
            [game._replace(pair=first + game.pair) for game in results],
            {},
            1.0,
        )
        for first in range(0, _PAIRS * _CHUNKS, _PAIRS)
    ]

    def commit() -> None:
        path.unlink(missing_ok=True)
        kept = Store(path)
        for played in chunks:
            kept.add(played)
            kept.commit()
        kept.close()

    return commit


def _without(path: Path) -> Work:
    commit = _committing(path)

    def commit_without() -> None:
        with mock.patch.object(store, "renew_blocks", return_value=None):
            commit()

    return commit_without


def _row(what: str, seconds: float, ratio: float | None = None, asked: str = "") -> Row:
    figure = f"{_GAMES / seconds:,.0f} games/s, {1e6 * seconds / _GAMES:.2f} us a game"
    return Row(what, figure, "" if ratio is None else f"{ratio:.2f} of without", asked)
