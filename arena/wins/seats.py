"""Seats: how games end for each bot, by opponent and seat; seat 0 begins round 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.statistics.tables import LOSS_COLUMNS
from arena.tournament.schedule import Pairing
from arena.wins.batch import CITY_WIN, FORFEIT, WIN_TYPES, Batch, Ints
from arena.wins.frame import interval, make_frame
from arena.wins.moments import Moments

_RESULTS = 3  # won, lost, drawn
_ENDINGS = _RESULTS * len(WIN_TYPES)
_CELLS = _ENDINGS + 3  # and games that were scored, the sum of their margins, of the squares
_DECIDED = [name for name in WIN_TYPES if name != "draw"]


class Seats:
    """Counts the games of each pairing by seat, as its first bot sees them.

    A pair has one game for each seat of that bot: by bot and seat, games are independent.
    For all bots together a seat has both games of a pair.
    """

    def __init__(self, labels: Sequence[str], pairings: Sequence[Pairing]) -> None:
        self.labels = labels
        numbers = {label: number for number, label in enumerate(labels)}
        self.bots = np.array([[numbers[label] for label in two] for two in pairings])
        self.cells = np.zeros((len(pairings), 2, _CELLS), np.int64)
        self.by_seat = Moments(1, 2, scale=2), Moments(1, 2), Moments(1, 2)

    def add(self, batch: Batch) -> None:
        """Count the games of a batch."""
        pairings, local = np.unique(batch.pairing[batch.pair], return_inverse=True)
        won = np.where(batch.winner < 0, 2, batch.winner ^ batch.first)
        scored = ~np.isin(batch.win_type, (CITY_WIN, FORFEIT)) * 1
        lead = scored * batch.margin  # of seat 0
        margin = lead * (1 - 2 * batch.first)
        start = (local * 2 + batch.first) * _CELLS
        size = len(pairings) * 2 * _CELLS
        sums = np.bincount(start + batch.win_type * _RESULTS + won, minlength=size)
        for place, values in enumerate((scored, margin, margin**2), _ENDINGS):
            sums += np.bincount(start + place, values, size).astype(np.int64)
        self.cells[pairings] += sums.reshape(-1, 2, _CELLS)
        score = np.where(batch.winner < 0, 1, 2 - 2 * batch.winner)
        by_city = [(batch.win_type == CITY_WIN) & (batch.winner == seat) for seat in (0, 1)]
        ones = np.ones_like(score)
        for moments, counts, totals in zip(
            self.by_seat,
            ([ones, ones], [ones, ones], [scored, scored]),
            ([score, 2 - score], by_city, [lead, -lead]),
            strict=True,
        ):
            group = np.zeros(batch.pairs, np.int64)
            moments.add(group, _by_pair(batch, counts), _by_pair(batch, totals))

    def table(self) -> pd.DataFrame:
        """Return a row for each bot, opponent and seat; then for each bot, and for all bots."""
        met = np.flatnonzero(self.cells[:, :, :_ENDINGS].sum(axis=(1, 2)))
        bots, cells = self.bots[met], self.cells[met]
        bot = np.concatenate([bots[:, 0], bots[:, 1]])
        opponent = np.concatenate([bots[:, 1], bots[:, 0]])
        own = np.concatenate([cells, _turned(cells)])
        everyone = len(self.labels)
        total = np.zeros((everyone, 2, _CELLS), np.int64)
        np.add.at(total, bot, own)
        played = np.unique(bot)
        of_seats = total.sum(axis=0)[None] if len(played) else own[:0]
        rows = np.concatenate([own, total[played], of_seats])
        places = np.concatenate([bot, played, np.full(len(of_seats), everyone)])
        others = np.concatenate([opponent, np.full(len(played) + len(of_seats), everyone)])
        order = np.lexsort([others, places])
        return self._frame(places[order], others[order], rows[order])

    def _frame(self, bot: Ints, opponent: Ints, cells: Ints) -> pd.DataFrame:
        seats = np.tile([0, 1], len(cells))
        cells = cells.reshape(-1, _CELLS)
        ends = cells[:, :_ENDINGS].reshape(-1, len(WIN_TYPES), _RESULTS)
        won, lost, drawn = np.moveaxis(ends.sum(axis=1), 1, 0)
        games = won + lost + drawn
        score = Moments.independent(games, 2 * won + drawn, 4 * won + drawn, scale=2)
        city = ends[:, CITY_WIN, 0]
        of_city = Moments.independent(games, city, city)
        margin = Moments.independent(*np.moveaxis(cells[:, _ENDINGS:], 1, 0))
        if len(cells):  # the last two rows are all bots: pairs have two games there
            for moments, own in zip((score, of_city, margin), self.by_seat, strict=True):
                moments.sums[:, -2:, 0] = own.sums[:, 0]
        columns = {
            "bot": bot.repeat(2),
            "opponent": opponent.repeat(2),
            "seat": seats,
            "games": games,
            "wins": won,
            "draws": drawn,
            "losses": lost,
            **interval("score", "score", score.shares()),
            **{f"{name}_wins": ends[:, WIN_TYPES.index(name), 0] for name in _DECIDED},
            **{LOSS_COLUMNS[name]: ends[:, WIN_TYPES.index(name), 1] for name in _DECIDED},
            **interval("city", "city_share", of_city.shares()),
            **interval("margin", "mean_margin", margin.means()),
        }
        return make_frame(columns, self.labels, games > 0)


def _by_pair(batch: Batch, by_seat: Sequence[Ints]) -> Ints:
    """Return sums of numbers of games by pair and seat."""
    sums = [np.bincount(batch.pair, values, batch.pairs) for values in by_seat]
    return np.stack(sums, axis=1).astype(np.int64)


def _turned(cells: Ints) -> Ints:
    """Return counts as the opponent sees them: in the other seat, lost for won."""
    ends = cells[:, ::-1, :_ENDINGS].reshape(-1, _RESULTS)
    turned = ends[:, [1, 0, 2]].reshape(len(cells), 2, _ENDINGS)
    scored, margin, squares = np.moveaxis(cells[:, ::-1, _ENDINGS:], 2, 0)
    return np.concatenate([turned, np.stack([scored, -margin, squares], axis=2)], axis=2)
