"""Count the pairs of games by how both games ended: one small table, or pair by pair.

Standings, head to head, win types, seats, the interim table and the report's charts are
computed from this table (`Counts`). Differences between two versions, runs or rules need the pairs
of a pairing one by one (`PairGames`), so that those on one deal can be set beside each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.statistics.counts import (
    BY_RULE,
    MISSING,
    RESULTS,
    WIN_TYPES,
    Faults,
    PairTotals,
    ScoreCounts,
    SeatTotals,
)
from arena.statistics.intervals import Ints

_FETCHED = 10_000  # rows
_WHICH: Final = {
    "pairing": ("pairing",),
    "games": ("ending", "ending_2"),
    "forfeits": ("forfeit", "forfeit_2"),
}
_SUMS: Final = {"pairs": ("count(*)",), "margins": ("sum(margin)", "sum(margin_2)")}
"""The columns of a row, with their SQL: which pairs it counts, and what is summed over them."""

_COLUMNS: Final = _WHICH | _SUMS
_BY_SEAT: Final = [name for name, sql in _COLUMNS.items() if len(sql) == 2]
_ROW = np.dtype([(name, np.int64, (2,) * (name in _BY_SEAT)) for name in _COLUMNS])
_KEYS, _WIDTH = sum(map(len, _WHICH.values())), _ROW.itemsize // 8  # numbers of a row
NOT_PLAYED: Final = 2
"""A forfeit of a game that was not played."""

HALVES: Final[Ints] = np.array([*[2, 0, 1] * len(WIN_TYPES), 0])
"""What each ending scores for the first bot, and no game."""

TURNED: Final[Ints] = np.append(np.arange(MISSING).reshape(-1, RESULTS)[:, [1, 0, 2]], MISSING)
"""Each ending as the opponent sees it."""

_TYPES = " ".join(f"WHEN '{name}' THEN {RESULTS * n}" for n, name in enumerate(WIN_TYPES))


def _of(game: str) -> str:
    """Return the SQL columns of one game of a pair: its ending, its forfeit and its margin."""
    return f"""
        ifnull(CASE {game}.win_type {_TYPES} END + ifnull({game}.winner, {RESULTS - 1}), {MISSING}),
        ifnull(({game}.fault <> '') + ({game}.fault = '{BY_RULE}'), 0),
        ifnull({game}.points - {game}.opponent_points, 0)"""


GAMES: Final = f"""
SELECT pair, seat, {_of("games")}, plies, actions FROM games WHERE pairing = ?
"""
"""The games of a pairing."""


PAIRS: Final = f"""
WITH pairs(pairing, seat, ending, forfeit, margin, ending_2, forfeit_2, margin_2) AS (
    SELECT one.pairing, one.seat, {_of("one")}, {_of("two")}
    FROM {{games}} LEFT JOIN games AS two
        ON two.pairing = one.pairing AND two.pair = one.pair AND two.seat = 1 - one.seat
    WHERE one.seat = 0 OR two.seat IS NULL
)
SELECT {", ".join(chain.from_iterable(_COLUMNS.values()))}, seat
FROM pairs GROUP BY pairing, seat, ending, ending_2, forfeit, forfeit_2
"""
"""Query: pairs by pairing, and endings of both games.

If a pair has only one game, that game is the first here, and `seat` is its seat. `games` is where
the first games come from, called `one`.
"""

DIFFERENCES: Final = """
SELECT difference, count(*) FROM (
    SELECT sum(
        CASE pairing WHEN ?1 THEN 1 ELSE -1 END
        * CASE winner WHEN 0 THEN 1 WHEN 1 THEN -1 ELSE 0 END
    ) AS difference
    FROM games WHERE pairing IN (?1, ?2) AND pair >= ?3 AND pair < ?4
    GROUP BY pair HAVING count(*) = 4
) GROUP BY difference
"""
"""How many pairs that pairings ?1 and ?2 have finished differ by so many halves in their score.

A test asks for them at each look: it takes an eighth of the time of `match` (20,000 pairs: 0.06 s).
"""

SEQUENCE: Final = f"""
SELECT pairing, sum(CASE winner WHEN 0 THEN 2 WHEN 1 THEN 0 ELSE 1 END) FROM games
WHERE pair < {1 << 19} / (1 + (SELECT max(pairing) FROM games)) AND fault <> '{BY_RULE}'
GROUP BY pairing, pair HAVING count(*) = 2
"""
"""Query: pairing and score in halves of the first pairs, in order, half a million at most: 1 s."""

FAULTS: Final = """
SELECT pairing, 1 - winner, fault, count(*) FROM games
WHERE fault <> '' AND winner IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
"""Query: forfeits by pairing, loser and kind of fault."""

MARGINS: Final = """
SELECT pairing, points - opponent_points, count(*) FROM games
WHERE win_type IN ('points', 'tiebreak', 'draw') GROUP BY 1, 2 ORDER BY 1, 2
"""
"""Query: games decided by points, by pairing and lead of the first bot."""


