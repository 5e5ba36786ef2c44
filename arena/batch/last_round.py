"""The last round with open cards, solved exactly: many positions, or all hands of a view, at once.

Which takes are possible depends on how many cards there are, and not on what they are. So the graph
of a round is made once, for places of cards: those of both hands, and those of the newest cards of
the row. Nodes from which the same takes are possible are one. The graph is then solved backwards
for many positions together. The values are those of `bots.endgame.Exact`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import combinations, pairwise
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.beliefs import Seats
from arena.batch.lockstep import Lockstep, of_both
from arena.batch.positions import NO_CARD, Cards, Indices, by_kind
from arena.batch.replay import DRAW, TIES, Ints, count_sets, find_majorities, find_ties
from arena.batch.rollouts import WHOLE
from arena.errors import InputError
from engine import CITY, KINDS, SUPPORTS, TAKE, VALUES, Action, Rules, View, hands
from engine.cards import BITS
from engine.encoding import ACTIONS

OPEN: Final = 12
"""The number of plies before the end from which play is solved with open cards: a round."""

Worths: TypeAlias = npt.NDArray[np.int8]
"""Results for the seat to act: 1 for a win, 0 for a draw, -1 for a loss, ILLEGAL for no action."""

Numbers: TypeAlias = npt.NDArray[np.float64]

ILLEGAL: Final = -2

_MOST = 5  # cards of a hand and of a take
_TOGETHER = 64  # positions that are solved together
_GAMES = 64  # games whose hands are found together
_CELLS = 1 << 15  # results that are found together
_BOTH = 3  # seats that have taken: 1 for the seat to act, 2 for the other one, and their sum


def solve_open(games: Lockstep) -> Ints:
    """Return the chance of seat 0 in games in the last round if both seats see all cards.

    It is a whole number: 0 or WHOLE, or half of it for a draw. Raises InputError for rules with
    hands or takes of more than 5 cards.
    """
    worths = solve_actions(games).max(axis=0).astype(np.int64)
    worths *= 1 - 2 * games.to_act
    settled = np.flatnonzero(games.over | games.taken.all(axis=0))
    winners = games.winners(settled)
    worths[settled] = np.where(winners == DRAW, 0, 1 - 2 * winners)
    chances: Ints = (1 + worths) * (WHOLE // 2)
    return chances


def expect_open(seen: View) -> float:
    """Return a seat's estimate of seat 0's chance if from here on both seats see all cards.

    It is the mean over the possible hands of the other seat, weighted by their deals. The view is
    of the last round.
    """
    packs, ways = zip(*hands(seen), strict=True)
    chances = solve_open(Lockstep.from_view(seen, packs))
    total = int(chances @ np.array(ways, np.int64))
    chance: float = total / (WHOLE * sum(ways))
    return chance


def expect_choices(seen: View) -> dict[Action, float]:
    """Return the values of `expect_actions` for the legal actions of a view of the last round."""
    some_hand = next(hands(seen))[0]  # it does not matter which
    means = expect_actions(Lockstep.from_view(seen, [some_hand]))[0]
    return {action: float(means[action]) for action in seen.legal}


def expect_actions(games: Lockstep) -> Numbers:
    """Return the chances of the seats to act after each action (game, action), with open cards.

    Each is the mean over the possible hands of the other seat, weighted by their deals. The games
    are in the last round. The entries of illegal actions are below 0.
    """
    found = np.full((games.count, ACTIONS), -1.0)
    settled = games.over | games.taken.all(axis=0)
    held = games.hands.sum(axis=1)[1 - games.to_act, np.arange(games.count)]
    for cards in np.unique(held[~settled]).tolist():
        some = np.flatnonzero(~settled & (held == cards))
        for start in range(0, len(some), _GAMES):
            part = some[start : start + _GAMES]
            found[part] = _expect(games.select(part, to_come=False), cards)
    done = np.flatnonzero(settled)
    chances = solve_open(games.select(done, to_come=False)) / WHOLE
    found[done] = np.where(games.to_act[done] == 0, chances, 1 - chances)[:, None]
    return np.where(games.legal(), found, -1.0)


def _expect(games: Lockstep, cards: int) -> Numbers:
    """Return the means of games that are not settled, given how many cards the other seats hold."""
    unseen = Seats(games).unseen
    lists = by_kind(unseen, int(unseen[:, 0].sum()))
    drawn = np.array([*combinations(range(len(lists)), cards)], np.intp)
    every = len(drawn) * games.count
    kinds = lists[drawn].swapaxes(0, 1).reshape(cards, every)  # hand by hand, of all games
    codes = (1 << BITS * kinds).sum(axis=0)
    codes += np.arange(every) % games.count << BITS * len(KINDS)
    _, first, ways = np.unique(codes, return_index=True, return_counts=True)
    owner = first % games.count
    worlds = games.select(owner, to_come=False)
    counts = (kinds[:, first] == np.arange(len(KINDS))[:, None, None]).sum(axis=1)
    worlds.hands[1 - worlds.to_act, :, np.arange(len(owner))] = counts.T
    sums = solve_actions(worlds) * ways
    sums = np.add.reduceat(sums, owner.searchsorted(np.arange(games.count)), axis=1)
    chances: Numbers = 0.5 + 0.5 * sums.T / len(drawn)
    return chances


def solve_actions(games: Lockstep) -> Worths:
    """Return the worths (action, game) in the last round if both seats see all cards.

    In games that are over, or in which both seats have taken, all are ILLEGAL.
    """
    rules, found = games.rules, np.full((ACTIONS, games.count), ILLEGAL, np.int8)
    if max(rules.hand_size, rules.take_size) > _MOST:
        raise InputError(f"a last round is solved with hands and takes of at most {_MOST} cards")
    own, other = np.empty_like(games.hands)
    of_both(games.hands, games.to_act, own, other)
    both = np.arange(games.count)
    taken = games.taken[games.to_act, both] + 2 * games.taken[1 - games.to_act, both]
    shapes = np.stack([own.sum(axis=0, dtype=int), other.sum(axis=0, dtype=int), taken])
    live = ~games.over & (taken < _BOTH)
    for mine, theirs, took in np.unique(shapes[:, live], axis=1).T.tolist():
        graph = _make_graph((mine, theirs), took, rules.take_size)
        alike = np.equal(shapes.T, (mine, theirs, took)).all(axis=1)
        some = np.flatnonzero(live & alike)
        for start in range(0, len(some), _TOGETHER):
            part = some[start : start + _TOGETHER]
            held = by_kind(own[:, part], mine), by_kind(other[:, part], theirs)
            _solve(graph, games.select(part, to_come=False), held, found, part)
    return found


def _solve(
    graph: _Graph, games: Lockstep, held: tuple[Indices, Indices], found: Worths, where: Indices
) -> None:
    """Fill in the worths of positions that all have the cards of this graph."""
    newest = games.newest()[: graph.depth].astype(np.intp)
    kinds = np.concatenate([*held, np.where(newest == NO_CARD, len(KINDS), newest)])
    piles = np.empty_like(games.piles)
    of_both(games.piles, games.to_act, *piles)
    ends = _find_ends(graph, kinds, piles, _make_tables(games.rules))
    worths = _go_back(graph, ends, games.length)
    take = np.full((len(worths) - len(held[0]), len(where)), TAKE)
    found[np.concatenate([held[0], take]), where] = worths


def _go_back(graph: _Graph, ends: Worths, length: Indices) -> Worths:
    """Return the worths of the first actions (action, position): all plays, then the take.

    The first seat maximises. An empty row is not taken.
    """
    after: dict[int, Worths] = {}
    for ply, level in reversed([*enumerate(graph.plies)]):
        best, worst = ((np.maximum, ILLEGAL), (np.minimum, -ILLEGAL))[ply & 1]
        options = {}
        for took, moves in level.items():
            options[took] = [after[took].take(nodes, axis=0) for nodes in moves.plays]
            if len(moves.takes):
                then = took | 1 << (ply & 1)
                taken = (ends if then == _BOTH else after[then]).take(moves.takes, axis=0)
                bare, ages = moves.bare
                taken[bare] = np.where(length > ages[:, None], taken[bare], worst)
                options[took].append(taken)
        after = {took: reduce(best, found) for took, found in options.items()}
    (first,) = options.values()
    worths: Worths = np.concatenate(first)
    return worths


def _find_ends(graph: _Graph, kinds: Indices, piles: Cards, tables: _Tables) -> Worths:
    """Return the results of all ends (end, position) for the first seat.

    The seat that takes first wins at once by City, so that its cities weigh most.
    """
    *taken, began = graph.ends
    codes, worths = [], []
    for seat, pile in enumerate(piles):
        sums = graph.takes[seat] @ tables.weights[:, kinds]
        sums += (tables.weights[:, :-1] @ pile)[:, None]
        code, worth, cities = sums.astype(np.int32)
        worth += tables.sets.take(code)
        wins = (cities >= tables.cities) * _CITY
        codes.append(code)
        worths.append(np.concatenate([worth + wins, worth + 2 * wins]))
    results = np.empty((len(began), kinds.shape[1]), np.int8)
    for start in range(0, len(began), step := _CELLS // kinds.shape[1]):
        some = slice(start, start + step)  # all together take twice the time
        own, other = taken[0][some], taken[1][some]
        code = codes[0].take(own, axis=0)
        code -= codes[1].take(other, axis=0)
        leads = tables.leads.take(code + tables.middle)
        leads += worths[0].take(own + len(codes[0]) * (began[some] == 0), axis=0)
        leads -= worths[1].take(other + len(codes[1]) * (began[some] == 1), axis=0)
        np.sign(leads, out=results[some], casting="unsafe")
    return results


class _Tables(NamedTuple):
    """The rules as numbers that add up.

    `weights` (what, kind) are of a card: its part in the code of a pile, its value, and 1 for a
    city; the last kind stands for an empty place. `sets` are the values of a pile's sets by its
    code, and `leads` those of majorities and ties by `middle` and the difference of two codes.
    """

    weights: Numbers
    sets: Ints
    leads: Ints
    middle: int
    cities: int


_POINT, _TIE, _CITY = 256, 64, 1 << 28  # more than all ties; than all cities; than all points


@lru_cache(8)
def _make_tables(rules: Rules) -> _Tables:
    copies = np.array(rules.copies[: len(SUPPORTS)])[:, None]
    steps = np.cumprod([1, *(2 * copies[:, 0] + 1)])
    counts = np.arange(steps[-1]) // steps[:-1, None] % (2 * copies + 1)  # (support, code)
    gaps = np.zeros((2, len(KINDS), steps[-1]), np.int64)
    gaps[:, : len(SUPPORTS)] = np.maximum([counts - copies, copies - counts], 0)
    first, second = find_majorities(gaps, rules).sum(axis=1)
    weights = np.zeros((3, len(KINDS) + 1))
    weights[0, : len(SUPPORTS)] = steps[:-1]
    weights[1, : len(KINDS)] = _POINT * np.array(VALUES)
    weights[1, CITY] = CITY in TIES[rules.tiebreak]
    weights[2, CITY] = 1
    return _Tables(
        weights,
        (_POINT * rules.set_bonus * count_sets(counts)).astype(np.int32),
        (_POINT * (first - second) + _TIE * find_ties(gaps, rules)).astype(np.int32),
        int(steps[:-1] @ copies[:, 0]),
        rules.cities_needed,
    )


class _Moves(NamedTuple):
    """The moves of the nodes of a ply at which the same seats have taken.

    `plays` (card, node) and `takes` (node) are numbers of nodes of the next ply, among those at
    which the same seats have taken, or one more after a take. If then both have, they are numbers
    of ends. `bare` are the nodes without a new card in the row, and the age of the card that is
    then the newest: rows may be too short to have it.
    """

    plays: Indices
    takes: Indices
    bare: tuple[Indices, Indices]


class _Graph(NamedTuple):
    """The nodes of a round by ply, and by the seats that have taken; the first ply has one.

    An end is a take of each seat and the seat that took first: `ends` are (3, end), with numbers of
    `takes` (seat), which are matrices (take, place) of ones and zeros. `depth` is the number of
    places of the row, after those of both hands.
    """

    plies: list[dict[int, _Moves]]
    takes: list[Numbers]
    ends: Indices
    depth: int


class _Nodes(NamedTuple):
    """Nodes of a ply: the places of both hands and of the first take, as bits, and the row."""

    held: Ints
    taken: Ints
    row: Ints  # (node, place), the newest first


@lru_cache(64)
def _make_graph(cards: tuple[int, int], took: int, size: int) -> _Graph:
    """Return the graph of a round with these numbers of cards in hands; takes are of `size`."""
    first, places = cards[0], sum(cards)
    hands = np.arange(first), np.arange(first, places)
    row = np.arange(places, places + (size if took else 2 * size))
    nodes = {took: _Nodes(np.array([(1 << places) - 1]), np.zeros(1, np.int64), row[None])}
    plies: list[dict[int, _Moves]] = []
    ends: list[tuple[Ints, Indices]] = []
    while nodes:
        seat = len(plies) & 1
        coming: dict[int, list[tuple[_Nodes, Indices]]] = defaultdict(list)
        plies.append({})
        for now, some in nodes.items():
            played, then = _play(some, hands[seat]), now | 1 << seat
            plays = np.empty((len(played.held) // len(some.held), len(some.held)), np.intp)
            takes = np.empty(len(some.held) if then != now else 0, np.intp)
            bare = np.flatnonzero(some.row[:, 0] >= places)
            plies[-1][now] = _Moves(plays, takes, (bare, some.row[bare, 0] - places))
            coming[now].append((played, plays))
            cards_taken = (1 << some.row[:, :size]).sum(axis=1)
            if then == _BOTH and len(takes):
                both = (cards_taken, some.taken)[:: 1 - 2 * seat]
                ends.append((both[0] << 32 | both[1] << 1 | 1 - seat, takes))
            elif len(takes):
                coming[then].append((_Nodes(some.held, cards_taken, some.row[:, size:]), takes))
        nodes = {
            now: _merge(parts, now, 1 - seat, hands, size)
            for now, parts in coming.items()
            if any(len(some.held) for some, _ in parts)
        }
    return _Graph(plies, *_join_ends(ends, places + len(row)), len(row))


def _play(nodes: _Nodes, hand: Indices) -> _Nodes:
    """Return the nodes (card * node) after each play of a card of a hand."""
    node, card = np.nonzero(nodes.held[:, None] >> hand & 1)
    node, card = (each.reshape(len(nodes.held), -1).T.reshape(-1) for each in (node, hand[card]))
    row = np.concatenate([card[:, None], nodes.row[node, :-1]], axis=1)
    return _Nodes(nodes.held[node] ^ 1 << card, nodes.taken[node], row)


def _merge(
    parts: list[tuple[_Nodes, Indices]],
    took: int,
    seat: int,
    hands: tuple[Indices, Indices],
    size: int,
) -> _Nodes:
    """Return the distinct nodes of some parts, and fill in the numbers of each part's nodes."""
    nodes = [some for some, _ in parts]
    held, taken, row = (np.concatenate(each) for each in zip(*nodes, strict=True))
    left = [int((held[0] >> hand & 1).sum()) for hand in hands]
    bounds = [0, *_find_bounds(took, seat, left, size)]
    for low, high in pairwise(bounds):
        row[:, low:high].sort(axis=1)
    code = taken << len(hands[0]) + len(hands[1]) | held
    for place in row.T[: bounds[-1]]:
        code = code << 5 | place
    kept = _number(code, [out for _, out in parts])
    return _Nodes(held[kept], taken[kept], row[kept])


