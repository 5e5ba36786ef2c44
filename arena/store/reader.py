"""Read the folder of a run, also while it is played: what it is and holds, and its games."""

from __future__ import annotations

import codecs
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from arena.errors import InputError, counted, naming
from arena.files import open_file
from arena.replays.finished_game import Game
from arena.store import damage
from arena.store.database import FORMAT, NAME, OLDEST, connect
from arena.store.folder import DETAILS, REPLACED
from arena.store.manifest import MOST_BYTES, read_tournament
from arena.store.store import Store
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from arena.tournament.versions import engine_sha256
from engine import EngineError
from engine.errors import show
from engine.state import Seat

_ENDINGS = (".csv", ".html", ".json", ".log", ".md", ".sqlite")  # of a run's files
_MOST_NAMED = 8  # runs in a message
_MOST_STEPS = 100_000  # of SQLite's machine for one value: the file may be a stranger's


def read_run(path: Path) -> tuple[Tournament, Store]:
    """Return the tournament of a run and its games at present, without writing to its folder.

    Raises InputError if the path is not a run.
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


def count_kept(path: Path) -> int:
    """Return the number of games stored in a folder, 0 without a run."""
    with suppress(InputError):
        _, store = read_run(path)
        with closing(store):
            return store.count_games()
    return 0


def _tournament(path: Path, store: Store) -> Tournament:
    if store.manifest is None:
        raise InputError(f"{path}: no run has begun there")
    with naming(path / NAME):
        tournament = read_tournament(store.manifest)
    store.check_games(len(tournament.pairings), tournament.most_pairs)
    return tournament


def why_no_run(path: Path) -> str:
    """Describe a path that is not a run, and name the runs in it."""
    if path.is_file():
        return why_no_file(path) or "a file, and a run is a folder"
    if not path.is_dir():
        return "no such file or run"
    if path.name == DETAILS and (path.parent / NAME).is_file():
        return f"details of a run; name its folder: {path.parent}"
    runs = sorted(str(place) for place in path.iterdir() if (place / NAME).is_file())
    if not runs:
        return f"no run: there is no {NAME}"
    more = ", ..." if len(runs) > _MOST_NAMED else ""
    return f"not a run, but holds runs: {', '.join(runs[:_MOST_NAMED])}{more}"


def why_no_file(path: Path) -> str:
    """Explain that a file belongs to the folder of a run, empty for any other file."""
    run = path.parent.parent if path.parent.name == DETAILS else path.parent
    in_run = path.suffix in _ENDINGS and path.is_file() and (run / NAME).is_file()
    return f"a file of a run; name its folder: {run}" if in_run else ""


def holds_records(path: Path) -> bool:
    """Return whether a file has game records, and is not of a run's folder; raises InputError."""
    if not path.is_file() or why_no_file(path):
        return False
    with naming(path, OSError), open_file(path) as file:
        return begins_a_record(file.read(len(codecs.BOM_UTF8) + 1))


def begins_a_record(content: bytes) -> bool:
    """Return whether the bytes of a file begin as a game record does."""
    return content.removeprefix(codecs.BOM_UTF8).startswith(b"{")


