"""Report on a run in progress: standings, first faults, and tables made while it is played."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Queue
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.entries.needs import explain_missing
from arena.errors import arena_command
from arena.executors.log import logger
from arena.tournament.match import GameResult
from arena.tournament.plan import Played
from arena.tournament.replay_command import replay_commands
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from arena.store.counting import Counts
    from arena.store.store import Store
    from arena.tables.run_games import Row
    from arena.tables.win_tables import WinSums, WinTables

_MOST_FITTED = 5000  # pairings: a fit for a hundred bots takes 0.1 s


class FirstFaults:
    """Logs the first fault of each bot in this run: what, where, and the command to replay it."""

    def __init__(self, tournament: Tournament) -> None:
        self.pairings = tournament.pairings
        self.targets = {entry.label: entry.target for entry in tournament.entries}
        self.command = replay_commands(tournament)
        self._told: set[str] = set()

    def tell(self, pairing: int, result: GameResult) -> None:
        """Log a game of this pairing that ended by a fault, if it is the first of its bot."""
        label = self.pairings[pairing][result.winner == 0]
        if label in self._told or result.fault is None:
            return
        self._told.add(label)
        kind, message, traceback, _ = result.fault
        message += explain_missing(self.targets[label], message)
        # why a bot does not start was reported before the run
        why = "" if kind == "import" else f": {message}"
        logger.warning("%s forfeits a game (%s, ply %d)%s", label, kind, result.plies, why)
        if place := find_place(traceback):
            logger.warning("  %s", place)
        fixture = Fixture(self.pairings[pairing], result.pair, result.seat)
        if command := self.command(fixture):
            logger.warning("  to see it again: %s", command)


class FirstFault(NamedTuple):
    """The first fault of a bot in a run: what, where, and the command that shows the game."""

    kind: str
    message: str
    ply: int
    game: str
    show: str


def find_first_faults(store: Store, tournament: Tournament, place: object) -> dict[str, FirstFault]:
    """Return the first fault of each bot that had one, by label; `place` is the run's folder."""
    found: dict[str, FirstFault] = {}
    for number, game in store.first_faults(1):
        fixture = tournament.fixture(number, game.pair, game.seat)
        label = fixture.pairing[int(game.winner == 0)]
        if game.fault and label not in found:
            told = game.fault.kind, game.fault.message, game.plies, fixture.name
            found[label] = FirstFault(*told, arena_command("show", [place, fixture.name]))
    return found


def find_place(traceback: str) -> str:
    """Return the location of a traceback's last frame, with its line of code; "" without frames.

    >>> lines = ["Traceback (most recent call last):", '  File "x.py", line 3, in choose']
    >>> find_place("\\n".join([*lines, "    return {}[1]", "           ~~^^^", "KeyError: 1"]))
    'File "x.py", line 3, in choose: return {}[1]'
    """
    lines = traceback.splitlines()
    places = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    if not places:
        return ""
    place, *rest = lines[places[-1] :]
    code = f": {rest[0].strip()}" if rest and rest[0].startswith("    ") else ""
    return place.strip() + code


class Interim:
    """Collects the counts of games as they arrive; rows are computed only when they are shown."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self.counts: list[Counts] = []

    def add(self, counts: Counts) -> None:
        """Add the counts of further games."""
        self.counts.append(counts)

    def rows(self) -> list[dict[str, Any]]:
        """Return the standings so far as rows, the best bot first, without bots that have no games.

        They have the columns that `insight.summary` shows. Bots without a rating are ordered by
        their score; in a run with very many pairings, that is all bots.
        """
        from arena.store.counting import add_up
        from arena.tables.counted import list_standings, make_sides

        counts = add_up(self.counts)
        self.counts = [counts]
        sides = make_sides(self.tournament.pairings, counts.tallies)
        return list_standings(sides, self._rate(sides.labels, counts))

    def _rate(self, labels: Sequence[str], counts: Counts) -> dict[str, Sequence[float | None]]:
        """Return the cells of these bots' ratings (elo, elo_low, elo_high), by label."""
        from arena.tables.win_tables import how_rated, make_field

        if len(counts.played.pair_totals) > _MOST_FITTED:
            return {}
        how, anchors = how_rated(self.tournament, counts), self.tournament.anchored
        field = make_field(self.tournament.pairings, labels, counts, anchors, (), **how)
        return {label: rating.scaled(1, 1).cells for label, rating in field.ratings.items()}


_WAITING = 8  # batches: about 30,000 games


class GrowingTables:
    """Adds up the games of a run as they arrive, so that they are not read again at its end.

    `prepare` is called first in the thread. The tables are used only if every game of the run was
    added exactly once and has not changed since.
    """

    def __init__(self, tournament: Tournament, prepare: Callable[[], object]) -> None:
        self.tournament = tournament
        self.prepare = prepare
        self.is_prepared = False
        self.is_spoilt = False
        self._sums: WinSums | None = None
        self._quota: list[int] = []
        self._queue: Queue[Sequence[Played] | None] = Queue(_WAITING)
        self._thread = threading.Thread(target=self._work, name="tables")

    def add(self, chunks: Sequence[Played]) -> None:
        """Add the games of chunks; the first ones start the thread.

        Waking the thread takes up to a millisecond, so many chunks are added at once.
        """
        if self._thread.ident is None:
            self._thread.start()
        if not self.is_spoilt:
            self._queue.put(chunks)

    def invalidate(self) -> None:
        """Invalidate the tables: games that were added have changed, or others are missing."""
        self.is_spoilt = True

    def finish(self, counts: Counts) -> WinTables | None:
        """Return the tables, or None if the games counted are not the games added."""
        self.end()
        sums, self._sums = self._sums, None  # they have 60 MB for 300 bots
        if self.is_spoilt or sums is None or not sums.has_all(counts):
            return None
        return sums.tables()

    def close(self) -> None:
        """End the thread, and discard the tables."""
        self.invalidate()
        self.end()

    def end(self) -> None:
        """Wait until the thread has added all games."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def _work(self) -> None:
        self._try(self.prepare)
        self.is_prepared = True
        if not self.is_spoilt:
            self._try(self._begin)
        rows: list[Row] = []
        for chunks in iter(self._queue.get, None):
            if not self.is_spoilt:
                self._try(lambda chunks=chunks: self._read(chunks, rows))  # type: ignore[misc]
        if not self.is_spoilt and (sums := self._sums):
            self._try(lambda: sums.add(rows))

    def _try(self, work: Callable[[], object]) -> None:
        """Call `work`; if it fails, the games are read again at the end, which raises the error.

        The thread continues, so that `add` does not block.
        """
        try:
            work()
        except Exception:
            self.invalidate()

    def _begin(self) -> None:
        from arena.tables.win_tables import WinSums

        self._sums = WinSums.of_schedule(self.tournament)
        self._quota = self._sums.quota.tolist()

    def _read(self, chunks: Sequence[Played], rows: list[Row]) -> None:
        """Queue the games of chunks, and add up the queue once it fills a batch."""
        from arena.tables.run_games import CELLS, Row

        assert self._sums is not None
        for played in chunks:
            number = played.chunk.pairing
            quota = self._quota[number]
            rows += [
                Row(number, *game[:4], game.actions) for game in played.results if game.pair < quota
            ]
        if len(rows) * self.tournament.rules.game_plies >= CELLS:
            self._sums.add(rows)
            rows.clear()
