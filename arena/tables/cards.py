"""Count how often each kind of card is played and taken, and how that correlates with winning.

A logistic model says how often the taker wins, from the state before the take: both piles, the
round, whether the other seat has still to take, and how the two bots score against each other. The
residuals of the model are regressed on the cards taken. The result is a correlation, adjusted for
what the model knows, and not a causal effect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from arena.batch.replay import Bools, Ints, find_points
from arena.statistics.distributions import Floats, expit, logit, student_bound
from arena.statistics.intervals import Moments
from arena.store.columns import Columns
from arena.tables.replayed_games import Sides
from arena.tables.run_games import Batch, every, interval, make_table
from arena.threads import one_thread
from engine import CITY, KINDS, Rules
from engine.cards import CHARS

_ROWS = 256  # in a block: OpenBLAS starts threads from 9,216 numbers on
_PARTS = 128  # that are copied at a time


def dot(table: Floats | Ints, weights: Floats) -> Floats:
    """Return the products of the rows of a table with weights."""
    return np.asarray(np.einsum("ij,j->i", table, weights))


def weigh(table: Floats | Ints, weights: Floats) -> Floats:
    """Return the weighted sum of the rows of a table."""
    return np.asarray(np.einsum("ij,i->j", table, weights))


def cross(one: Floats | Ints, other: Floats | Ints, weights: Floats | None = None) -> Floats:
    """Return the product of a table's transpose with another table of the same shape.

    With `weights` each row of the first table is multiplied by its weight.
    """
    rows, columns = one.shape
    product = np.zeros((columns, columns))
    for start in range(0, rows, _ROWS * _PARTS):
        some = slice(start, start + _ROWS * _PARTS)
        parts = -(-min(_ROWS * _PARTS, rows - start) // _ROWS)
        padded = np.zeros((2, parts * _ROWS, columns))
        padded[0, : rows - start], padded[1, : rows - start] = one[some], other[some]
        if weights is not None:
            padded[0, : rows - start] *= weights[some, None]
        first, second = padded.reshape(2, parts, _ROWS, columns)
        product += np.matmul(first.swapaxes(1, 2), second).sum(axis=0)
    return product


_PAIRS = 1 << 32  # more than a pairing has
_STAGES = 4  # a model for each: under the published rules, for each round
_RIDGE = 1.0
_STEPS = 25
_NEAR = 1e-4
_PART = 4_000
_AT_ONCE = 2_000  # pairs, of 16 takes each
_TENTHS = 10  # points in one unit of the lead: numbers of about one suit the ridge
_FEW_PAIRS = 2 * len(KINDS)  # with fewer, the effects of the kinds cannot be separated
_WORTH = "won", "expected", "more", "more_low", "more_high", "adds", "adds_low", "adds_high"
"""Columns that the takes of a bot give for each kind of card.

