"""Read games of a run as arrays by pair, and make tables of columns from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from arena.batch.positions import Cards
from arena.batch.replay import NOTHING, Bools, Ints, Replay, replay
from arena.errors import InputError
from arena.statistics.counts import WIN_TYPES
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Estimates, Moments
from arena.store.columns import EMPTY, Columns
from arena.tournament.schedule import Pairing
from arena.tournament.tournament import Tournament
from engine import Rules
from engine.cards import CHARS
from engine.state import Seat

CITY_WIN, FORFEIT = WIN_TYPES.index("city"), WIN_TYPES.index("forfeit")
CELLS = 1 << 17
"""Plies of a batch: its arrays have a few megabytes."""

_WRONG = 254
_ENDINGS = {name: number for number, name in enumerate(WIN_TYPES)}
_ACTIONS = np.full(256, _WRONG, np.uint8)
_ACTIONS[np.frombuffer(CHARS.encode(), np.uint8)] = np.arange(len(CHARS))
_ACTIONS[ord(" ")] = NOTHING


class Row(NamedTuple):
    """One game of the pairing with this number, from the side of its first bot.

    `seat` is the seat of that bot; `winner` is 0 if it won, 1 if its opponent did, None for a draw;
    `actions` are in the engine's notation.
    """

    pairing: int
    pair: int
    seat: Seat
    winner: int | None
    win_type: str
    actions: str


@dataclass(frozen=True)
class Batch:
    """Some games as arrays, with an element for each game unless stated otherwise.

    `pair` counts the pairs of the batch from 0 on; `first` is the seat of the pairing's first bot;
    `winner` is a seat, -1 for a draw; `win_type` is an index of WIN_TYPES. By pair of the batch,
    `bots` has the two bots of its pairing, as places in the run, `pairing` the pairing's number,
    and `number` that of the pair in it. `actions` is (game, ply), and `opening` has the row as it
    was dealt.
    """

    pair: Ints
    first: Ints
    winner: Ints
    win_type: Ints
    actions: Cards
    opening: Cards
    pairing: Ints
    number: Ints
    bots: Ints
    rules: Rules

    @cached_property
    def replay(self) -> Replay:
        """The games played again, ply by ply."""
        return replay(self.actions, self.opening, self.rules)

    @property
    def games(self) -> int:
        """How many games there are."""
        return len(self.pair)

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return len(self.pairing)

    @property
    def finished(self) -> Bools:
        """Which games were played to their end: those that were not forfeited."""
        return np.asarray(self.win_type != FORFEIT)


def read_batches(
    tournament: Tournament, rows: Iterable[Row], most: int | None = None
) -> Iterator[Batch]:
    """Yield the games in batches of about `most`; the games of a pair stay together.

    Raises InputError for a record that cannot be played.
    """
    most = most or max(1, CELLS // tournament.rules.game_plies)
    some: list[Row] = []
    for row in rows:
        if len(some) >= most and row[:2] != some[-1][:2]:
            yield _make(tournament, some)
            some = []
        some.append(row)
    if some:
        yield _make(tournament, some)


def _make(tournament: Tournament, rows: Sequence[Row]) -> Batch:
    pairing, pair, seat, winner, win_type, actions = zip(*rows, strict=True)
    places = np.array([pairing, pair])
    begins = np.concatenate([[True], (np.diff(places) != 0).any(axis=0)])
    local, first = np.cumsum(begins) - 1, np.array(seat)
    won = np.array([-1 if number is None else number for number in winner])
    drawn = [row for row, new in zip(rows, begins, strict=True) if new]
    openings = _openings(tournament, drawn)
    of_pairs = places[0][begins]
    played = _actions(actions, tournament.rules.game_plies)
    ended = np.array([_ENDINGS.get(name, -1) for name in win_type])
    for row in np.flatnonzero((played == _WRONG).any(axis=1) | (ended < 0)).tolist():
        name = tournament.fixture(*rows[row][:3]).name
        raise InputError(f"game {name}: its record cannot be played")
    return Batch(
        pair=local,
        first=first,
        winner=np.where(won < 0, -1, won ^ first),
        win_type=ended,
        actions=played,
        opening=openings[local],
        pairing=of_pairs,
        number=places[1][begins],
        bots=place_bots(map(tournament.pairings.__getitem__, of_pairs.tolist()), tournament.labels),
        rules=tournament.rules,
    )


def place_bots(pairings: Iterable[Pairing], order: Sequence[str]) -> Ints:
    """Return the two bots of each pairing by their places in an order.

    A bot that is not in it has the place behind the last one.
    """
    places = {label: place for place, label in enumerate(order)}
    numbers = [places.get(label, len(order)) for two in pairings for label in two]
    return np.array(numbers, np.int64).reshape(-1, 2)


def _actions(texts: Sequence[str], plies: int) -> Cards:
    """Return actions as an array, with _WRONG for a text that is not a list of actions."""
    text = "".join([text.ljust(plies) if len(text) <= plies else "?" * plies for text in texts])
    data = np.frombuffer(text.encode("ascii", "replace"), np.uint8)
    return np.asarray(_ACTIONS[data].reshape(len(texts), plies))


def _openings(tournament: Tournament, rows: Iterable[Row]) -> Cards:
    """Return the opening row of each pair."""
    rules = tournament.rules
    start = 2 * rules.hand_size
    end = start + rules.opening_row
    deals = [tournament.draw(tournament.fixture(*row[:3])).deal[start:end] for row in rows]
    return np.frombuffer(b"".join(deals), np.uint8).reshape(len(deals), rules.opening_row)


_DIGITS = 4
_LABELS = ("bot", "opponent")


def interval(name: str, of: Estimates) -> dict[str, Floats]:
    """Return three columns of an interval: the mean, and its bounds."""
    return {name: of.value.ravel(), f"{name}_low": of.low.ravel(), f"{name}_high": of.high.ravel()}


def every(**axes: Sequence[Any]) -> dict[str, Any]:
    """Return a column for each axis: together they have every combination, the last axis fastest.

    >>> [column.tolist() for column in every(bot=range(2), after=("led", "behind")).values()]
    [[0, 0, 1, 1], ['led', 'behind', 'led', 'behind']]
    """
    grids = np.meshgrid(*axes.values(), indexing="ij")
    return {name: grid.ravel() for name, grid in zip(axes, grids, strict=True)}


def add_rows(
    moments: Moments,
    group: Ints,
    key: Ints | int,
    pair: Ints,
    totals: Ints,
    counts: Bools | int = 1,
) -> None:
    """Add rows to moments, such as decisions: each is of a group, a key and a pair of games."""
    pairs = int(pair.max(initial=0)) + 1
    units, unit = np.unique(group * pairs + pair, return_inverse=True)
    number, total = np.zeros((2, moments.sums.shape[2], len(units)), np.int64)
    where = np.broadcast_to(key, len(unit)), unit
    np.add.at(number, where, counts)
    np.add.at(total, where, totals)
    moments.add(units // pairs, number, total)


def make_table(columns: Mapping[str, Any], labels: Sequence[str], shown: Bools) -> Columns:
    """Return the rows that are shown; a bot is its place in the run, and past its end all bots.

    All bots are an empty cell, and so is a number that is not known, or a whole one below 0.
    """
    named = np.array([*labels, None], object)
    cells = {}
    for name, values in columns.items():
        column = np.asarray(values)[shown]
        if name in _LABELS:
            column = named[column]
        elif column.dtype.kind == "f":
            column = column.round(_DIGITS) + 0.0  # no -0.0
        elif column.dtype.kind == "i":
            column = np.where(column < 0, EMPTY, column)
        cells[name] = column if column.dtype.kind in "fi" else column.astype(object)
    return Columns(cells)
