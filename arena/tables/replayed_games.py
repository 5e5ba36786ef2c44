"""Add up replayed games by pair: leads, cities, sources of points, takes, and cards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from arena.batch.positions import Cards as Piles
from arena.batch.replay import Ints, find_points, find_sources
from arena.statistics.intervals import Moments, add_pairs
from arena.store.columns import Columns
from arena.tables.run_games import CITY_WIN, Batch, every, interval, make_table
from engine import CITY, KINDS, Rules
from engine.cards import CHARS


class Ends(NamedTuple):
    """Ends of rounds: the number of the round, from 0, the seat that looks, and the game.

    `piles` are those of all games after these rounds (round, seat, kind, game).
    """

    number: Ints
    seat: Ints
    game: Ints
    piles: Piles


class Sides:
    """The groups of a batch: each pair counts for both of its bots, and once for all bots.

    A group is a bot, numbered by its place in the run; the last group is all bots together.
    """

    def __init__(self, batch: Batch, bots: int) -> None:
        self.batch = batch
        self.pairs = batch.pairs
        self.starts = np.flatnonzero(np.diff(batch.pair, prepend=-1))
        all_bots = np.full(self.pairs, bots)
        self.groups = np.concatenate([batch.bots[:, 0], batch.bots[:, 1], all_bots])

    @cached_property
    def ends(self) -> Ends:
        """The ends of all rounds but the last, in games that went on there; forfeits are left out.

        Every game is there once for each of its seats.
        """
        batch, rules = self.batch, self.batch.rules
        ends = np.arange(rules.round_plies, rules.round_plies * rules.rounds, rules.round_plies)
        game, number = np.nonzero(batch.finished[:, None] & (batch.replay.plies[:, None] > ends))
        seat = np.repeat([0, 1], len(game))
        return Ends(np.tile(number, 2), seat, np.tile(game, 2), batch.replay.piles[ends])

    def add_up(
        self, game: Ints, seat: Ints, key: Ints, keys: int, values: Ints | None = None
    ) -> Ints:
        """Return sums of values for each key and group (keys x 3 pairs).

        Without `values` the entries are counted.
        """
        side = seat ^ self.batch.first[game]
        cell = (side * keys + key) * self.pairs + self.batch.pair[game]
        # sums of whole numbers in floats are exact up to 2**53
        sums = np.bincount(cell, values, 2 * keys * self.pairs).astype(np.int64)
        first, second = sums.reshape(2, keys, self.pairs)
        return np.concatenate([first, second, first + second], axis=1)

    def add_up_all(self, values: Ints) -> Ints:
        """Return sums for each key and group (keys x 3 pairs) of values (seat, key, game)."""
        by_side = np.where(self.batch.first, values[::-1], values)
        first, second = np.add.reduceat(by_side, self.starts, axis=-1)
        return np.concatenate([first, second, first + second], axis=1)

    def add(self, counts: Ints, *totals: tuple[Moments, Ints]) -> None:
        """Add sums of these groups to moments, each with its totals."""
        add_pairs(self.groups, counts, totals)


AFTER = ("led", "level", "behind")


class Leads:
    """Counts, after each round but the last, the games that each bot led, and their results.

    Games that ended before that, and forfeits, are not counted.
    """

    def __init__(self, labels: Sequence[str], rules: Rules) -> None:
        self.labels = labels
        self.rules = rules
        self.keys = (rules.rounds - 1) * len(AFTER)
        self.moments = Moments(len(labels) + 1, self.keys, scale=2)

    def add(self, sides: Sides) -> None:
        """Count the games of a batch."""
        batch = sides.batch
        if not self.keys:
            return
        number, seat, both, piles = sides.ends
        points = find_points(piles.astype(np.int32), self.rules)
        lead = np.sign(points - points[:, ::-1])
        ahead = lead[number, seat, both]
        key = number * len(AFTER) + 1 - ahead
        winner = batch.winner[both]
        score = np.where(winner < 0, 1, 2 * (winner == seat))
        counts = sides.add_up(both, seat, key, self.keys)
        sides.add(counts, (self.moments, sides.add_up(both, seat, key, self.keys, score)))

    def table(self) -> Columns:
        """Return a row for each bot, round and `after`; for all bots only those of the leader."""
        bots, games = len(self.labels), self.moments.counts.ravel()
        columns = {
            **every(bot=range(bots + 1), round=range(1, self.rules.rounds), after=AFTER),
            "games": games,
            **interval("score", "score", self.moments.shares()),
        }
        shown = (games > 0) & ((columns["bot"] < bots) | (columns["after"] == AFTER[0]))
        return make_table(columns, self.labels, shown)


class Cities:
    """Counts, after each round but the last, the games of each bot by the cities that it has taken.

    Of these are counted those that it won, and those that it won by City. Games that ended before
    that, and forfeits, are not counted.
    """

    def __init__(self, labels: Sequence[str], rules: Rules) -> None:
        self.labels = labels
        self.rules = rules
        self.keys = (rules.rounds - 1) * rules.cities_needed
        self.won, self.by_city = (Moments(len(labels) + 1, self.keys) for _ in range(2))

    def add(self, sides: Sides) -> None:
        """Count the games of a batch."""
        batch = sides.batch
        if not self.keys:
            return
        number, seat, both, piles = sides.ends
        needed = self.rules.cities_needed
        cities = np.minimum(piles[:, :, CITY], needed - 1)  # a damaged record may have more
        key = number * needed + cities[number, seat, both]
        won = (batch.winner[both] == seat).astype(np.int64)
        by_city = won * (batch.win_type[both] == CITY_WIN)
        counts = sides.add_up(both, seat, key, self.keys)
        of_won, of_city = (
            sides.add_up(both, seat, key, self.keys, of_games) for of_games in (won, by_city)
        )
        sides.add(counts, (self.won, of_won), (self.by_city, of_city))

    def table(self) -> Columns:
        """Return a row for each bot, round and number of cities, and for all bots."""
        bots, games = range(len(self.labels) + 1), self.won.counts.ravel()
        needed, rounds = self.rules.cities_needed, self.rules.rounds
        columns = {
            **every(bot=bots, round=range(1, rounds), cities=range(needed)),
            "games": games,
            **interval("won", "won", self.won.shares()),
            **interval("by_city", "by_city", self.by_city.shares()),
        }
        return make_table(columns, self.labels, games > 0)


SOURCES = (
    "majority_5", "majority_6", "majority_7", "majority_8",
    "sets", "alliances", "betrayals", "total",
)  # fmt: skip


def find_round_points(batch: Batch) -> Ints:
    """Return what each round added to the points of the games of a batch, by source.

    They are by game, side (the pairing's first bot, then its opponent), round and source.
    """
    step = batch.rules.round_plies
    ends = np.arange(0, step * batch.rules.rounds + 1, step)
    sources = find_sources(batch.replay.piles[ends].astype(np.int32), batch.rules)
    by_seat = np.diff(sources, axis=0).transpose(3, 1, 0, 2)
    is_turned = batch.first[:, None, None, None] == 1
    return np.where(is_turned, by_seat[:, ::-1], by_seat)


_ENDS = [*product(("won", "lost"), ("city", "points")), ("drawn", "draw")]
_DRAWN = len(_ENDS) - 1


class Sources:
    """Adds up the points of each bot at the end of its games, and its leads, by source.

    Forfeits are not counted.
    """

    def __init__(self, labels: Sequence[str], rules: Rules) -> None:
        self.labels = labels
        self.rules = rules
        self.keys = len(_ENDS) * len(SOURCES)
        self.points = Moments(len(labels) + 1, self.keys)
        self.leads = Moments(len(labels) + 1, self.keys)

    def add(self, sides: Sides) -> None:
        """Count the games of a batch."""
        batch = sides.batch
        game = np.flatnonzero(batch.finished)
        piles = batch.replay.piles[-1].take(game, axis=-1)
        by_source = find_sources(piles.astype(np.int32), self.rules)
        winner = batch.winner[game]
        by_points = batch.win_type[game] != CITY_WIN
        both, many = np.tile(game, len(SOURCES)), len(SOURCES)
        source = np.repeat(np.arange(many), len(game))
        counts, totals, leads = (np.zeros((self.keys, 3 * batch.pairs), np.int64) for _ in "123")
        for seat in (0, 1):
            end = np.where(winner < 0, _DRAWN, 2 * (winner != seat) + by_points)
            key = np.tile(end, many) * many + source
            own, other = by_source[seat].ravel(), by_source[1 - seat].ravel()
            place = both, np.full(len(both), seat), key, self.keys
            counts += sides.add_up(*place)
            totals += sides.add_up(*place, own)
            leads += sides.add_up(*place, own - other)
        sides.add(counts, (self.points, totals), (self.leads, leads))

    def table(self) -> Columns:
        """Return a row for each bot, ending and source, and for all bots."""
        shape = len(self.labels) + 1, len(_ENDS), len(SOURCES)
        bot, end, source = np.indices(shape).reshape(3, -1)
        games = self.points.counts.ravel()
        both_sides = (bot == len(self.labels)) & (end == _DRAWN)  # for all bots a draw counts twice
        columns = {
            "bot": bot,
            "result": np.array(_ENDS)[end, 0],
            "win_type": np.array(_ENDS)[end, 1],
            "source": np.array(SOURCES)[source],
            "games": np.where(both_sides, games // 2, games),
            **interval("points", "points", self.points.means()),
            **interval("lead", "lead", self.leads.means()),
        }
        return make_table(columns, self.labels, games > 0)


_MEANS = ("cards", "gain", "lead")
_SHARES = ("early", "forced")


class Takes:
    """Adds up the takes of each bot by round and action: which of its actions in the round.

    Takes of forfeited games count. `gain` is what a take adds to the points of the own pile, `lead`
    what it adds to the lead over the other pile (R12-R15). A take is `early` if the row has fewer
    cards than a take may bring, and `forced` if the hand is empty (R8).
    """

    def __init__(self, labels: Sequence[str], rules: Rules) -> None:
        self.labels = labels
        self.rules = rules
        self.actions = rules.hand_size + 1
        keys = rules.rounds * self.actions + rules.rounds + 1  # by action, by round, and all
        self.share = Moments(len(labels) + 1, keys)
        self.moments = {name: Moments(len(labels) + 1, keys) for name in (*_MEANS, *_SHARES)}

    def add(self, sides: Sides) -> None:
        """Count the takes of a batch."""
        takes = sides.batch.replay.takes
        gain = find_points(takes.after, self.rules) - find_points(takes.before, self.rules)
        own = gain[takes.seat, np.arange(len(takes.seat))]
        cards = takes.cards.sum(axis=0)
        values = {
            "cards": cards,
            "gain": own,
            "lead": 2 * own - gain.sum(axis=0),
            "early": cards < self.rules.take_size,
            "forced": takes.action == self.actions,
        }
        # a damaged record may have more actions of a seat in a round
        key = (takes.round - 1) * self.actions + np.minimum(takes.action, self.actions) - 1

        def added(values: Ints | None = None) -> Ints:
            keys = self.rules.rounds * self.actions
            return self._with_totals(sides.add_up(takes.game, takes.seat, key, keys, values))

        counts = added()
        sides.add(self._out_of(counts), (self.share, counts))
        sides.add(counts, *((self.moments[name], added(one)) for name, one in values.items()))

    def _with_totals(self, sums: Ints) -> Ints:
        """Return sums by action, then by round, then of all."""
        by_round = sums.reshape(self.rules.rounds, self.actions, -1).sum(axis=1)
        return np.concatenate([sums, by_round, by_round.sum(axis=0, keepdims=True)])

    def _out_of(self, counts: Ints) -> Ints:
        """Return the denominator of each share: the takes of its round, or of all rounds."""
        rounds = self.rules.rounds
        by_round, total = counts[-rounds - 1 : -1], counts[-1:]
        parts = [by_round.repeat(self.actions, axis=0), total.repeat(rounds, axis=0), total]
        return np.concatenate(parts)

    def table(self) -> Columns:
        """Return a row for each bot, round and action; then for each round, and for all rounds."""
        groups, rounds = len(self.labels) + 1, self.rules.rounds
        numbers = range(1, rounds + 1)
        cells = [*product(numbers, range(1, self.actions + 1)), *product([*numbers, -1], [-1])]
        number, action = np.tile(np.array(cells).T, groups)
        takes = self.share.totals.ravel()
        columns = {
            "bot": np.arange(groups).repeat(len(cells)),
            "round": number,
            "action": action,
            "takes": takes,
            **interval("share", "share", self.share.shares()),
        }
        for name in _MEANS:
            columns |= interval(name, name, self.moments[name].means())
        for name in _SHARES:
            columns |= interval(name, name, self.moments[name].shares())
        return make_table(columns, self.labels, takes > 0)


class Cards:
    """Counts the cards that each bot plays and takes in a game, and how often their taker wins.

    Forfeited games that had begun count, but not in how often the taker wins.
    """

    def __init__(self, labels: Sequence[str], _: Rules) -> None:
        self.labels = labels
        self.played, self.taken = (Moments(len(labels) + 1, len(KINDS)) for _ in range(2))
        self.won = Moments(len(labels) + 1, len(KINDS), scale=2)

    def add(self, sides: Sides) -> None:
        """Count the cards of a batch."""
        batch, replay = sides.batch, sides.batch.replay
        begun = np.broadcast_to(replay.plies > 0, (2, len(KINDS), batch.games)).astype(np.int64)
        played, taken = replay.count_played(), replay.piles[-1].astype(np.int64)
        of_both = (self.played, sides.add_up_all(played)), (self.taken, sides.add_up_all(taken))
        sides.add(sides.add_up_all(begun), *of_both)
        score = np.where(batch.winner < 0, 1, 2 * (batch.winner == np.array([[0], [1]])))
        ended = taken * batch.finished
        won = sides.add_up_all(ended * score[:, None])
        sides.add(sides.add_up_all(ended), (self.won, won))

    def table(self) -> Columns:
        """Return a row for each bot and kind of card, and for all bots."""
        games = self.played.counts.ravel()
        columns = {
            **every(bot=range(len(self.labels) + 1), card=[*CHARS[: len(KINDS)]]),
            "games": games,
            **interval("played", "played", self.played.means()),
            **interval("taken", "taken", self.taken.means()),
            **interval("won", "won", self.won.shares()),
        }
        return make_table(columns, self.labels, games > 0)