`won` is the share of games won by the taker of a card, counted by cards; `expected` is the share
that the model expects from the state before the take, and `more` is the difference. `adds` is the
contribution of one card to that difference, given the other cards of its take.
"""


class _Takes(NamedTuple):
    """Takes of a sample, in the order of the games: an array has a row for each.

    `pair` is the pairing's number times _PAIRS, and the pair's.
    """

    pair: Ints
    bot: Ints
    side: Ints  # the pairing's number twice, and one more for its second bot
    stage: Ints
    score: Ints  # of the taker, in halves
    state: Ints  # the inputs of the model, in whole numbers
    cards: Ints

    def choose(self, rows: Ints | Bools | slice) -> _Takes:
        """Return the takes in these rows."""
        return _Takes(*(part[rows] for part in self))

    def shrunk(self) -> _Takes:
        """Return the takes in less memory: 15 MB for 50,000 games."""
        return _Takes(*map(_shrink, self))


_Parts: TypeAlias = Callable[[], Iterable[tuple[Floats, Floats]]]
"""Returns a table and its results, some rows at a time."""


def _shrink(numbers: Ints) -> Ints:
    """Return numbers in one byte each, if they are near 0; the columns of a table lie together."""
    small: Ints = numbers.astype(np.int8)
    return np.asfortranarray(small if (small == numbers).all() else numbers)


class Sample:
    """The takes of the first pairs of every pairing; its quota is their number."""

    def __init__(self, quota: Ints, rules: Rules) -> None:
        self.quota = quota
        self.rules = rules
        self.games = np.zeros((len(quota), 2), np.int64)  # finished ones, and the score in halves
        self.played: Counter[int] = Counter()  # games by bot
        self.kept: list[_Takes] = []

    def add(self, batch: Batch) -> None:
        """Add the takes of those games of a batch that belong to the sample."""
        chosen = batch.number < self.quota[batch.pairing]
        if not chosen.any():
            return
        games = np.flatnonzero(chosen[batch.pair] & batch.finished)
        pairing = batch.pairing[batch.pair[games]]
        winner, first = batch.winner[games], batch.first[games]
        score = np.where(winner < 0, 1, 2 * (winner == first))
        np.add.at(self.games, pairing, np.stack([np.ones_like(score), score], axis=1))
        bots, counts = np.unique(batch.bots[batch.pair[games]], return_counts=True)
        self.played.update(dict(zip(bots.tolist(), counts.tolist(), strict=True)))
        self.keep(self._read(batch, np.isin(batch.replay.takes.game, games)))

    def keep(self, takes: _Takes) -> None:
        """Keep the takes of some pairs."""
        if len(takes.pair):
            self.kept.append(takes.shrunk())

    def takes(self) -> Iterator[_Takes]:
        """Yield the takes in the order of the schedule, some pairs at a time."""
        bounds = [(takes.pair.min(), takes.pair.max()) for takes in self.kept]
        pairs = np.unique(np.concatenate([takes.pair for takes in self.kept]))
        for start in range(0, len(pairs), _AT_ONCE):
            first, last = pairs[start : start + _AT_ONCE][[0, -1]]
            parts = [
                takes.choose((first <= takes.pair) & (takes.pair <= last))
                for takes, (lowest, highest) in zip(self.kept, bounds, strict=True)
                if lowest <= last and first <= highest
            ]
            takes = _Takes(*map(np.concatenate, zip(*parts, strict=True)))
            yield takes.choose(np.argsort(takes.pair, kind="stable"))

    def _read(self, batch: Batch, chosen: Bools) -> _Takes:
        takes = batch.replay.takes
        order = np.flatnonzero(chosen)
        order = order[np.lexsort([takes.ply[order], takes.game[order]])]
        game, seat = takes.game[order], takes.seat[order]
        side = seat ^ batch.first[game]
        pair, winner = batch.pair[game], batch.winner[game]
        stage = (takes.round[order] - 1) * _STAGES // max(_STAGES, self.rules.rounds)
        return _Takes(
            pair=batch.pairing[pair] * _PAIRS + batch.number[pair],
            bot=batch.bots[pair, side].astype(np.int16),
            side=(2 * batch.pairing[pair] + side).astype(np.int32),
            stage=stage.astype(np.int8),
            score=np.where(winner < 0, 1, 2 * (winner == seat)).astype(np.int8),
            state=self._state(batch, order).astype(np.int16),
            cards=takes.cards[:, order].T.astype(np.int16),
        )

    def _state(self, batch: Batch, order: Ints) -> Ints:
        """Return the state before each take, as the taker sees it, in whole numbers."""
        takes, rules = batch.replay.takes, self.rules
        before, seat = takes.before.take(order, axis=-1), takes.seat[order]
        own, other = np.where(seat, before[::-1], before)
        score = find_points(before, rules)
        lead = (score[0] - score[1]) * (1 - 2 * seat)
        cities = np.stack([own[CITY], other[CITY]])
        place = takes.game[order] * rules.rounds + takes.round[order]
        is_second = np.concatenate([[False], place[1:] == place[:-1]])
        nearly = cities == rules.cities_needed - 1
        second = is_second[None, : len(order)]
        return np.concatenate([(own - other)[:CITY], lead[None], cities, nearly, second]).T

    def worth(self, groups: int) -> dict[str, Floats | Ints]:
        """Return the columns of the worth of cards, by bot and kind; the last bot stands for all.

        `sampled` is the number of games from which the other columns are estimated.
        """
        games = np.zeros(groups, np.int64)
        found = np.full((groups, len(_WORTH), len(KINDS)), np.nan)
        if self.kept:
            self.kept = [takes.shrunk() for takes in self.takes()]
            games[:-1] = [self.played[bot] for bot in range(groups - 1)]
            games[-1] = self.games[:, 0].sum()
            found = self._add_up(groups).worth()
        columns = found.swapaxes(0, 1).reshape(len(_WORTH), -1)
        return {"sampled": games.repeat(len(KINDS)), **dict(zip(_WORTH, columns, strict=True))}

    def _add_up(self, groups: int) -> _Sums:
        """Return the sums over the takes of each bot, and of all bots."""
        strengths = self._find_strengths()
        weights = [self._fit(stage, strengths) for stage in range(_STAGES)]
        sums = _Sums(groups)
        rests = [takes.score / 2 - _expect_wins(takes, weights, strengths) for takes in self.kept]
        for add in (sums.add, sums.add_spread):
            for takes, rest in zip(self.kept, rests, strict=True):
                order = np.argsort(takes.bot, kind="stable")
                add(takes.bot[order], takes.choose(order), rest[order])
                add(np.full(len(order), groups - 1), takes, rest)
        return sums

    def _find_strengths(self) -> Floats:
        """Return how strongly each side scores against the other, by its number."""
        games, score = self.games.T
        share = (score / 2 + 1) / (games + 2)  # as if one more pair had ended 1 : 1
        return logit(np.stack([share, 1 - share], axis=1).ravel())

    def _fit(self, stage: int, strengths: Floats) -> Floats:
        """Return the fitted weights of the model of a stage."""
        here = [takes.choose(takes.stage == stage) for takes in self.kept]
        rows = sum(len(takes.pair) for takes in here)
        return _fit(lambda: ((_table(takes, strengths), takes.score / 2) for takes in here), rows)


def _table(takes: _Takes, strengths: Floats) -> Floats:
    """Return the table of the model's inputs: a row for each take."""
    table = np.empty((len(takes.stage), 2 + takes.state.shape[1]))
    table[:, 0], table[:, 1] = 1, strengths[takes.side]
    table[:, 2:] = takes.state
    table[:, 2 + CITY] /= _TENTHS
    return table


