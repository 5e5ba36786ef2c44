"""Divide the lead of one bot over another into parts that add up: by ending, round and source.

The score is divided by how games ended, and the margin, which is the bot's points less those of its
opponent as the piles lie, by round and by source of points. Of two versions of a bot that met the
same opponents, a lead is what the new one had more on the same deals. All parts are hints of where
to look: only the lead in all was tested.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from arena.statistics.counts import MISSING, RESULTS
from arena.statistics.counts import WIN_TYPES as ENDINGS
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Bools, Estimate, Ints, find_significant
from arena.statistics.two_bots import mean_by_deal
from arena.store.column_titles import LEAD_PARTS, WIN_TYPES
from arena.store.columns import Columns
from arena.store.counting import HALVES, PairGames, match
from arena.store.store import Store
from arena.tables.game_arrays import Row, read_batches
from arena.tables.points_and_takes import SOURCES, find_round_points
from arena.tables.standings_table import BOT_PARTS
from arena.tables.win_tables import MOST_REPLAYED, share_out
from arena.tournament.tournament import Tournament

ENDING, ROUND, SOURCE = "ending", "round", "source"
ALL: Final = "all"
"""The part that is the sum of the others."""

_DIGITS = 4
_MOST_SHOWN = 3  # games that show a split
_SIGNED = [
    BOT_PARTS[f"won by {name}"] - BOT_PARTS[f"lost by {name}"] for name in WIN_TYPES.values()
]
_TOTAL = SOURCES.index("total")

Place: TypeAlias = tuple[int, int, int]
"""The pairing, the pair, and the seat of the pairing's first bot."""


class Part(NamedTuple):
    """A part of the lead, in all that the `new` and the `old` bot had.

    `beyond` is the lead less that of all other parts of the split. It is `sure` among all parts,
    and None where that was not looked at: a sum, or a source in one round.
    """

    split: str
    part: str
    new: float
    old: float
    lead: Estimate
    beyond: Estimate = Estimate()
    sure: bool | None = None


class Shown(NamedTuple):
    """A game that shows a part: of those that ended so for the new bot it is the typical one.

    Of a round or a source it is one of those in which it brought the most points, `brought`.
    """

    split: str
    place: Place
    part: str
    brought: int = 0


class Deals(NamedTuple):
    """The games of two bots on the same deals, a row for each deal.

    They are games against each other, or against the same opponent. `numbers` are the pairings,
    that of the new bot first; there is one if the two played each other.
    """

    numbers: Sequence[int]
    new: PairGames
    old: PairGames


class Margins(NamedTuple):
    """Points of the games of some deals that were not forfeited.

    `new`, `old` and `lead` are by deal, seat of the new bot, round and source (the last one is
    their sum): what the round added. Of two versions that met an opponent, `new` and `old` are
    margins.
    """

    pair: Ints
    new: Ints
    old: Ints

    @property
    def lead(self) -> Ints:
        """What the new bot had more."""
        return self.new - self.old


@dataclass(frozen=True)
class LeadParts:
    """The parts of a lead, and the games that show them; `ended` counts those of the new bot.

    It has for each way of ending how many of its games the new bot won and lost, and the old one.
    """

    parts: Sequence[Part] = ()
    games: Sequence[Shown] = ()
    ended: Mapping[str, tuple[int, int, int, int]] = field(default_factory=dict)

    def split(self, name: str) -> list[Part]:
        """Return the parts of a split, the sum last; none where no game counts."""
        return [part for part in self.parts if part.split == name]

    def table(self) -> Columns:
        """Return the rows of lead_parts.csv."""
        said = {True: "yes", False: "no", None: None}
        rows = [(*part[:4], *part.lead.cells, said[part.sure]) for part in self.parts]
        table = LEAD_PARTS.make(rows)
        numbers = ["new", "old", "lead", "lead_low", "lead_high"]
        return table.put(**{name: table[name].round(_DIGITS) + 0.0 for name in numbers})