class Tallies(NamedTuple):
    """Counts of games by pairing, seat of its first bot, result and win type, as arrays.

    `result` is 0 if the first bot won, 1 if it lost and 2 in a draw; `win_type` is an index in
    WIN_TYPES; `margin` is the sum of the first bot's leads in points.
    """

    pairing: Ints
    seat: Ints
    win_type: Ints
    result: Ints
    games: Ints
    margin: Ints


@dataclass(frozen=True, eq=False)
class Counts:
    """Numbers of pairs by pairing and by the endings of both games, as arrays with equal rows.

    Arrays of shape (rows, 2) have a column for each game: that with the first bot in seat 0, then
    the other one. `games` (rows, 2) are the endings: the index of the win type in WIN_TYPES times
    RESULTS, plus the result; or MISSING. `forfeits` (rows, 2) are 1 if a fault ended the game, and
    2 if the game was not played because a bot had committed too many faults. `pairs` are the
    numbers of pairs, and `margins` (rows, 2) the sums of the first bot's leads. `faults` are the
    forfeits by kind. `sequence` has the pairing and the score, in halves, of each pair, those of a
    pairing in the order in which they were played.
    """

    pairing: Ints
    games: Ints
    forfeits: Ints
    pairs: Ints
    margins: Ints
    faults: Sequence[Faults] = ()
    sequence: tuple[Ints, Ints] | None = None

    @classmethod
    def of(cls, **columns: Any) -> Counts:
        """Return the counts with these columns; one that is not given is 0 in all rows.

        >>> Counts.of(games=[[3, 4]], pairs=[7]).pair_totals
        [PairTotals(pairing=0, pairs=7, total=7.0, squares=7.0, by_score=(0, 0, 7, 0, 0))]
        """
        named = np.zeros(len(columns["pairs"]), _ROW)
        for name, column in columns.items():
            named[name] = column
        return cls(**{name: named[name] for name in _COLUMNS}, faults=(), sequence=None)

    @classmethod
    def of_rows(cls, rows: Ints) -> Counts:
        """Return the counts of a table with all columns of the query PAIRS but the last."""
        named = np.ascontiguousarray(rows, np.int64).view(_ROW)[:, 0]
        return cls(**{name: named[name] for name in _COLUMNS}, faults=(), sequence=None)

    @property
    def rows(self) -> Ints:
        """The table of which `of_rows` makes these counts."""
        return np.column_stack([getattr(self, name) for name in _COLUMNS])

    @property
    def total(self) -> int:
        """The number of games."""
        return int(((self.games != MISSING) * self.pairs[:, None]).sum())

    @property
    def met(self) -> list[int]:
        """The numbers of the pairings with at least one game, sorted."""
        return sorted({*self.pairing.tolist()})  # np.unique imports numpy.ma, which takes 15 ms

    def where(self, chosen: Any) -> Counts:
        """Return the counts of the chosen rows; the faults by kind remain those of all rows."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in _COLUMNS})

    @property
    def whole(self) -> Counts:
        """The pairs of which both games are finished."""
        return self.where((self.games != MISSING).all(axis=1))

    @property
    def played(self) -> Counts:
        """The pairs without a forfeit by rule, an unplayed game: only these count for the Elo."""
        chosen = (self.forfeits < NOT_PLAYED).all(axis=1)
        return self if chosen.all() else self.where(chosen)

    @cached_property
    def tallies(self) -> Tallies:
        """The counts of games by pairing, seat, win type and result."""
        there = self.games != MISSING
        pairing, seat, pairs = np.broadcast_arrays(
            self.pairing[:, None], np.arange(2), self.pairs[:, None]
        )
        shape = int(self.pairing.max(initial=-1)) + 1, 2, MISSING
        keys = np.ravel_multi_index((pairing[there], seat[there], self.games[there]), shape)
        found, place = np.unique(keys, return_inverse=True)
        games, margin = np.zeros((2, len(found)), np.int64)
        np.add.at(games, place, pairs[there])
        np.add.at(margin, place, self.margins[there])
        of, at, ending = np.unravel_index(found, shape)
        return Tallies(of, at, *np.divmod(ending, RESULTS), games, margin)

    @cached_property
    def pair_totals(self) -> list[PairTotals]:
        """The number of pairs of each pairing, and the scores of its first bot in them.

        A pair with only one game counts as if its other game had the same result (`rated_lists`).
        """
        found, place = np.unique(self.pairing, return_inverse=True)
        by_score = np.zeros((len(found), 5), np.int64)
        alone = (self.games == MISSING).any(axis=1)
        np.add.at(by_score, (place, HALVES[self.games].sum(axis=1) << alone), self.pairs)
        columns = (column.tolist() for column in (found, *_sums(by_score), by_score))
        rows = zip(*columns, strict=True)
        return [PairTotals._make((*row, tuple(five))) for *row, five in rows]

    @property
    def scores(self) -> defaultdict[int, ScoreCounts]:
        """The finished pairs of each pairing by the score of its first bot: 0, 1/2, ... 2."""
        found: defaultdict[int, ScoreCounts] = defaultdict(lambda: (0, 0, 0, 0, 0))
        found.update({totals.pairing: totals.by_score for totals in self.whole.pair_totals})
        return found

    @property
    def seats(self) -> SeatTotals:
        """The scores of seat 0 in the pairs without a forfeit."""
        chosen = (self.games != MISSING).all(axis=1) & (self.forfeits == 0).all(axis=1)
        as_first, as_second = HALVES[self.games[chosen]].T
        by_score = np.zeros((1, 5), np.int64)
        np.add.at(by_score[0], as_first + 2 - as_second, self.pairs[chosen])
        return SeatTotals._make(column.item() for column in _sums(by_score))

    @property
    def finished(self) -> Counter[int]:
        """The number of games of each pairing that ended without a fault."""
        found = Counter(dict.fromkeys(self.met, 0))
        games = ((self.games != MISSING) & (self.forfeits == 0)).sum(axis=1) * self.pairs
        for pairing, number in zip(self.pairing.tolist(), games.tolist(), strict=True):
            found[pairing] += number
        return found


def _sums(by_score: Ints) -> tuple[Ints, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return, for each row, the number of pairs and the sums of their scores and squared scores."""
    scores = np.arange(5) / 2
    return by_score.sum(axis=1), by_score @ scores, by_score @ scores**2


