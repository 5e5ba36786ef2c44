"""Store every finished game of a run in run.sqlite, and query them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from arena.errors import InputError
from arena.lanes.faults import Fault
from arena.statistics.counts import BY_RULE, Faults
from arena.store import damage
from arena.store.damage import renew_blocks
from arena.store.database import FRESH, Database
from arena.store.manifest import manifest_text
from arena.tournament.match import GameResult
from arena.tournament.plan import Played
from arena.tournament.schedule import Fixture, Forfeits, Pairing, PairRange
from engine.state import Seat

if TYPE_CHECKING:
    from arena.store.counting import Counts, PairGames

GAMES = """
SELECT pairing, pair, seat, winner, win_type, points, opponent_points, plies, fault, actions,
    message, traceback, output
FROM games LEFT JOIN evidence USING (pairing, pair, seat) {where} ORDER BY pairing, pair, seat
"""

NAMED_GAMES = """
SELECT bot, opponent, pair, seat, CASE winner WHEN 0 THEN bot WHEN 1 THEN opponent ELSE '' END,
    win_type, points, opponent_points, plies, fault
FROM games JOIN named USING (pairing) ORDER BY pairing, pair, seat
"""
"""All games as rows of games.csv, with the labels from a table of the pairings."""


_BY_POINTS = "win_type IN ('points', 'tiebreak', 'draw')"
FAULTS = """
WHERE (pairing, pair, seat) IN (
    SELECT pairing, pair, seat FROM (
        SELECT pairing, pair, seat, row_number() OVER (
            PARTITION BY pairing, winner, fault ORDER BY pair, seat
        ) AS number FROM games WHERE fault NOT IN ('', ?1)
    ) WHERE number <= ?2
)
"""
"""Condition for the first ?2 games of each pairing, bot and kind of fault other than ?1."""

_FIRST = 1 << 40  # greater than any place in a pairing

RECORDS = f"""
WITH RECURSIVE wanted (pairing) AS (
    SELECT ?1 UNION ALL SELECT pairing + 1 FROM wanted WHERE pairing < ?2
)
SELECT pairing, pair, seat, winner, win_type, actions FROM wanted CROSS JOIN games USING (pairing)
WHERE pair <= ifnull((
    SELECT DISTINCT pair FROM games AS one WHERE one.pairing = wanted.pairing
    ORDER BY pair LIMIT 1 OFFSET ?3 - 1
), {_FIRST})
"""
"""The games of the first ?3 pairs of pairings ?1 to ?2; CROSS JOIN keeps their order."""

WITH_LEAD = f"""
SELECT pairing, pair, seat FROM games
WHERE pairing = ?1 AND {_BY_POINTS} AND abs(points - opponent_points) = ?2
ORDER BY pair, seat LIMIT 1
"""
"""The place of the first game of pairing ?1 that was decided by points with a lead of ?2."""

SHORTEST_CITY_WINS = f"""
SELECT pairing, place / 2, place % 2 FROM (
    SELECT pairing, min(plies) AS least, min(plies * {_FIRST} + 2 * pair + seat) % {_FIRST} AS place
    FROM games WHERE win_type = 'city' GROUP BY pairing
) ORDER BY least, pairing
"""
"""The place of the shortest City win of each pairing, the shortest first."""


_ADD_GAME = "INSERT OR REPLACE INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_EVIDENCE = """
INSERT OR REPLACE INTO evidence VALUES (?1, ?2, ?3, ?4, ?5, ?6, checksum(?1, ?2, ?3, ?4, ?5, ?6))
"""
_CHOSEN = "pairing INTEGER, first INTEGER, end INTEGER"
_ONE = "games AS one"
_ONE_CHOSEN = """
chosen CROSS JOIN games AS one
    ON one.pairing = chosen.pairing AND one.pair >= chosen.first AND one.pair < chosen.end
"""
"""The games in the chosen ranges, in their order, which CROSS JOIN keeps."""

_FINISHED = f"""
SELECT one.pairing, one.pair FROM {_ONE_CHOSEN}
    CROSS JOIN games AS two
    ON two.pairing = one.pairing AND two.pair = one.pair AND two.seat = 1