def find_most(parts: Sequence[Part]) -> Part | None:
    """Return the part that is surely more than all others of its split together, if there is one.

    `parts` are those of a split with their sum as the last. The interval allows for the choice.

    >>> whole = Part("round", "all", 5, 0, Estimate(5, 4, 6))
    >>> first, second = (
    ...     Part("round", name, 1, 0, Estimate(), Estimate(value, value - 2, value + 2))
    ...     for name, value in (("1", 4.0), ("2", -4.0))
    ... )
    >>> find_most([first, second, whole]).part
    '1'
    """
    if not parts or not parts[-1].lead.excludes_zero:
        return None
    *some, whole = parts
    for part in some:
        wide = part.beyond.widened(2 * len(some) + 1)
        if wide.excludes_zero and (wide.value > 0) == (whole.lead.value > 0):
            return part
    return None


def make_lead_parts(
    tournament: Tournament, store: Store, lead: Estimate, out: Collection[str] = ()
) -> LeadParts:
    """Return the parts of the lead of the first bot of a comparison over the second one.

    `lead` is that in the score (-1 to 1), as the test gives it. Opponents that are `out` do not
    count, and games are replayed up to 100,000 pairs.
    """
    deals = [one for one in _read_deals(tournament, store, out) if len(one.new.pair)]
    if not deals:
        return LeadParts()
    margins = [*_read_margins(tournament, store, deals)]
    ended = _count_ended(deals)
    parts = [*_divide_score(deals, ended, lead)]
    if played := [one for one in margins if len(one.pair)]:
        parts += _divide_margin(played)
    tested = [n for n, part in enumerate(parts) if part.sure is not None]
    sure = find_significant([parts[n].lead for n in tested])
    for n, is_sure in zip(tested, sure, strict=True):
        parts[n] = parts[n]._replace(sure=is_sure)
    games = [*_choose_games(deals, margins, parts)]
    return LeadParts(parts, games, ended)


def _read_deals(tournament: Tournament, store: Store, out: Collection[str]) -> Iterator[Deals]:
    """Yield the deals that both bots have finished, by opponent."""
    if not tournament.paired:
        games = store.read_pairs(0).whole
        yield Deals([0], games, games.turned)
        return
    for number in sorted(tournament.new_pairings):
        if tournament.pairings[number].opponent not in out:
            numbers = [number, tournament.old_pairing(number)]
            yield Deals(numbers, *match(*(store.read_pairs(one).whole for one in numbers)))


def _count_ended(deals: Sequence[Deals]) -> dict[str, tuple[int, int, int, int]]:
    """Return the games by how they ended: won and lost by the new bot, then by the old one."""
    counts = np.zeros((2, MISSING), np.int64)
    for one in deals:
        for row, games in zip(counts, (one.new.games, one.old.games), strict=True):
            row += np.bincount(games.ravel(), minlength=MISSING)
    found = {}
    for ending, name in WIN_TYPES.items():
        first = RESULTS * ENDINGS.index(ending)
        won, lost = counts[:, first].tolist(), counts[:, first + 1].tolist()
        found[name] = won[0], lost[0], won[1], lost[1]
    return found


def _divide_score(
    deals: Sequence[Deals], ended: Mapping[str, Sequence[int]], lead: Estimate
) -> Iterator[Part]:
    """Yield the parts of the score by how games ended, those that have a game, and their sum."""
    new, old = (
        [np.stack([of[games].sum(axis=1) / 2 for of in _SIGNED], axis=1) for games in of_one]
        for of_one in zip(*((one.new.games, one.old.games) for one in deals), strict=True)
    )
    for part in _divide(ENDING, [*WIN_TYPES.values()], new, old, lead):
        if part.part == ALL or any(ended[part.part]):
            yield part