def _expect_wins(takes: _Takes, weights: Sequence[Floats], strengths: Floats) -> Floats:
    """Return the chance of each taker to win, by the state before the take."""
    expected = np.zeros(len(takes.stage))
    for stage in range(_STAGES):
        here = takes.stage == stage
        expected[here] = expit(dot(_table(takes.choose(here), strengths), weights[stage]))
    return expected


def _fit(parts: _Parts, rows: int) -> Floats:
    """Return the weights of a logistic regression, by Newton's method.

    It starts from the weights fitted to a part of the rows, so that two or three steps over all
    rows are enough instead of seven.
    """
    every = -(-rows // _PART)
    start = np.zeros(next(iter(parts()))[0].shape[1])
    if every > 1:
        some, before = [], 0
        for table, results in parts():
            of = slice(-before % every, None, every)
            some.append((table[of], results[of]))
            before += len(results)
        tables, scores = map(np.concatenate, zip(*some, strict=True))
        start = _steps(lambda: [(tables, scores)], start)
    return _steps(parts, start)


def _steps(parts: _Parts, weights: Floats) -> Floats:
    for _ in range(_STEPS):
        slope, bend = _RIDGE * weights, _RIDGE * np.eye(len(weights))
        for table, results in parts():
            share = expit(dot(table, weights))
            slope += weigh(table, share - results)
            bend += cross(table, table, share * (1 - share))
        step = np.linalg.solve(bend, slope)
        weights = weights - step
        if np.abs(step).max() < _NEAR:  # the next step would be of the size of its square
            break
    return weights


class _Sums:
    """Sums over the takes of each group, a bot or all bots; `add` all takes before `add_spread`.

    They are added for all groups at once: for 300 bots that takes a fifth of the time.
    """

    def __init__(self, groups: int) -> None:
        kinds = len(KINDS)
        self.pairs = np.zeros(groups, np.int64)
        self.count = np.zeros((groups, kinds), np.int64)
        self.won, self.rest, self.squares = np.zeros((3, groups, kinds))
        self.both, self.spread = np.zeros((2, groups, kinds, kinds))

    def add(self, group: Ints, takes: _Takes, rest: Floats) -> None:
        """Add takes of whole pairs, sorted by group."""
        found, starts = np.unique(group, return_index=True)
        cards = takes.cards.astype(np.float64)
        self.count[found] += np.add.reduceat(takes.cards, starts, dtype=np.int64)
        self.won[found] += np.add.reduceat(cards * (takes.score / 2)[:, None], starts)
        self.rest[found] += np.add.reduceat(cards * rest[:, None], starts)
        self.both[found] += _cross_by(cards, starts)

    def add_spread(self, group: Ints, takes: _Takes, rest: Floats) -> None:
        """Add the squared deviations of pairs from the means and from the least-squares fit."""
        pairs, cards = _find_pairs(group, takes), takes.cards.astype(np.float64)
        found, starts, counts = np.unique(pairs.group, return_index=True, return_counts=True)
        self.pairs[found] += counts
        beside = rest[:, None] - np.nan_to_num(self._mean(self.rest))[group]
        self.squares[found] += np.add.reduceat(pairs.add_up(cards * beside) ** 2, starts)
        left = rest - np.einsum("ij,ij->i", cards, self._adds[group])
        self.spread[found] += _cross_by(pairs.add_up(cards * left[:, None]), starts)

    def _mean(self, sums: Floats) -> Floats:
        nothing = np.full(self.count.shape, np.nan)
        return np.asarray(np.divide(sums, self.count, where=self.count > 0, out=nothing))

    @cached_property
    def _adds(self) -> Floats:
        """The least-squares estimates of what each card adds to the residual."""
        return np.asarray(np.linalg.pinv(self.both) @ self.rest[:, :, None])[:, :, 0]

    def worth(self) -> Floats:
        """Return the columns that _WORTH names (group, column, kind)."""
        some, inverse = self.count > 0, np.linalg.pinv(self.both)
        share, more = self._mean(self.won), self._mean(self.rest)
        half = self._half(self._mean(np.sqrt(self.squares)))
        variance = np.diagonal(inverse @ self.spread @ inverse, axis1=1, axis2=2)
        of_adds = self._half(np.where(some, np.sqrt(np.maximum(0, variance)), np.nan))
        adds = np.where(some & (self.pairs > _FEW_PAIRS)[:, None], self._adds, np.nan)
        bounds = more - half, more + half, adds, adds - of_adds, adds + of_adds
        return np.stack([share, share - more, more, *bounds], axis=1)

    def _half(self, error: Floats) -> Floats:
        """Return half the widths of 95 % intervals; they need two pairs or more."""
        pairs = np.where(self.pairs > 1, self.pairs, np.nan)
        widening = student_bound(np.maximum(self.pairs - 1, 1)) * np.sqrt(pairs / (pairs - 1))
        return np.asarray(error * widening[:, None])


class _Pairs(NamedTuple):
    """Pairs of games as groups see them: the group of each, and where its takes are.

    `order` are the takes by pair, and `starts` the first take of each pair in it.
    """

    group: Ints
    order: Ints
    starts: Ints

    def add_up(self, values: Floats) -> Floats:
        """Return the sums of the values of each pair's takes (pair, kind)."""
        return np.asarray(np.add.reduceat(values[self.order], self.starts))


def _find_pairs(group: Ints, takes: _Takes) -> _Pairs:
    order = np.lexsort([takes.pair, group])
    groups, pair = group[order], takes.pair[order]
    is_new = (np.diff(groups, prepend=-1) != 0) | (np.diff(pair, prepend=-1) != 0)
    return _Pairs(groups[is_new], order, np.flatnonzero(is_new))


def _cross_by(table: Floats, starts: Ints) -> Floats:
    """Return the product of a table's transpose with itself for each part that starts there."""
    columns = (table[:, [column]] for column in range(table.shape[1]))
    return np.stack([np.add.reduceat(table * one, starts) for one in columns], axis=1)


MOST_PAIRS = 25_000
"""Pairs from which the worth of cards is estimated: 50,000 games."""


class Cards:
    """Counts the cards that each bot plays and takes in a game, and keeps a sample of takes.

    The sample has the first pairs of every pairing; `quota` is their number by pairing. Forfeited
    games that had begun count in how often cards are played and taken, but not in what cards are
    worth.
    """

    def __init__(self, labels: Sequence[str], rules: Rules, quota: Ints) -> None:
        self.labels = labels
        self.played = Moments(len(labels) + 1, len(KINDS))
        self.taken = Moments(len(labels) + 1, len(KINDS))
        self.sample = Sample(quota, rules)

    def add(self, sides: Sides) -> None:
        """Count the cards of a batch."""
        replay = sides.batch.replay
        begun = np.broadcast_to(replay.plies > 0, (2, len(KINDS), sides.batch.games))
        counts = sides.add_up_all(begun.astype(np.int64))
        played, taken = replay.count_played(), replay.piles[-1].astype(np.int64)
        of_both = (self.played, sides.add_up_all(played)), (self.taken, sides.add_up_all(taken))
        sides.add(counts, *of_both)
        self.sample.add(sides.batch)

    @one_thread()
    def table(self) -> Columns:
        """Return a row for each bot and kind of card, and for all bots."""
        groups, games = len(self.labels) + 1, self.played.counts.ravel()
        columns = {
            **every(bot=range(groups), card=[*CHARS[: len(KINDS)]]),
            "games": games,
            **interval("played", "played", self.played.means()),
            **interval("taken", "taken", self.taken.means()),
            **self.sample.worth(groups),
        }
        return make_table(columns, self.labels, games > 0)
