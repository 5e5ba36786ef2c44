"""Open the folder of a run for reading, also while it is played; find a game; copy its store."""

from __future__ import annotations

import tempfile
from pathlib import Path

from arena.errors import InputError, counted
from arena.store.database import NAME
from arena.store.finished import Game
from arena.store.manifest import read_tournament
from arena.store.store import Store
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Tournament
from engine import EngineError
from engine.errors import show

_ENDINGS = (".csv", ".html", ".json", ".log", ".md", ".parquet", ".sqlite")  # of a run's files
_MOST_NAMED = 8  # runs in a message


def read_run(path: Path) -> tuple[Tournament, Store]:
    """Return the tournament of a run, and its games as they are now; nothing is written there.

    Raises InputError where there is no run.
    """
    try:
        if not (path / NAME).is_file():
            raise InputError(f"{path}: {why_no_run(path)}")
        with (path / NAME).open("rb"):
            pass
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    store = Store(path / NAME, copied=True)
    try:
        return _tournament(path, store), store
    except BaseException:
        store.close()
        raise


def _tournament(path: Path, store: Store) -> Tournament:
    if store.manifest is None:
        raise InputError(f"{path}: no run has begun there")
    try:
        tournament = read_tournament(store.manifest)
    except InputError as error:
        raise InputError(f"{path / NAME}: {error}") from None
    store.check_games(len(tournament.pairings), tournament.most_pairs)
    return tournament


def why_no_run(path: Path) -> str:
    """Return what is at a path that has no run, and which runs are in it."""
    if path.is_file():
        return why_no_file(path) or "a file, and a run is a folder"
    if not path.is_dir():
        return "no such file or run"
    runs = sorted(str(place) for place in path.iterdir() if (place / NAME).is_file())
    if not runs:
        return f"no run: there is no {NAME}"
    more = ", ..." if len(runs) > _MOST_NAMED else ""
    return f"not a run, but holds runs: {', '.join(runs[:_MOST_NAMED])}{more}"


def why_no_file(path: Path) -> str:
    """Return what a file is that lies in the folder of a run, nothing for another file."""
    in_run = path.suffix in _ENDINGS and path.is_file() and path.with_name(NAME).is_file()
    return f"a file of a run; name its folder: {path.parent}" if in_run else ""


def to_bytes(store: Store) -> bytes:
    """Return all that a store keeps; the same content gives the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, NAME)
        store.copy_to(path)
        return path.read_bytes()


def from_bytes(content: bytes) -> Store:
    """Return the store of some bytes, in a temporary file; raises InputError if they changed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, NAME)
        path.write_bytes(content)
        return Store(path, copied=True)


def find_game(
    tournament: Tournament, store: Store, bots: tuple[str, str], pair: int, seat: int
) -> Game:
    """Return the game of this pair in which the first of two bots sat in this seat.

    Raises InputError if there is no such game, or if it has not been played yet.
    """
    for label in bots:
        if label not in tournament.by_label:
            known = ", ".join(tournament.labels)
            raise InputError(f"no bot {show(label)} in this run; there are {known}")
    if type(pair) is not int or type(seat) is not int or seat not in (0, 1):
        place = f"pair {show(pair)}, seat {show(seat)}"
        raise InputError(f"{place}: a pair is a number, a seat is 0 or 1")
    numbers = {pairing: number for number, pairing in enumerate(tournament.pairings)}
    pairing = Pairing(*bots)
    if pairing not in numbers:
        pairing, seat = Pairing(*bots[::-1]), 1 - seat
    if pairing not in numbers:
        raise InputError(f"{bots[0]} and {bots[1]} do not play each other in this run")
    fixture = Fixture(pairing, pair, seat)
    if not 0 <= pair < tournament.most_pairs:
        raise InputError(
            f"game {fixture.name}: the run has {counted(tournament.most_pairs, 'pair')}"
        )
    return _read(tournament, store, fixture, numbers[pairing])


def _read(tournament: Tournament, store: Store, fixture: Fixture, number: int) -> Game:
    """Return the game at a place, which must have been played."""
    result = store.game(number, fixture.pair, fixture.seat)
    if result is None:
        raise InputError(f"game {fixture.name}: not played yet")
    game = Game.of(tournament, fixture, result)
    try:
        game.record.replay()
    except EngineError as error:
        raise InputError(f"game {fixture.name}: its record cannot be played: {error}") from None
    return game