def _divide_margin(margins: Sequence[Margins]) -> Iterator[Part]:
    """Yield the parts of the margin by round, by source, and by both, each with its sum."""
    new, old = (
        [np.asarray(one.mean(axis=1)) for one in of_one]
        for of_one in zip(*((one.new, one.old) for one in margins), strict=True)
    )
    rounds = [str(number + 1) for number in range(new[0].shape[1])]

    def some(of_both: Sequence[Floats], cells: Any) -> list[Floats]:
        return [one[cells] for one in of_both]

    by_round = np.s_[:, :, _TOTAL]
    yield from _divide(ROUND, rounds, some(new, by_round), some(old, by_round))
    sources = [name for name in SOURCES if name != SOURCES[_TOTAL]]
    new_in_all, old_in_all = (
        [one.sum(axis=1)[:, :_TOTAL] for one in of_one] for of_one in (new, old)
    )
    yield from _divide(SOURCE, sources, new_in_all, old_in_all)
    for number, name in enumerate(rounds):
        cells = np.s_[:, number, :_TOTAL]
        for part in _divide(f"{ROUND} {name}", sources, some(new, cells), some(old, cells)):
            yield part._replace(sure=None)


def _divide(
    split: str,
    names: Sequence[str],
    new: Sequence[Floats],
    old: Sequence[Floats],
    lead: Estimate | None = None,
) -> Iterator[Part]:
    """Yield the parts of a split and their sum; arrays are by deal and part, one an opponent.

    `lead` is the sum, if its interval is known: that of a score, which is -1 to 1.
    """
    leads = [one - other for one, other in zip(new, old, strict=True)]
    wholes = [one.sum(axis=1) for one in leads]
    for n, name in enumerate(names):
        own = [one[:, n] for one in leads]
        beyond = [2 * one - whole for one, whole in zip(own, wholes, strict=True)]
        most = 1.0 if lead else None
        part = _estimate(own, most)
        if most:
            part = part._replace(low=max(-most, part.low), high=min(most, part.high))
        two = part, _estimate(beyond, most)
        mean_new, mean_old = (_mean([one[:, n] for one in of_one]) for of_one in (new, old))
        yield Part(split, name, mean_new, mean_old, *two, sure=False)
    mean_new, mean_old = (_mean([one.sum(axis=1) for one in of_one]) for of_one in (new, old))
    whole = _estimate(wholes, None)
    if lead:
        value = mean_new - mean_old
        low, high = max(-1.0, min(lead.low, value)), min(1.0, max(lead.high, value))
        whole = Estimate(value, low, high, lead.error)
    yield Part(split, ALL, mean_new, mean_old, whole)


def _mean(of_opponents: Sequence[Floats]) -> float:
    return float(np.mean([one.mean() for one in of_opponents]))


def _estimate(leads: Sequence[Floats], most: float | None) -> Estimate:
    """Return the mean of leads by deal, which are at most this large; by default as was seen."""
    most = most or max(1.0, *(float(np.abs(one).max()) for one in leads))
    return mean_by_deal([one / most for one in leads]).scaled(most)


def _read_margins(
    tournament: Tournament, store: Store, deals: Sequence[Deals]
) -> Iterator[Margins]:
    """Yield the points of each opponent's deals that were not forfeited."""
    pairs = np.zeros(len(tournament.pairings), np.int64)
    for one in deals:
        pairs[[*one.numbers]] = len(one.new.pair)
    points = _read_points(tournament, store, share_out(pairs, MOST_REPLAYED))
    for one in deals:
        own = [points[number] for number in one.numbers]
        if len(own) == 1:
            ((pair, values),) = own
            # the second bot is in seat 0 where the first one is in seat 1
            yield Margins(pair, values[:, :, 0], values[:, :, 1])
            continue
        pair, *rows = np.intersect1d(own[0][0], own[1][0], assume_unique=True, return_indices=True)
        new, old = (
            values[row, :, 0] - values[row, :, 1]
            for (_, values), row in zip(own, rows, strict=True)
        )
        yield Margins(pair, new, old)


