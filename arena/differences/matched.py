"""Match bots of two runs by source hash and parameters, and the pairs that both have played."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import eq
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.entries.entry import Entry
from arena.games.match import GameResult
from arena.insight.pair_counts import COLUMNS, TURNED, column_of
from arena.statistics.difference import Values
from arena.statistics.distributions import Floats
from arena.store.store import Store

Bytes = npt.NDArray[np.uint8]

SAME: Final = "same"
CHANGED: Final = "changed"
ONLY_BASE: Final = "only in the base"
ONLY_OTHER: Final = "only in the other run"


class MatchedBot(NamedTuple):
    """A bot's labels in the base and in the other run; one of them is None where it has none.

    It is the `same` where the sha256 of its source and its parameters are equal, whatever its
    labels are. With one label and another identity it has `changed`.
    """

    base: str | None
    other: str | None
    status: str

    @property
    def name(self) -> str:
        """Both labels, or the one that there is."""
        if self.base is None or self.other is None or self.base == self.other:
            return self.base or self.other or ""
        return f"{self.base} / {self.other}"


def match_bots(base: Sequence[Entry], other: Sequence[Entry]) -> list[MatchedBot]:
    """Return the bots of both runs, those of the base first.

    A bot goes with the one of its label; where there is none, with the first that is the same.
    """
    theirs = {entry.label: entry for entry in other}
    named = {entry.label for entry in base}
    free = {entry.identity: entry.label for entry in reversed(other) if entry.label not in named}
    matched = []
    for entry in base:
        if named_so := theirs.get(entry.label):
            status = SAME if entry.identity == named_so.identity else CHANGED
            matched.append(MatchedBot(entry.label, entry.label, status))
        elif label := free.pop(entry.identity, None):
            matched.append(MatchedBot(entry.label, label, SAME))
        else:
            matched.append(MatchedBot(entry.label, None, ONLY_BASE))
    found = {one.other for one in matched}
    labels = [entry.label for entry in other if entry.label not in found]
    return [*matched, *(MatchedBot(None, label, ONLY_OTHER) for label in labels)]


class PairTable(NamedTuple):
    """The pairs of a pairing in the base and in another run, a row each, counted by column.

    The first `shared` rows of both are pairs on the same deals; of their games so many are the
    same move by move.
    """

    base: Bytes
    other: Bytes
    shared: int
    same_games: int

    def values(self, weights: Floats, *, turned: bool = False) -> Values:
        """Return a measure of every pair; `turned` is as the opponent sees it."""
        weights = weights[TURNED] if turned else weights
        return Values(self.base @ weights, self.other @ weights, self.shared)


class _Pair(NamedTuple):
    """A finished pair: what it adds to each column, and its two games."""

    counts: bytes
    games: tuple[tuple[object, ...], ...]


def join_pairs(
    base: tuple[Store, int, bool], other: tuple[Store, int, bool], *, same_deals: bool
) -> PairTable:
    """Return the pairs that two runs have finished of one pairing.

    Each run is a store, the number of the pairing there, and whether its bots stand there in
    the other order.
    """
    own, theirs = dict(_read(*base)), dict(_read(*other))
    shared = [pair for pair in own if same_deals and pair in theirs]
    same_games = sum(sum(map(eq, own[pair].games, theirs[pair].games)) for pair in shared)
    return PairTable(_to_rows(own, shared), _to_rows(theirs, shared), len(shared), same_games)


def _to_rows(pairs: Mapping[int, _Pair], first: Sequence[int]) -> Bytes:
    """Return the counts of pairs, a row each; these are the first ones."""
    counts = b"".join(pairs[number].counts for number in dict.fromkeys([*first, *pairs]))
    return np.frombuffer(counts, dtype=np.uint8).reshape(-1, len(COLUMNS))


def _read(store: Store, number: int, turned: bool) -> Iterator[tuple[int, _Pair]]:
    """Yield the pairs of a pairing of which both games are finished, by their numbers."""
    for pair, games in groupby(store.games_of(number), key=lambda game: game.pair):
        two = [_turn(game) if turned else game for game in games]
        if len(two) == 2:
            two.sort(key=lambda game: game.seat)
            played = tuple((game.winner, game.win_type, game.actions) for game in two)
            yield pair, _Pair(_count(two), played)


def _turn(game: GameResult) -> GameResult:
    """Return a game as the opponent sees it."""
    winner = None if game.winner is None else 1 - game.winner
    return game._replace(seat=1 - game.seat, winner=winner)


def _count(games: list[GameResult]) -> bytes:
    counts = bytearray(len(COLUMNS))
    for game in games:
        counts[column_of(game)] += 1
    return bytes(counts)
