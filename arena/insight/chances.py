"""Ask `champion` for each seat's chance to win at every ply of many games.

They are the numbers that its `chance` returns, found for all plies of some games at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from arena.batch.replay import Replay
from arena.entries.resolve import resolve
from arena.insight.run_games import Batch, Row, read_batches
from arena.statistics.distributions import Floats
from arena.store.finished import Game
from arena.tournament.tournament import Tournament
from engine import STANDARD, TAKE

BOT = "champion"
"""The bot whose values these are."""


class _Values(Protocol):
    """A bot that says of many games what its `chance` says of one position."""

    def chances(self, games: Replay, /) -> Any:
        """Return the chance of seat 0 before each ply (ply, game)."""


def chances_of(batch: Batch) -> Floats:
    """Return the chance of seat 0 to win before each ply and at the end (games x plies + 1).

    After the end of a game it is the result, and so it is in the last round when both seats have
    taken. The rules are the published ones.
    """
    bot: _Values = resolve(BOT).load()
    games, plies = batch.actions.shape
    found = np.empty((plies + 1, games))
    found[:plies] = bot.chances(batch.replay)
    last = plies - STANDARD.round_plies
    is_known = np.arange(plies + 1)[:, None] >= batch.replay.plies
    takes = np.cumsum(batch.actions.T[last:] == TAKE, axis=0)
    is_known[last + 1 :] |= takes >= 2
    result = np.where(batch.winner < 0, 0.5, 1 - batch.winner)
    np.copyto(found, result, where=is_known)
    return found.T


def chances_by_game(
    tournament: Tournament, games: Mapping[tuple[int, int, int], Game]
) -> dict[tuple[int, int, int], list[float]]:
    """Return the chance of seat 0 before each ply and at the end of each finished game.

    Games are given by pairing, pair and seat. They are `champion`'s, and known under the published
    rules.
    """
    if tournament.rules != STANDARD:
        return {}
    finished = sorted(place for place, game in games.items() if not game.fault)
    rows = [_row(tournament, place, games[place]) for place in finished]
    found: dict[tuple[int, int, int], list[float]] = {}
    start = 0
    for batch in read_batches(tournament, rows):
        for place, of_game in zip(finished[start:], chances_of(batch), strict=False):
            found[place] = of_game[: games[place].plies + 1].tolist()
        start += batch.games
    return found


def _row(tournament: Tournament, place: tuple[int, int, int], game: Game) -> Row:
    pairing, pair, seat = place
    two = [*tournament.pairings[pairing]]
    winner = None if game.winner is None else two.index(game.winner)
    return Row(pairing, pair, seat, winner, game.win_type, 0, game.record.actions)
