"""The endgame's best actions are those of plain search; positions with one right answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import comb
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from arena.entries.resolve import resolve
from bots.endgame import Endgame, Exact
from engine import STANDARD, Action, Pack, Rules, State, Strategy, View
from engine.cards import CHARS, cards_of, pack_of, size
from engine.play import setup
from engine.scoring import city_winner, outcome
from engine.seeds import stream
from engine.view import view
from engine.worlds import sample
from tests.positions import walk
from tests.tiers import few

SMALL = {
    "two rounds of two cards": Rules((2, 2, 2, 2, 1, 0, 0, 1, 1, 0, 2), 3, 2, 2, 2, 2, 2),
    "one round of three cards": Rules((2, 2, 2, 1, 1, 0, 0, 1, 0, 1, 3), 2, 3, 5, 3, 1),
    "takes longer than five": Rules((3, 3, 2, 2, 1, 0, 0, 1, 1, 0, 2), 1, 3, 8, 7, 1, 2),
    "takes of one, sets that cost": Rules(
        (2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0), 3, 2, 3, 1, 2, set_bonus=-3
    ),
    "ties stay ties": Rules(
        *((2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 4), 0, 2, 4, 3, 2, 4, (1, 1, 1, 1), 0, "supports")
    ),
}
"""copies, removed, hand_size, opening_row, take_size, rounds, cities_needed, and so on."""


def worth(view: View) -> dict[Action, int]:
    """Return the sum of each action's values over all deals of the opponent's hand, by minimax.

    It is plain search, without pruning and without a table: it shares only the engine with the bot.

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


def positions(rules: Rules, games: int, seed: int = 0) -> Iterator[View]:
    """Yield the view of the seat to act wherever it has a choice, in random games."""
    rng = Random(seed)
    for _ in range(games):
        for state in walk(rng, rules):
            if len(state.legal()) > 1:
                yield view(state, state.to_act)


def last_round(rules: Rules, games: int, seed: int = 0) -> Iterator[View]:
    """Yield those of the last round with few cards in which a seat may still take."""
    for seen in positions(rules, games, seed):
        few = size(seen.hand) + seen.opponent_cards <= 6
        if few and seen.round == rules.rounds and seen.taken != (True, True):
            yield seen


@pytest.mark.parametrize("rules", few(SMALL.values(), 0, 3), ids=SMALL)
def test_every_action_is_worth_what_plain_minimax_says(rules: Rules) -> None:
    """Summed over all deals of the opponent's hand, in hundreds of positions of both seats."""
    exact, compared, values = Exact(rules, unseen=size(rules.pack)), 0, Counter[int]()
    for seen in last_round(rules, 45):
        expected = worth(seen)
        assert exact.worth(seen) == expected, seen
        top = max(expected.values())
        assert exact.best(seen) == tuple(a for a in seen.legal if expected[a] == top)
        compared += 1
        values.update(expected.values())
    assert compared >= 100
    assert min(values) < 0 < max(values)
    assert values[0]


@pytest.mark.slow
def test_the_published_game_agrees_too() -> None:
    """Where the hands are small enough for plain search."""
    exact, compared = Exact(STANDARD), 0
    for seen in last_round(STANDARD, 30, seed=1):
        if size(seen.hand) + seen.opponent_cards <= 5:
            assert exact.worth(seen) == worth(seen), seen
            compared += 1
    assert compared >= 40


def test_out_of_reach_all_actions_are_equally_good_and_the_inner_bot_decides() -> None:
    """Before the last round, and when positions run out; with enough there is an answer."""
    seen = View.from_text("1 88 2y 5x5727TC65CTz75yC4")
    assert Exact(STANDARD, unseen=100).best(seen) == seen.legal
    seen = View.from_text("1 5z 78 8T526xT27C7x676y7x38T8CT2y6568T75T46zyy753")
    assert Exact(STANDARD, positions=10).best(seen) == seen.legal
    assert len(Exact(STANDARD, positions=10_000).best(seen)) == 1
    seen = View.from_text("1 88 2y 5x5727TC65CTz75yC4")
    for action in seen.legal:
        assert wrapped(Stub(action)).choose(seen) == action