def _number(codes: Ints, outs: Sequence[Indices]) -> Indices:
    """Return places of the distinct codes in order, and fill in which of them each code is."""
    _, kept, number = np.unique(codes, return_index=True, return_inverse=True)
    start = 0
    for out in outs:
        out.reshape(-1)[:] = number[start : start + out.size]
        start += out.size
    return kept


def _find_bounds(took: int, seat: int, left: list[int], size: int) -> list[int]:
    """Return where among the newest cards of the row a later take can begin or end.

    The order of the cards between two bounds does not matter, nor do the cards beyond the last.
    """
    found: set[int] = set()
    if took:
        taker = 2 - took
        found = {size - newer for newer in range(seat != taker, 2 * left[taker] + 2, 2)}
    for newer in range(sum(left) + 1 if not took else 0):
        own, other = left[seat] - (newer + 1) // 2, left[1 - seat] - newer // 2
        if min(own, other) >= 0:
            last = 2 * size - newer - 2 * (own if newer & 1 else other)
            found |= {size - newer, *range(last, 2 * size - newer + 1, 2)}
    return sorted(bound for bound in found if bound > 0)


def _join_ends(ends: list[tuple[Ints, Indices]], places: int) -> tuple[list[Numbers], Indices]:
    """Return the takes of both seats and the distinct ends, and fill in the numbers of these."""
    every = np.concatenate([code for code, _ in ends])
    codes = every[_number(every, [out for _, out in ends])]
    takes, taken = [], []
    for mask in (codes >> 32, codes >> 1 & (1 << 31) - 1):
        distinct, which = np.unique(mask, return_inverse=True)
        takes.append((distinct[:, None] >> np.arange(places) & 1).astype(np.float64))
        taken.append(which)
    return takes, np.stack([*taken, codes & 1])
