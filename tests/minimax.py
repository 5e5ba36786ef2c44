"""Minimax: what actions are worth by plain search, without pruning and without a table.

It shares only the engine with `bots.endgame`.
"""

from __future__ import annotations

from itertools import combinations

from engine import Action, Pack, State, View
from engine.cards import cards_of, pack_of
from engine.scoring import city_winner, outcome
from engine.seeds import stream
from engine.worlds import sample


def worth(view: View) -> dict[Action, int]:
    """Return the sum of each action's values over all deals of the opponent's hand.

    A value is 1, 0 or -1 for a won, drawn or lost game with open cards. A game that goes on
    after the round counts as drawn, so before the last round only city wins count.
    """
    total = dict.fromkeys(view.legal, 0)
    known: dict[Pack, dict[Action, int]] = {}
    for cards in combinations(cards_of(view.unseen), view.opponent_cards):
        theirs = pack_of(cards)
        if theirs not in known:
            known[theirs] = _values(_world(view, theirs), view.seat)
        for action, value in known[theirs].items():
            total[action] += value
    return total


def _world(view: View, theirs: Pack) -> State:
    """Return the world in which the opponent holds this hand and no round follows."""
    world = sample(view, stream(0, "minimax"))
    world.hands[view.opponent] = theirs
    world.deck = b""
    return world


def _values(world: State, seat: int) -> dict[Action, int]:
    return {action: _value(_after(world, action), seat) for action in world.legal()}


def _after(world: State, action: Action) -> State:
    twin = world.copy()
    twin.apply(action)
    return twin


def _value(world: State, seat: int) -> int:
    if world.over:
        last = world.round == world.rules.rounds
        winner = (
            (outcome(world.piles, world.rules).winner)
            if last
            else city_winner(world.piles, world.rules)
        )
        return 0 if winner is None else 1 if winner == seat else -1
    values = _values(world, seat).values()
    return max(values) if world.to_act == seat else min(values)