WHERE one.seat = 0
"""
"""The chosen pairs that have both games."""

_FORFEITS = f"""
WHERE fault NOT IN ('', ?) AND (pairing, pair, seat) IN (
    SELECT one.pairing, one.pair, one.seat FROM {_ONE_CHOSEN} WHERE one.fault <> ''
)
"""
_SET_MANIFEST = "INSERT OR REPLACE INTO run VALUES (?1, ?2, checksum(?1, ?2))"


class Store(Database):
    """The games of one run; without a path they are in a temporary file, deleted on close.

    The games added between two calls of `commit` are one transaction. Every error of the database
    is raised as an ArenaError that names the file.
    """

    def check_games(self, pairings: int, pairs: int) -> None:
        """Raise InputError if a game lies outside a run of this size."""
        query = "SELECT pairing, pair FROM games WHERE pairing >= ? OR pair >= ? LIMIT 1"
        for pairing, pair in self.rows(query, pairings, pairs):
            place = f"pair {pair} of pairing {pairing}"
            raise InputError(f"{self.path}: damaged: a game of {place}{FRESH}")

    @property
    def manifest(self) -> str | None:
        """The manifest of the run, None if the store is new."""
        with self.errors():
            manifest: str | None = self.one("SELECT value FROM run WHERE key = 'manifest'")
            return manifest

    def find_changed(self, manifest: dict[str, Any]) -> dict[str, list[str]]:
        """Return, by label, how bots of a manifest differ from those that played these games."""
        with self.errors(InputError):
            return damage.find_changed(self.connection, manifest["bots"])

    def begin(self, manifest: dict[str, Any]) -> None:
        """Store the manifest of the run."""
        with self.changing():
            self._set_manifest(manifest)

    def extend(
        self,
        manifest: dict[str, Any],
        before: Sequence[Pairing],
        after: Sequence[Pairing],
        pairs: int,
        replaced: Collection[str] = (),
    ) -> None:
        """Convert it in one transaction to the store of another run, keeping the common games.

        `before` and `after` are the pairings of the old and the new run, and `pairs` the most pairs
        of a pairing; the games of `replaced` labels are deleted.
        """
        with self.changing():
            damage.rearrange(self.connection, before, after, pairs, replaced)
            self._set_manifest(manifest)

    def trim(self, pairings: Sequence[Pairing], lengths: Mapping[int, int]) -> None:
        """Set aside games beyond the last pair of each pairing; `lengths` are pairs by pairing."""
        with self.adding():
            damage.trim(self.connection, pairings, lengths.items())
        self.commit()

    def _set_manifest(self, manifest: dict[str, Any]) -> None:
        damage.keep_bots(self.connection, manifest["bots"])
        text = manifest_text(manifest)
        self.connection.execute(_SET_MANIFEST, ("manifest", text))

    def add(self, *chunks: Played) -> None:
        """Store the games of chunks: those of many chunks together take a third of the time."""
        with self.adding():
            self.connection.executemany(
                _ADD_GAME,  # calling a function for each row takes 0.4 us more
                [
                    (played.chunk.pairing, *ending, fault.kind if fault else "", actions)
                    for played in chunks
                    for *ending, fault, actions in played.results
                ],
            )
            evidence = [
                (played.chunk.pairing, *game[:2], *game.fault[1:])
                for played in chunks
                for game in played.results
                if game.fault
            ]
            self.connection.executemany(_ADD_EVIDENCE, evidence)
            renew_blocks(self.connection, map(range_of, chunks))

    def forfeit(self, forfeits: Forfeits) -> None:
        """Store games as forfeits by rule, replacing those that have been played."""
        number, winner = forfeits.pairing, 1 - forfeits.loser
        rows = [
            (number, *forfeit_by_rule(game // 2, game % 2, winner)[:7], BY_RULE, "")
            for game in range(forfeits.first, forfeits.end)
        ]
        bounds = (number, forfeits.first, forfeits.end)
        with self.adding():
            self.connection.executemany(_ADD_GAME, rows)
            self.connection.execute(
                "DELETE FROM evidence WHERE pairing = ? AND 2 * pair + seat >= ? "
                "AND 2 * pair + seat < ?",
                bounds,
            )
            span = PairRange(number, forfeits.first // 2, (forfeits.end + 1) // 2)
            renew_blocks(self.connection, [span])

    def count(self) -> Counts:
        """Return the counts of all games."""
        from arena.store import counting  # imports numpy, which a run needs only at its end

        faults = [Faults(*row) for row in self.rows(counting.FAULTS)]
        sequence = self.rows(counting.SEQUENCE)
        return counting.count(self.rows(counting.PAIRS.format(games=_ONE)), faults, sequence)

    def count_ranges(self, ranges: Iterable[PairRange]) -> Counts:
        """Return the counts of the games in these ranges of pairs."""
        from arena.store import counting

        self.fill("chosen", _CHOSEN, ranges)
        return counting.count(self.rows(counting.PAIRS.format(games=_ONE_CHOSEN)))

    def count_margins(self) -> Iterator[tuple[int, int, int]]:
        """Yield pairing, lead of its first bot, and number of games decided by points with it."""
        from arena.store import counting

        return self.rows(counting.MARGINS)

    def count_differences(self, new: int, old: int, first: int, end: int) -> tuple[int, ...]:
        """Count the pairs that two pairings have both finished by the difference of their scores.

        It is the score of the first pairing's first bot minus that of the second's: -2 to 2 in
        steps of 1/2.
        """
        from arena.store import counting

        counts = dict(self.rows(counting.DIFFERENCES, new, old, first, end))
        return tuple(int(counts.get(halves, 0)) for halves in range(-4, 5))

    def read_pairs(self, pairing: int) -> PairGames:
        """Return the games of a pairing, pair by pair."""
        from arena.store import counting

        return counting.PairGames.of(self.rows(counting.GAMES, pairing))

    def finished(self, ranges: Iterable[PairRange]) -> defaultdict[int, list[range]]:
        """Return which pairs of these ranges are finished, as ranges in order, by pairing."""
        self.fill("chosen", _CHOSEN, ranges)
        found: defaultdict[int, list[range]] = defaultdict(list)
        for pairing, pair in self.rows(_FINISHED):
            of_pairing = found[pairing]
            if of_pairing and of_pairing[-1].stop == pair:
                of_pairing[-1] = range(of_pairing[-1].start, pair + 1)
            else:
                of_pairing.append(range(pair, pair + 1))
        return found

    def forfeits(self, ranges: Iterable[PairRange]) -> defaultdict[int, list[GameResult]]:
        """Return the games ended by a fault in these ranges of pairs, in order, by pairing."""
        self.fill("chosen", _CHOSEN, ranges)
        found: defaultdict[int, list[GameResult]] = defaultdict(list)
        for row in self._games(_FORFEITS, BY_RULE):
            found[row[0]].append(_result(row))
        return found

    def all_forfeits(self, pairings: Sequence[Pairing]) -> Iterator[tuple[Fixture, GameResult]]:
        """Yield every forfeit of the run, including forfeits by rule, with its place."""
        for row in self._games("WHERE fault <> ''"):
            result = _result(row)
            yield Fixture(pairings[row[0]], result.pair, result.seat), result

    def games_of(
        self, pairing: int, pair: int | None = None, seat: Seat | None = None
    ) -> Iterator[GameResult]:
        """Yield the games of a pairing in order: all of them, or those of a pair and a seat."""
        where = "WHERE pairing = ?1 AND pair = ifnull(?2, pair) AND seat = ifnull(?3, seat)"
        return map(_result, self._games(where, pairing, pair, seat))

    def game(self, pairing: int, pair: int, seat: Seat) -> GameResult | None:
        """Return one game, None if it has not been played."""
        return next(self.games_of(pairing, pair, seat), None)

    def results(self) -> Iterator[tuple[int, GameResult]]:
        """Yield every game with the number of its pairing, in order."""
        for row in self._games():
            yield row[0], _result(row)

    def _games(self, where: str = "", *values: Any) -> Iterator[tuple[Any, ...]]:
        return self.rows(GAMES.format(where=where), *values)

    def named_games(self, pairings: Iterable[Pairing]) -> Iterator[tuple[Any, ...]]:
        """Yield every game as a row of games.csv, with labels in place of numbers.

        The SQL query takes 1.2 us a game, a third of the time of Python code.
        """
        self.name_pairings(pairings)
        return self.rows(NAMED_GAMES)

    def name_pairings(self, labels: Iterable[Iterable[str]]) -> None:
        """Fill the temporary table of the labels of both bots of each pairing, in order."""
        rows = ((number, *both) for number, both in enumerate(labels))
        self.fill("named", "pairing INTEGER PRIMARY KEY, bot, opponent", rows)

    def records(self, quota: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """Yield pairing, pair, seat, winner, win type and actions of games, in order.

        They are the games of the first pairs of each pairing, as many pairs as its `quota`.
        """
        for pairs, alike in groupby(range(len(quota)), quota.__getitem__):
            numbers = [*alike]
            if pairs:  # one query for all: one for each of 45,000 pairings takes 0.4 s longer
                yield from self.rows(RECORDS, numbers[0], numbers[-1], pairs)

    def first_faults(self, most: int) -> Iterator[tuple[int, GameResult]]:
        """Yield at most `most` games for each pairing, bot and kind of fault, in order."""
        for row in self._games(FAULTS, BY_RULE, most):
            yield row[0], _result(row)

    def first_with_lead(self, pairing: int, points: int) -> Iterator[tuple[int, int, Seat]]:
        """Yield the place of a pairing's first game decided by points with this lead."""
        return self.rows(WITH_LEAD, pairing, points)

    def shortest_city_wins(self) -> Iterator[tuple[int, int, Seat]]:
        """Yield the place of the shortest City win of each pairing, the shortest first."""
        return self.rows(SHORTEST_CITY_WINS)

    def count_games(self) -> int:
        """Return the number of finished games."""
        with self.errors(InputError):
            games: int = self.one("SELECT count(*) FROM games")
            return games


def range_of(played: Played) -> PairRange:
    """Return the pairs of a chunk."""
    number, first, pairs = played.chunk[:3]
    return PairRange(number, first, first + pairs)


def forfeit_by_rule(pair: int, seat: int, winner: int) -> GameResult:
    """Return the result of a game that was not played because a bot had too many faults."""
    fault = Fault(BY_RULE, "not played: too many faults before it")
    return GameResult(pair, seat, winner, "forfeit", 0, 0, 0, fault, "")


def _result(row: tuple[Any, ...]) -> GameResult:
    """Return the result of a row of queries.GAMES."""
    kind, actions, message, traceback, output = row[8:]
    if kind == BY_RULE:
        return forfeit_by_rule(*row[1:4])
    fault = Fault(kind, message or "", traceback or "", output or "") if kind else None
    return GameResult._make((*row[1:8], fault, actions))
