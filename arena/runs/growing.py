"""Make the tables of how games are won during the run, in a thread of the parent process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Queue
from typing import TYPE_CHECKING

from arena.tournament.plan import Played
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from arena.store.counting import Counts
    from arena.tables.run_games import Row
    from arena.tables.win_tables import WinSums, WinTables

_WAITING = 64  # chunks: about 30,000 games


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
        self._queue: Queue[Played | None] = Queue(_WAITING)
        self._thread = threading.Thread(target=self._work, name="tables")

    def add(self, played: Played) -> None:
        """Add the games of a chunk; the first one starts the thread."""
        if self._thread.ident is None:
            self._thread.start()
        if not self.is_spoilt:
            self._queue.put(played)

    def spoil(self) -> None:
        """Invalidate the tables: games that were added have changed, or others are missing."""
        self.is_spoilt = True

    def finish(self, counts: Counts) -> WinTables | None:
        """Return the tables, or None if the games counted are not the games added."""
        self.end()
        if self.is_spoilt or self._sums is None or not self._sums.has_all(counts):
            return None
        return self._sums.tables(counts)

    def close(self) -> None:
        """End the thread, and discard the tables."""
        self.spoil()
        self.end()

    def end(self) -> None:
        """Wait until the thread has added all games."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def _work(self) -> None:
        self._try(self.prepare)
        self.is_prepared = True
        self._try(self._begin)
        rows: list[Row] = []
        for played in iter(self._queue.get, None):
            if not self.is_spoilt:
                self._try(lambda played=played: self._read(played, rows))  # type: ignore[misc]
        if not self.is_spoilt and (sums := self._sums):
            self._try(lambda: sums.add(rows))

    def _try(self, work: Callable[[], object]) -> None:
        """Call `work`; if it fails, the games are read again at the end, which raises the error.

        The thread continues, so that `add` does not block.
        """
        try:
            work()
        except Exception:
            self.spoil()

    def _begin(self) -> None:
        from arena.tables.win_tables import WinSums

        self._sums = WinSums.of_schedule(self.tournament)

    def _read(self, played: Played, rows: list[Row]) -> None:
        """Queue the games of a chunk, and add up the queue once it fills a batch."""
        from arena.tables.run_games import CELLS, Row

        assert self._sums is not None
        number = played.chunk.pairing
        rows += [
            Row(number, *game[:4], game.points - game.opponent_points, game.actions)
            for game in played.results
            if game.pair < self._sums.quota[number]
        ]
        if len(rows) * self.tournament.rules.game_plies >= CELLS:
            self._sums.add(rows)
            rows.clear()