def count(
    rows: Iterable[tuple[Any, ...]],
    faults: Sequence[Faults] = (),
    sequence: Iterable[tuple[int, int]] = (),
) -> Counts:
    """Return the counts of rows of the queries PAIRS and SEQUENCE."""
    rest = iter(rows)
    blocks = [np.zeros((0, _WIDTH + 1), np.int64)]
    while block := [*islice(rest, _FETCHED)]:
        blocks.append(np.array(block, np.int64))
    table = np.concatenate(blocks)
    counts, alone = Counts.of_rows(table[:, :-1]), table[:, -1] == 1
    for column in (getattr(counts, name) for name in _BY_SEAT):
        column[alone] = column[alone, ::-1]
    pairing, halves = np.array([*sequence], np.int64).reshape(-1, 2).T
    return replace(counts, faults=faults, sequence=(pairing, halves) if len(pairing) else None)


def add_up(counts: Iterable[Counts]) -> Counts:
    """Return the sum of counts; the faults by kind are dropped."""
    table = np.concatenate([np.zeros((0, _WIDTH), np.int64), *(one.rows for one in counts)])
    shape = tuple(table[:, :_KEYS].max(axis=0, initial=0) + 1)
    keys, place = np.unique(np.ravel_multi_index(table[:, :_KEYS].T, shape), return_inverse=True)
    sums = np.zeros((len(keys), _WIDTH - _KEYS), np.int64)
    np.add.at(sums, place, table[:, _KEYS:])
    return Counts.of_rows(np.column_stack([*np.unravel_index(keys, shape), sums]))


class PairGames(NamedTuple):
    """The games of one pairing: arrays with a row for each pair, and a column for each game of it.

    The first game is that in which the first bot sat in seat 0. `games` has the ending, `forfeits`
    and `margins` are as in `Counts`; a game that is not there has the ending MISSING.
    """

    pair: Ints
    games: Ints
    forfeits: Ints
    margins: Ints
    plies: Ints
    actions: npt.NDArray[np.object_]

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, ...]]) -> PairGames:
        """Return the games of the rows of GAMES."""
        columns = [*zip(*rows, strict=True)] or [()] * 7
        pair, place = np.unique(np.array(columns[0], np.int64), return_inverse=True)
        seat = np.array(columns[1], np.int64)
        made = []
        for column, nothing in zip(columns[2:], (MISSING, 0, 0, 0, ""), strict=True):
            both = np.full((len(pair), 2), nothing, object if nothing == "" else np.int64)
            both[place, seat] = column
            made.append(both)
        return cls(pair, *made)

    def where(self, chosen: Any) -> PairGames:
        """Return some of the pairs."""
        return PairGames._make(column[chosen] for column in self)

    @property
    def whole(self) -> PairGames:
        """The pairs that have both games."""
        return self.where((self.games != MISSING).all(axis=1))

    @property
    def turned(self) -> PairGames:
        """The pairs as the opponent sees them."""
        turned = PairGames._make((self.pair, *(column[:, ::-1] for column in self[1:])))
        return turned._replace(games=TURNED[turned.games], margins=-turned.margins)


def match(one: PairGames, other: PairGames) -> tuple[PairGames, PairGames]:
    """Return the pairs of the numbers that both have."""
    of_both = np.intersect1d(one.pair, other.pair, assume_unique=True, return_indices=True)
    return one.where(of_both[1]), other.where(of_both[2])
