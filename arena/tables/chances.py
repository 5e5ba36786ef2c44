"""Look up the chance to win at every ply of many games at once, as `champion` values it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Any, Protocol

import numpy as np

from arena.batch.replay import DRAW, Bools, Replay, find_winners
from arena.entries.resolve import resolve
from arena.statistics.distributions import Floats
from arena.store.finished import Game
from arena.tables.run_games import Batch, Row, read_batches
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
    return Row(pairing, pair, seat, winner, game.win_type, game.record.actions)
