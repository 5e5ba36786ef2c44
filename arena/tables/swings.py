"""Find the chance to win at every ply of many games, and the plies with the largest changes.

The chances are the numbers that `champion`'s `chance` returns, computed for all plies of some games
at once. No game is continued in another way to see whether its end would change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, Protocol

import numpy as np

from arena.batch.replay import DRAW, Bools, Ints, Replay, find_winners
from arena.entries.resolve import resolve
from arena.statistics.counts import WIN_TYPES
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Moments
from arena.store.columns import Columns
from arena.store.finished import Game
from arena.tables.replayed_games import Sides
from arena.tables.run_games import Batch, Row, every, interval, make_table, read_batches
from arena.tournament.tournament import Tournament
from engine import STANDARD, TAKE

BOT = "champion"
"""The bot that computes the chances."""


class _Values(Protocol):
    """A bot that computes for many games at once what its `chance` computes for one position."""

    def chances(self, games: Replay, /) -> Any:
        """Return the chance of seat 0 before each ply (ply, game)."""


def chances_of(batch: Batch) -> Floats:
    """Return the chance of seat 0 to win before each ply and at the end (games x plies + 1).

    After the end of a game it is the result. In the last round it is the result of the piles as
    soon as both seats can work them out (`_settle`). The rules are the published ones.
    """
    games, plies = batch.actions.shape
    found = np.empty((plies + 1, games))
    found[:plies] = _load_bot().chances(batch.replay)
    settled, ends = _settle(batch)
    np.copyto(found, ends, where=settled)
    result = np.where(batch.winner < 0, 0.5, 1 - batch.winner)
    np.copyto(found, result, where=np.arange(plies + 1)[:, None] >= batch.replay.plies)
    return found.T


@cache
def _load_bot() -> _Values:
    """Return the bot that computes the chances; reading it takes as long as 200 games."""
    bot: _Values = resolve(BOT).load()
    return bot


def _settle(batch: Batch) -> tuple[Bools, Floats]:
    """Return the plies (ply, game) at which both seats can work out the result, and the result.

    In the last round they can once both have taken. A seat with one action left that has not taken
    must take, and both can see what it will get, unless a hidden card is played before.
    """
    games, plies = batch.actions.shape
    first, last = plies - STANDARD.round_plies, plies - 1
    seats = STANDARD.seat_at(np.arange(first, plies))
    takes = batch.actions.T[first:] == TAKE
    settled = np.zeros((plies + 1, games), np.bool_)
    settled[first + 1 :] = np.cumsum(takes, axis=0) >= 2
    waits = ~takes[seats == seats[-1]][:-1].any(axis=0)
    hides = takes[seats != seats[-1]][:-1].any(axis=0)
    reached = batch.replay.plies >= last
    settled[last] |= reached
    settled[last - 1] |= reached & ~(waits & hides)
    piles = batch.replay.piles[last].astype(np.int64)
    piles[seats[-1]] += batch.replay.within[last] * waits
    winners = find_winners(piles, STANDARD)
    return settled, np.where(winners == DRAW, 0.5, 1.0 - winners)


def chances_by_game(
    tournament: Tournament, games: Mapping[tuple[int, int, int], Game]
) -> dict[tuple[int, int, int], list[float]]:
    """Return the chance of seat 0 before each ply and at the end of each finished game.

    Games are keyed by pairing, pair and seat. The chances are those of `champion`, which has them
    only under the published rules.
    """
    if tournament.rules != STANDARD:
        return {}
    finished = sorted(place for place, game in games.items() if not game.fault)
    rows = [_row(tournament, place, games[place]) for place in finished]
    batches = map(chances_of, read_batches(tournament, rows))
    return {
        place: chances[: games[place].plies + 1].tolist()
        for place, chances in zip(finished, chain.from_iterable(batches), strict=True)
    }


def _row(tournament: Tournament, place: tuple[int, int, int], game: Game) -> Row:
    pairing, pair, seat = place
    two = [*tournament.pairings[pairing]]
    winner = None if game.winner is None else two.index(game.winner)
    return Row(pairing, pair, seat, winner, game.win_type, 0, game.record.actions)


_DIGITS = 6


_PLACE = "pairing", "pair", "seat", "ply"
_TURN = np.dtype([("key", int), ("swing", float), *((name, int) for name in _PLACE)])


class Turns:
    """Keeps for each key the games whose decisive plies have the largest swings.

    A turn has its game's place and ply; among equal swings the first games are kept.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.kept: Any = np.recarray(0, _TURN)

    def add(self, batch: Batch, game: Ints, ply: Ints, swing: Floats, key: Ints | int = 0) -> None:
        """Consider some games of a batch, given with their decisive plies, swings and keys."""
        pair = batch.pair[game]
        place = batch.pairing[pair], batch.number[pair], batch.first[game]
        keys = np.broadcast_to(key, len(game))
        new = np.rec.fromarrays([keys, swing.round(_DIGITS), *place, ply], dtype=_TURN)
        both: Any = np.concatenate([self.kept, new]).view(np.recarray)
        turns = both[np.lexsort([both.seat, both.pair, both.pairing, -both.swing, both.key])]
        begins = np.searchsorted(turns.key, turns.key)
        self.kept = turns[np.arange(len(turns)) - begins < self.most]


