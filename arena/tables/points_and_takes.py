"""Add up replayed games by pair: leads, points, takes, cards, and the chance at every ply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, product
from typing import Any

import numpy as np

from arena.batch.replay import DRAW, Bools, Ints, find_points, find_sources, find_winners
from arena.entries.resolve import resolve
from arena.replays.finished_game import Game
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Moments, add_pairs
from arena.store.columns import Columns
from arena.tables.game_arrays import CITY_WIN, Batch, Row, every, interval, make_table, read_batches
from arena.tournament.tournament import Tournament
from engine import CITY, KINDS, STANDARD, TAKE, Rules
from engine.cards import CHARS

BOT = "champion"
"""The bot that computes the chances."""


def chances_of(batch: Batch) -> Floats:
    """Return the chance of seat 0 to win before each ply and at the end (games x plies + 1).

    After the end of a game it is the result. In the last round it is the result of the piles as
    soon as both seats can work them out (`_settle`). The rules are the published ones.
    """
    games, plies = batch.actions.shape
    found = np.empty((plies + 1, games))
    found[:plies] = _load_bot().chances(batch.replay)  # for all games what `chance` is for one
    settled, ends = _settle(batch)
    np.copyto(found, ends, where=settled)
    result = np.where(batch.winner < 0, 0.5, 1 - batch.winner)
    np.copyto(found, result, where=np.arange(plies + 1)[:, None] >= batch.replay.plies)
    return found.T


@cache
def _load_bot() -> Any:
    """Return the bot that computes the chances; reading it takes as long as 200 games."""
    return resolve(BOT).load()


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


class Sides:
    """The groups of a batch: each pair counts for both of its bots, and once for all bots.

    A group is a bot, numbered by its place in the run; the last group is all bots together.
    """

    def __init__(self, batch: Batch, bots: int) -> None:
        self.batch = batch
        self.pairs = batch.pairs
        self.starts = np.flatnonzero(np.diff(batch.pair, prepend=-1))
        self.is_whole = np.array_equal(batch.pair, np.arange(self.pairs).repeat(2))
        all_bots = np.full(self.pairs, bots)
        self.groups = np.concatenate([batch.bots[:, 0], batch.bots[:, 1], all_bots])

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
        if self.is_whole:  # each pair has both games: a third of the time of reduceat
            first, second = by_side[..., ::2] + by_side[..., 1::2]
        else:
            first, second = np.add.reduceat(by_side, self.starts, axis=-1)
        # squares of sums are added up later, and may not fit into 32 bits
        return np.concatenate([first, second, first + second], axis=1, dtype=np.int64)

    def add(self, counts: Ints, *totals: tuple[Moments, Ints]) -> None:
        """Add sums of these groups to moments, each with its totals."""
        add_pairs(self.groups, counts, totals)


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


NAMES = (*SOURCES, "cities")
"""What is compared after each round: points by source, and the cities taken."""


class Wins:
    """Counts who has more of a source of points, or of cities, after each round, and who wins.

    The last round stands for the end of a game, whenever it came; after the others only games that
    went on are counted, and no forfeits.
    """

    def __init__(self, labels: Sequence[str], rules: Rules) -> None:
        self.labels = labels
        self.rules = rules
        shape = len(labels) + 1, rules.rounds * len(NAMES)
        self.ahead, self.by_city, self.in_wins, self.in_losses = (Moments(*shape) for _ in range(4))
        self.score = Moments(*shape, scale=2)

    def add(self, sides: Sides) -> None:
        """Count the games of a batch, in 32 bits, which take three quarters of the time of 64."""
        batch, replay, step = sides.batch, sides.batch.replay, self.rules.round_plies
        ends = np.arange(step, step * self.rules.rounds, step)
        went_on = batch.finished & (replay.plies > ends[:, None])
        there = np.concatenate([went_on, batch.finished[None]]).repeat(len(NAMES), axis=0)
        piles = replay.piles[[*ends, -1]].astype(np.int32)
        held = np.concatenate([find_sources(piles, self.rules), piles[:, :, CITY, None]], axis=2)
        held = held.swapaxes(0, 1).reshape(2, len(there), batch.games).astype(np.int32)
        won = (batch.winner == np.array([[0], [1]]))[:, None]
        score = np.where(batch.winner < 0, 1, 2 * won)
        ahead = there & (held > held[::-1])
        counts = sides.add_up_all(ahead.astype(np.int32))
        games = sides.add_up_all(np.broadcast_to(there, held.shape).astype(np.int32))
        sides.add(games, (self.ahead, counts))
        by_city = (ahead & won & (batch.win_type == CITY_WIN)).astype(np.int32)
        sides.add(
            counts,
            (self.score, sides.add_up_all((ahead * score).astype(np.int32))),
            (self.by_city, sides.add_up_all(by_city)),
        )
        for moments, some in ((self.in_wins, there & won), (self.in_losses, there & won[::-1])):
            number = sides.add_up_all(some.astype(np.int32))
            sides.add(number, (moments, sides.add_up_all(some * held)))

    def table(self) -> Columns:
        """Return a row for each bot, round and source, and for all bots."""
        games = self.ahead.counts.ravel()
        columns = {
            **every(
                bot=range(len(self.labels) + 1), round=range(1, self.rules.rounds + 1), source=NAMES
            ),
            "games": games,
            "ahead": self.ahead.shares().value.ravel(),
            **interval("won", self.score.shares()),
            **interval("by_city", self.by_city.shares()),
            **interval("in_wins", self.in_wins.means()),
            **interval("in_losses", self.in_losses.means()),
        }
        return make_table(columns, self.labels, games > 0)


class Takes:
    """Adds up the takes of each bot by round and action: which of its actions in the round.

    Takes of forfeited games count. `gain` is what a take adds to the points of the own pile
    (R12-R15).
    """

    def __init__(self, labels: Sequence[str], rules: Rules) -> None:
        self.labels = labels
        self.rules = rules
        self.actions = rules.hand_size + 1
        keys = rules.rounds * self.actions + rules.rounds + 1  # by action, by round, and all
        self.share, self.cards, self.gain = (Moments(len(labels) + 1, keys) for _ in range(3))

    def add(self, sides: Sides) -> None:
        """Count the takes of a batch."""
        takes = sides.batch.replay.takes
        gain = find_points(takes.after, self.rules) - find_points(takes.before, self.rules)
        # a damaged record may have more actions of a seat in a round
        key = (takes.round - 1) * self.actions + np.minimum(takes.action, self.actions) - 1

        def added(values: Ints | None = None) -> Ints:
            keys = self.rules.rounds * self.actions
            return self._with_totals(sides.add_up(takes.game, takes.seat, key, keys, values))

        counts = added()
        sides.add(self._out_of(counts), (self.share, counts))
        own = gain[takes.seat, np.arange(len(takes.seat))]
        cards = added(takes.cards.sum(axis=0))
        sides.add(counts, (self.cards, cards), (self.gain, added(own)))

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
            **interval("share", self.share.shares()),
            **interval("cards", self.cards.means()),
            **interval("gain", self.gain.means()),
        }
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
            **interval("played", self.played.means()),
            **interval("taken", self.taken.means()),
            **interval("won", self.won.shares()),
        }
        return make_table(columns, self.labels, games > 0)