def to_bytes(store: Store) -> bytes:
    """Return the whole content of a store as bytes; equal content gives equal bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, NAME)
        store.copy_to(path)
        return path.read_bytes()


def from_bytes(content: bytes) -> Store:
    """Load a store from bytes into a temporary file; raises InputError if they are damaged."""
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
    if type(pair) is not int or pair < 0 or type(seat) is not int or seat not in (0, 1):
        place = f"pair {show(pair)}, seat {show(seat)}"
        raise InputError(f"{place}: a pair is a number from 0 on, a seat is 0 or 1")
    for fixture, game in chosen_games(tournament, store, choose(tournament, bots, pair, seat)):
        with naming(f"game {fixture.name}: its record cannot be played", EngineError):
            game.record.replay()
        return game
    raise InputError(f"game {'/'.join([*bots, str(pair), str(seat)])}: not played yet")


class Choice(NamedTuple):
    """A selection of games by bots (one or two labels), by pair, and by seat.

    The seat is that of the first of these bots or, without bots, of a pairing's first bot. A
    missing part does not restrict the selection.
    """

    bots: tuple[str, ...] = ()
    pair: int | None = None
    seat: Seat | None = None


def choose(
    tournament: Tournament, words: Sequence[str], pair: int | None = None, seat: Seat | None = None
) -> Choice:
    """Parse words into a choice: no word, one or two labels, or a game as in bot/bot/3/1.

    Raises InputError for a bot, a pair or a game that the run does not have.
    """
    labels = tournament.by_label
    if len(words) == 1 and words[0] not in labels and "/" in words[0]:
        if pair is not None or seat is not None:
            raise InputError(f"game {show(words[0])}: it has its pair and its seat already")
        return _parse(tournament, words[0])
    if len(words) > 2:
        raise InputError(f"a game has two bots, and {len(words)} are named")
    for label in words:
        if label not in labels:
            raise InputError(f"no bot {show(label)} in this run; there are {', '.join(labels)}")
    if pair is not None and pair >= tournament.most_pairs:
        most = counted(tournament.most_pairs, "pair")
        raise InputError(f"pair {pair}: the run has {most}, from 0 on")
    choice = Choice(tuple(words), pair, seat)
    if not _numbers(tournament, choice):
        raise InputError(f"{' and '.join(words)} do not play each other in this run")
    return choice


def _parse(tournament: Tournament, name: str) -> Choice:
    """Parse the name of one game into a choice; labels may contain slashes."""
    both, *place = name.rsplit("/", 2)
    if len(place) == 2 and all(part.isascii() and part.isdigit() for part in place):
        pair, seat = int(place[0][:10]), int(place[1][:2])
        orders = (bots for two in tournament.pairings for bots in (two, two[::-1]))
        named = [bots for bots in orders if "/".join(bots) == both and seat in (0, 1)]
        if len(named) > 1:
            raise InputError(
                f"game {show(name)}: names several games; name both bots, with --pair and --seat"
            )
        if named:
            return choose(tournament, named[0], pair, seat)
    raise InputError(
        f"game {show(name)}: no bot and no game of this run; a game is bot/opponent/pair/seat"
    )


def chosen_games(
    tournament: Tournament, store: Store, choice: Choice
) -> Iterator[tuple[Fixture, Game]]:
    """Yield the chosen games that are finished, with their places, in order."""
    for number in _numbers(tournament, choice):
        pairing = tournament.pairings[number]
        seat = choice.seat
        if seat is not None and choice.bots and choice.bots[0] != pairing.bot:
            seat = 1 - seat
        for result in store.games_of(number, choice.pair, seat):
            fixture = Fixture(pairing, result.pair, result.seat)
            yield fixture, Game.of(tournament, fixture, result)


def _numbers(tournament: Tournament, choice: Choice) -> list[int]:
    """Return the numbers of the chosen pairings."""
    bots = {*choice.bots}
    if len(bots) < len(choice.bots):
        return []
    return [number for number, pairing in enumerate(tournament.pairings) if bots <= {*pairing}]


def find_changed(folder: Path, bots: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    """Return, by label, how bots differ from the bots that played the stored games.

    `bots` are the bots of a manifest. The result is empty if the folder has no run that can
    continue here, or if the old games are set aside while the changed bots play new ones.
    """
    bots = [*bots]
    found: dict[str, list[str]] = {}
    for name in (NAME, REPLACED):
        with suppress(OSError, sqlite3.Error), _glance(folder / name) as database:
            if not _can_go_on(database):
                return {}
            found = damage.find_changed(database, bots)
            if not found:
                return found
    return found


def _can_go_on(database: sqlite3.Connection) -> bool:
    """Return whether a store has the format and the engine of this arena."""
    query = "SELECT value FROM run WHERE key = 'manifest' AND instr(value, ?)"
    (number,) = database.execute("PRAGMA user_version").fetchone()
    found = database.execute(query, (engine_sha256(),)).fetchmany(1)
    return OLDEST <= number <= FORMAT and bool(found)


@contextmanager
def _glance(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a read-only connection to a store; raises sqlite3.Error."""
    place = f"file:{quote(os.path.abspath(path))}?mode=ro&immutable=1"
    with closing(connect(place)) as database:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
        database.set_progress_handler(lambda: 1, _MOST_STEPS)
        yield database
