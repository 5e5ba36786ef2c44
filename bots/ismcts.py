"""Information-set Monte Carlo tree search with a single observer.

One tree for all worlds that fit the view: an iteration draws a world, walks down actions
that are legal in it, adds one node, plays on, and credits the result along the way. Source:
Cowling, Powley, Whitehouse, "Information Set Monte Carlo Tree Search", 2012.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import exp, inf, log, sqrt
from operator import itemgetter
from time import perf_counter
from typing import Literal, TypeAlias

from bots.endgame import Exact
from bots.majority import Promise
from engine import (
    TAKE,
    Action,
    Kind,
    Pack,
    Seat,
    Setup,
    State,
    Thought,
    View,
    cards_of,
    outcome,
    pack_of,
    playout,
    sample,
)
from engine.cards import BYTE, UNIT
from engine.scoring import Piles
from engine.state import Legal

Playout: TypeAlias = Literal["game", "uniform", "greedy"]

SPREAD = 8.0
"""The lead in promised points that makes a win 2.7 times as likely as a loss."""

DENIAL = 0.5
"""The weight of keeping a card from the opponent, relative to owning it."""

_ORDERS = [[itemgetter(*order) for order in permutations(range(n))] for n in range(2, 6)]


class Node:
    """An action after a history, and the results that followed it.

    `total` adds up the results for the seat that acts here; `chances` counts the iterations
    in which the action was legal.
    """

    __slots__ = ("chances", "children", "total", "visits")

    def __init__(self) -> None:
        self.visits = 0
        self.chances = 1
        self.total = 0.0
        self.children: dict[Action, Node] = {}


class Ismcts:
    """Plays the action that the search visited most.

    Each decision makes `iterations`, or fewer if `seconds` run out; then two runs may differ.
    `exploration` weighs rarely visited actions against good ones. `playout` is how an
    iteration plays on: `game`, at random to the game's end; `uniform`, at random to the
    round's end, where the piles are worth what they promise; `greedy`, the same, but it
    takes rows that are above average. `positions` bounds the exact search of the last round;
    0 switches it off.
    """

    def __init__(
        self,
        setup: Setup,
        iterations: int = 400,
        seconds: float | None = None,
        exploration: float = 0.3,
        playout: Playout = "greedy",
        positions: int = 10_000,
    ) -> None:
        self.rng = setup.rng
        self.rules = setup.rules
        self.iterations = iterations
        self.seconds = seconds
        self.exploration = exploration
        self.playout = playout
        self.promise = Promise(setup.rules)
        self.exact = Exact(setup.rules, positions=positions)
        self.tree = Node()
        self.known: dict[Piles, float] = {}
        self.marginal = (b"", b"")
        self.par = (0.0, 0.0)

    def choose(self, view: View, /) -> Action:
        """Return the action that was visited most; a single best one needs no search."""
        self.tree = Node()
        best = self.exact.best(view)
        if len(best) == 1:
            return best[0]
        self.tree = self.search(view)
        return self.preferred(view, best)

    def preferred(self, _view: View, actions: Sequence[Action], /) -> Action:
        """Return one of these actions, by the search that has been made."""
        children = self.tree.children
        return max(actions, key=lambda action: children[action].visits)

    def thoughts(self) -> list[Thought]:
        """Return the exact values of the last choice, or the visits and mean results of its search.

        It is empty if only one action was legal.
        """
        return self.exact.thoughts() or [
            Thought(action, node.total / node.visits, node.visits)
            for action, node in self.tree.children.items()
        ]

    def search(self, view: View) -> Node:
        """Return the tree of a decision; every legal action has been visited."""
        root = Node()
        self.known.clear()
        self.look(view)
        worlds = self.worlds(view)
        for _ in view.legal:
            self.iterate(root, next(worlds))
        end = perf_counter() + (inf if self.seconds is None else self.seconds)
        for _ in range(len(view.legal), self.iterations):
            if perf_counter() > end:
                break
            self.iterate(root, next(worlds))
        return root

    def worlds(self, view: View) -> Iterator[State]:
        """Yield worlds that fit the view; without a deck if playouts stop with the round."""
        if self.playout == "game":
            while True:
                yield sample(view, self.rng)
        random = self.rng.random
        world = sample(view, self.rng)
        world.deck = b""
        unseen, held = cards_of(view.unseen), view.opponent_cards
        shuffled, at = [*unseen], len(unseen)
        while True:  # one shuffle deals several hands: 0.8 us each, where one shuffle each takes 2
            if at + held > len(unseen):
                shuffled.sort(key=lambda _: random())
                at = 0
            drawn = world.copy()
            drawn.hands[view.opponent] = pack_of(shuffled[at : at + held])
            at += held
            yield drawn

    def iterate(self, root: Node, world: State) -> float:
        """Walk down the tree, add one node, play on, credit the result, and return it."""
        node, path, new = root, [], False
        while not (new or world.over):
            action, new = self.selected(node.children, world.legal())
            if new:
                node.children[action] = Node()
            node = node.children[action]
            path.append((node, world.to_act))
            world.apply(action)
        result = self.result(world)
        for node, seat in path:
            node.visits += 1
            node.total += result if seat == 0 else 1.0 - result
        return result

    def selected(self, children: dict[Action, Node], legal: Legal) -> tuple[Action, bool]:
        """Return a legal action and whether it is new: else it has the highest upper bound."""
        exploration = self.exploration
        best, highest, new = TAKE, -1.0, []
        for action in legal:
            child = children.get(action)
            if child is None:
                new.append(action)
                continue
            child.chances += 1
            visits = child.visits
            bound = child.total / visits + exploration * sqrt(log(child.chances) / visits)
            if bound > highest:
                best, highest = action, bound
        if new:
            return new[int(self.rng.random() * len(new))], True
        return best, False

    def result(self, world: State) -> float:
        """Play the world on; return the result for seat 0, from 0 to 1."""
        if self.playout == "game":
            playout(world, self.rng)
        elif not world.over:
            self.finish(world)
        return self.value(world)

    def value(self, world: State) -> float:
        """Return the chance of seat 0 to win after this round, from 0 to 1."""
        known = self.known.get(world.piles)
        if known is None:
            known = self.known[world.piles] = self.promised(world)
        return known

    def promised(self, world: State) -> float:
        """Return that chance by the outcome, or by the promise of the piles."""
        last = self.playout == "game" or world.round == self.rules.rounds
        if last or max(world.piles) >= self.rules.city_pack:
            winner = outcome(world.piles, self.rules).winner
            return 0.5 if winner is None else 1.0 - winner
        return 1.0 / (1.0 + exp(-self.promise.lead(world.piles) / SPREAD))

    def finish(self, world: State) -> None:
        """Play the row and the piles of the world to the round's end, in place."""
        seat, row, piles = world.to_act, world.row, [*world.piles]
        hands = [self.mixed(world.hands[0]), self.mixed(world.hands[1])]
        may_take = [not world.taken[0], not world.taken[1]]
        size = -self.rules.take_size
        while may_take[0] or may_take[1]:
            hand = hands[seat]
            if may_take[seat] and row and (not hand or self.takes(seat, row, len(hand))):
                may_take[seat] = False
                piles[seat] += pack_of(row[size:])
                row = row[:size]
                if piles[seat] >= self.rules.city_pack:
                    break
            else:
                row += BYTE[hand.pop()]
            seat = 1 - seat
        world.piles = (piles[0], piles[1])
        world.row = row + bytes(hands[0]) + bytes(hands[1])

    def mixed(self, hand: Pack) -> list[Kind]:
        """Return the cards of a hand in random order: 0.3 us for five, where a sort takes 1."""
        cards = cards_of(hand)
        held = len(cards)
        if held < 2:
            return [*cards]
        if held - 2 < len(_ORDERS):
            orders = _ORDERS[held - 2]
            return [*orders[int(self.rng.random() * len(orders))](cards)]
        return sorted(cards, key=lambda _: self.rng.random())

    def takes(self, seat: Seat, row: bytes, held: int) -> bool:
        """Return whether a playout takes: as likely as any card, or if the row is above average."""
        if self.playout == "uniform":
            return self.rng.random() * (held + 1) < 1.0
        return sum(row[-self.rules.take_size :].translate(self.marginal[seat])) >= self.par[seat]

    def look(self, view: View) -> None:
        """Compute what one more card of each kind promises, and what an average take promises.

        They are bytes, for `bytes.translate`: 0.3 us for a row; floats take 0.6.
        """
        first, second = view.piles
        lead = self.promise.lead(view.piles)
        mine = [after - lead for after in self.promise.leads_after(first, second, UNIT)]
        theirs = [after + lead for after in self.promise.leads_after(second, first, UNIT)]
        self.marginal = _in_bytes(mine, theirs), _in_bytes(theirs, mine)
        cards = view.row[-self.rules.take_size :] + cards_of(view.hand) + cards_of(view.unseen)
        each = self.rules.take_size / len(cards)
        self.par = (
            each * sum(cards.translate(self.marginal[0])),
            each * sum(cards.translate(self.marginal[1])),
        )


def _in_bytes(own: list[float], other: list[float]) -> bytes:
    """Return points by kind, the opponent's loss included, as tenths of a point above 128."""
    points = [mine + DENIAL * theirs for mine, theirs in zip(own, other, strict=True)]
    return bytes([max(0, min(255, round(128 + 10 * each))) for each in points]).ljust(256)


bot = Ismcts