def _read_points(tournament: Tournament, store: Store, quota: Ints) -> dict[int, tuple[Ints, Ints]]:
    """Return what rounds added to the points in the pairs of each pairing without a forfeit.

    They are the pairs' numbers, and the points by pair, seat of the first bot, side (the first bot,
    its opponent), round and source.
    """
    found: dict[int, list[tuple[Ints, Ints]]] = {n: [] for n in np.flatnonzero(quota).tolist()}
    for batch in read_batches(tournament, map(Row._make, store.records(quota.tolist()))):
        points = find_round_points(batch)
        is_whole = np.bincount(batch.pair[batch.finished], minlength=batch.pairs) == 2
        both = np.flatnonzero(is_whole[batch.pair]).reshape(-1, 2)  # in the order of the seats
        of_pair = batch.pair[both[:, 0]]
        for number in np.unique(batch.pairing).tolist():
            own = batch.pairing[of_pair] == number
            found[number].append((batch.number[of_pair][own], points[both[own]]))
    return {
        number: (np.concatenate([one for one, _ in some]), np.concatenate([two for _, two in some]))
        for number, some in found.items()
    }


class _Games(NamedTuple):
    """Games of the new bot: places, how they ended for it, and the lead by round and source.

    They are `decided` if they were not drawn, or ended otherwise than the old version's.
    """

    places: Ints
    endings: Ints
    decided: Bools
    leads: Ints


def _choose_games(
    deals: Sequence[Deals], margins: Sequence[Margins], parts: Sequence[Part]
) -> Iterator[Shown]:
    """Yield the games that show the parts: typical ones, and those of the largest round and source.

    A typical game is the one whose margins by round are nearest to the mean of those that ended so.
    """
    games = _Games(*map(np.concatenate, zip(*map(_list_games, deals, margins), strict=True)))
    endings, counts = np.unique(games.endings[games.decided], return_counts=True)
    for ending in endings[np.lexsort([endings, -counts])][:_MOST_SHOWN].tolist():
        rows = np.flatnonzero(games.decided & (games.endings == ending))
        rounds = games.leads[rows, :, _TOTAL]
        nearest = rows[((rounds - rounds.mean(axis=0)) ** 2).sum(axis=1).argmin()]
        win_type, result = divmod(ending, RESULTS)
        name = WIN_TYPES.get(ENDINGS[win_type], ENDINGS[win_type])
        part = ("won by {}", "lost by {}", "drawn")[result].format(name)
        yield Shown(ENDING, _place(games, nearest), part)
    by_part = {ROUND: games.leads[:, :, _TOTAL], SOURCE: games.leads[:, :, :_TOTAL].sum(axis=1)}
    for split, leads in by_part.items():
        some = [part for part in parts if part.split == split and part.part != ALL]
        if some:
            number, most = max(enumerate(some), key=lambda one: abs(one[1].lead.value))
            brought = leads[:, number]
            order = np.argsort(-brought if most.lead.value > 0 else brought, kind="stable")
            for row in order[:_MOST_SHOWN].tolist():
                yield Shown(split, _place(games, row), most.part, int(brought[row]))


def _place(games: _Games, row: int) -> Place:
    pairing, pair, seat = games.places[row].tolist()
    return pairing, pair, seat


def _list_games(deals: Deals, margins: Margins) -> _Games:
    """Return the games of some deals that were not forfeited."""
    rows = np.searchsorted(deals.new.pair, margins.pair)
    new, old = deals.new.games[rows], deals.old.games[rows]
    even = 1 if len(deals.numbers) == 1 else HALVES[old]
    pair = margins.pair.repeat(2)
    seat = np.tile([0, 1], len(margins.pair))
    places = np.column_stack([np.full(len(pair), deals.numbers[0]), pair, seat])
    leads = margins.lead.reshape(len(pair), *margins.lead.shape[2:])
    return _Games(places, new.ravel(), (HALVES[new] != even).ravel(), leads)
