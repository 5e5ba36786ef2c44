"""The endgame: its best actions of a last round are those of a search without pruning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import comb
from random import Random

import pytest

from bots.endgame import Endgame, Exact
from engine import STANDARD, Rules, State, Strategy, View
from engine.cards import cards_of, pack_of, size
from engine.play import setup
from engine.state import random_deal
from engine.view import view
from engine.worlds import hands
from tests.minimax import worth
from tests.tiers import few

NO_CITIES = (2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0)
SMALL = {
    "two rounds of two cards": Rules(
        copies=(2, 2, 2, 2, 1, 0, 0, 1, 1, 0, 2),
        hand_size=2,
        rounds=2,
        take_size=2,
        opening_row=2,
        removed=3,
        cities_needed=2,
    ),
    "one round of three cards": Rules(
        copies=(2, 2, 2, 1, 1, 0, 0, 1, 0, 1, 3),
        hand_size=3,
        rounds=1,
        take_size=3,
        opening_row=5,
        removed=2,
    ),
    "takes longer than five": Rules(
        copies=(3, 3, 2, 2, 1, 0, 0, 1, 1, 0, 2),
        hand_size=3,
        rounds=1,
        take_size=7,
        opening_row=8,
        removed=1,
        cities_needed=2,
    ),
    "takes of one, sets that cost": Rules(
        copies=NO_CITIES,
        hand_size=2,
        rounds=2,
        take_size=1,
        opening_row=3,
        removed=3,
        set_bonus=-3,
    ),
    "ties stay ties": Rules(
        copies=(2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 4),
        hand_size=2,
        rounds=2,
        take_size=3,
        opening_row=4,
        removed=0,
        majority_values=(1, 1, 1, 1),
        set_bonus=0,
        tiebreak="supports",
        cities_needed=4,
    ),
}


def positions(rules: Rules, games: int, seed: int = 0) -> Iterator[View]:
    """Yield the view of the seat to act wherever it has a choice, in random games."""
    rng = Random(seed)
    for _ in range(games):
        state = State(random_deal(rng, rules), rules)
        while not state.over:
            seen = view(state, state.to_act)
            if len(seen.legal) > 1:
                yield seen
            state.apply(rng.choice(state.legal()))


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


@pytest.mark.slow
def test_a_hand_is_yielded_once_with_the_number_of_its_deals() -> None:
    """The numbers are those from counting all choices of that many unseen cards."""
    compared = 0
    for seen in positions(STANDARD, 12, seed=2):
        possible = list(hands(seen))
        assert len(dict(possible)) == len(possible)
        assert sum(ways for _, ways in possible) == comb(size(seen.unseen), seen.opponent_cards)
        if sum(ways for _, ways in possible) <= 5000:
            chosen = combinations(cards_of(seen.unseen), seen.opponent_cards)
            assert dict(possible) == Counter(map(pack_of, chosen))
            compared += 1
    assert compared >= 100


def test_an_earlier_round_is_out_of_reach() -> None:
    """All legal actions count as equally good."""
    seen = View.from_text("1 88 2y 5x5727TC65CTz75yC4")
    assert Exact(STANDARD, unseen=100).best(seen) == seen.legal


def test_when_positions_run_out_all_actions_are_equally_good() -> None:
    """An unfinished search has no answer; with enough positions it has one."""
    seen = View.from_text("1 5z 78 8T526xT27C7x676y7x38T8CT2y6568T75T46zyy753")
    assert Exact(STANDARD, positions=10).best(seen) == seen.legal
    assert len(Exact(STANDARD, positions=10_000).best(seen)) == 1


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


def test_the_inner_bot_decides_out_of_reach() -> None:
    """Before the last round its action is played, whichever it is."""
    seen = View.from_text("1 88 2y 5x5727TC65CTz75yC4")
    for action in seen.legal:
        assert wrapped(Stub(action)).choose(seen) == action


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