def test_where_nothing_changes_the_result_all_actions_are_equally_good() -> None:
    """Both seats have taken, so cards that are played now stay in the row."""
    for seen in positions(STANDARD, 20, seed=3):
        if seen.taken == (True, True) and seen.round == STANDARD.rounds:
            assert Exact(STANDARD).best(seen) == seen.legal
            return
    pytest.fail("no such position")


class Stub:
    """Always chooses one action, and counts how often it is asked."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.asked = 0

    def choose(self, seen: View, /) -> int:
        """Return the wanted action."""
        assert self.wanted in seen.legal
        self.asked += 1
        return self.wanted


def wrapped(inside: Strategy) -> Endgame:
    """Return the endgame with this strategy inside."""
    bot = Endgame(setup(0, 0))
    bot.inside = inside
    return bot


@pytest.mark.slow
def test_the_inner_bot_decides_among_equals_only() -> None:
    """Its action is played if it is one of the best, otherwise the first of the best."""
    exact, followed, overruled = Exact(STANDARD), 0, 0
    for seen in last_round(STANDARD, 60, seed=4):
        best = exact.best(seen)
        for action in seen.legal if 1 < len(best) < len(seen.legal) else ():
            expected = action if action in best else best[0]
            assert wrapped(Stub(action)).choose(seen) == expected
            followed += action in best
            overruled += action not in best
    assert followed >= 20
    assert overruled >= 20


def test_any_bot_of_the_folder_can_be_inside() -> None:
    """Before the last round the answers are those of that bot."""
    names = ("greedy", "majority", "denier")
    different = set()
    for name in names:
        bot = Endgame(setup(0, 0), inside=name)
        asked = [seen for seen in positions(STANDARD, 3, seed=5) if seen.round < 4]
        answers = [bot.choose(seen) for seen in asked]
        assert answers == [bot.inside.choose(seen) for seen in asked]
        assert type(bot.inside).__name__.lower() == name
        different.add(tuple(answers))
    assert len(different) == len(names)


class Position(NamedTuple):
    """What a seat sees, the one right action, and why: a row of tactics.txt."""

    view: str
    right: str
    theme: str


POSITIONS = [
    Position(*line.split(" | "))
    for line in Path(__file__).with_name("tactics.txt").read_text(encoding="utf-8").splitlines()
]
"""Cities before the last round, then the last round."""

SOLVERS = [
    "pimc",
    "ismcts(iterations=400)",
    "ismcts(iterations=400, positions=0)",
    "champion",
]

IN_THE_LAST_ROUND = ["endgame", "endgame(inside='uniform')"]


def answer(spec: str, position: Position, seed: int = 0) -> str:
    """Return what a bot does in the position, as text."""
    seen = View.from_text(position.view)
    return CHARS[resolve(spec).create(setup(seed, seen.seat)).choose(seen)]


@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: position.theme)
def test_the_right_action_is_the_best_over_all_hands(position: Position) -> None:
    """By minimax in every world, and by a clear margin."""
    seen = View.from_text(position.view)
    values = worth(seen)
    deals = comb(size(seen.unseen), seen.opponent_cards)
    best, second = sorted(values.values(), reverse=True)[:2]
    assert values[CHARS.index(position.right)] == best
    assert best - second >= deals
    assert best in (0, deals)


@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: position.theme)
@pytest.mark.parametrize("spec", SOLVERS)
def test_a_search_finds_the_right_action(spec: str, position: Position) -> None:
    """With each of three seeds."""
    assert {answer(spec, position, seed) for seed in range(3)} == {position.right}


@pytest.mark.parametrize("spec", IN_THE_LAST_ROUND)
def test_the_endgame_finds_all_right_actions_of_the_last_round(spec: str) -> None:
    """The bot inside gives no help, because only one action is best."""
    last = [one for one in POSITIONS if View.from_text(one.view).round == STANDARD.rounds]
    assert len(last) >= 12
    assert [one.theme for one in last if answer(spec, one) != one.right] == []