_ENDED = WIN_TYPES[:-1]  # those that are not forfeits
_DRAW = _ENDED.index("draw")
_ACTIONS = ("play", "take")
_UNIT = 1 << 20  # a swing is counted in parts of this size: whole numbers add up in any order
_MOST_TURNS = 10
_KEYS = len(_ENDED) * STANDARD.rounds * len(_ACTIONS)
_DRAWS = np.arange(_KEYS) * len(_ENDED) // _KEYS == _DRAW


class Decisive:
    """Counts the decisive plies: those with the largest swing in the chance to win.

    A game counts for its winner, and a draw only for all bots together. The chances are
    those of `champion` under the published rules; forfeits are not counted.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = labels
        groups = len(labels) + 1
        self.share = Moments(groups, _KEYS)
        self.swing = Moments(groups, _KEYS, scale=_UNIT)
        self.own = Moments(groups, _KEYS)
        self.turns = Turns(_MOST_TURNS)

    def add(self, sides: Sides) -> None:
        """Count the games of a batch."""
        batch = sides.batch
        ply, swing = find_decisive(chances_of(batch))
        game = np.flatnonzero(batch.finished & (batch.replay.plies > 0))
        ply, swing, winner = ply[game], swing[game], batch.winner[game]
        self.turns.add(batch, game, ply, swing)
        number = ply // STANDARD.round_plies
        is_take = batch.actions[game, ply] == TAKE
        key = (batch.win_type[game] * STANDARD.rounds + number) * len(_ACTIONS) + is_take
        own = STANDARD.seat_at(ply) == winner
        values = None, np.rint(swing * _UNIT).astype(np.int64), own
        place = game, np.maximum(winner, 0), key, _KEYS
        sums = np.stack([sides.add_up(*place, one) for one in values])
        sums[:, _DRAWS, : 2 * sides.pairs] = 0  # a draw counts for no bot
        counts, swings, owns = sums
        by_type = counts.reshape(len(_ENDED), -1, counts.shape[1])
        of_type = np.broadcast_to(by_type.sum(axis=1, keepdims=True), by_type.shape)
        sides.add(of_type.reshape(counts.shape), (self.share, counts))
        sides.add(counts, (self.swing, swings), (self.own, owns))

    def turn_table(self) -> Columns:
        """Return the games with the largest turns."""
        places = [name for name in _TURN.names or () if name != "key"]
        return Columns({name: self.turns.kept[name] for name in places})

    def table(self) -> Columns:
        """Return a row for each winner, win type, round and action, and for all bots."""
        games, bots = self.swing.counts.ravel(), range(len(self.labels) + 1)
        rounds = range(1, STANDARD.rounds + 1)
        columns = {
            **every(bot=bots, win_type=_ENDED, round=rounds, action=_ACTIONS),
            "games": games,
            **interval("share", "share", self.share.shares()),
            **interval("swing", "swing", self.swing.means()),
            **interval("own", "own", self.own.shares()),
        }
        for name in ("own", "own_low", "own_high"):
            columns[name][columns["win_type"] == "draw"] = np.nan
        return make_table(columns, self.labels, games > 0)


def find_decisive(chances: Floats) -> tuple[Ints, Floats]:
    """Return the ply with the largest swing in each game, the first if several tie, and the swing.

    `chances` has a row for each game: the chance before each ply, and at the end.
    """
    swings = np.abs(np.diff(chances, axis=1))
    ply = swings.argmax(axis=1)
    return ply, swings[np.arange(len(ply)), ply]
