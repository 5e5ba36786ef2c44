"""A swap exchanges two cards, and nothing else that has not been played yet."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from arena.tournament.rule_changes import Swap, SwappedState, draw_swaps, find_taken, make_swap
from engine import CITY, STANDARD, TAKE, Rules, State
from engine.cards import UNIT
from engine.play import playout
from engine.state import random_deal
from engine.view import view
from tests.tables.games import random_rules

GAMES = 8
UNDER = [STANDARD, *(random_rules(Random(seed)) for seed in range(6))]
WITH_REMOVED = [rules for rules in UNDER if rules.removed]


def games(rules: Rules, count: int = GAMES) -> Iterator[tuple[bytes, bytes]]:
    """Yield deals and the actions of random games."""
    rng = Random(5)
    for _ in range(count):
        deal = random_deal(rng, rules)
        state = State(deal, rules)
        playout(state, rng)
        yield deal, state.history


def every_swap(deal: bytes, actions: bytes, rules: Rules) -> Iterator[Swap]:
    """Yield all swaps of a game."""
    for taken in find_taken(deal, actions, rules):
        for out in range(len(deal) - rules.removed, len(deal)):
            yield make_swap(deal, actions, taken, out)


def after(deal: bytes, actions: bytes, rules: Rules) -> State:
    """Return a position, each action of which is checked."""
    state = State(deal, rules)
    state.follow(actions)
    return state


@pytest.mark.parametrize("rules", UNDER, ids=str)
def test_the_cards_that_are_taken_are_those_of_the_piles(rules: Rules) -> None:
    """By kind and seat, in every game."""
    for deal, actions in games(rules):
        piles = [0, 0]
        for taken in find_taken(deal, actions, rules):
            piles[taken.seat] += UNIT[taken.kind]
            assert actions[taken.ply] == TAKE
            assert deal[taken.dealt] == taken.kind
            assert taken.played is None or actions[taken.played] == taken.kind
        assert tuple(piles) == after(deal, actions, rules).piles


@pytest.mark.parametrize("rules", WITH_REMOVED, ids=str)
def test_a_swap_changes_one_card_of_a_pile_and_one_out_of_the_game(rules: Rules) -> None:
    """The game with the swap is legal; hands, row and what is still to be dealt are the same."""
    for deal, actions in games(rules, 4):
        for swap in every_swap(deal, actions, rules):
            one, two = after(deal, swap.before, rules), after(swap.deal, swap.after, rules)
            assert two.piles[swap.seat] == one.piles[swap.seat] - UNIT[swap.kind] + UNIT[swap.other]
            assert two.piles[1 - swap.seat] == one.piles[1 - swap.seat]
            assert sorted([*one.removed, swap.kind]) == sorted([*two.removed, swap.other])
            is_won = CITY in (swap.kind, swap.other) and one.over != two.over
            assert is_won or (one.hands, one.row, one.deck) == (two.hands, two.row, two.deck)


def test_a_swap_and_the_one_back_leave_the_game_as_it_was() -> None:
    """So a swap of two cards is worth what the other one costs."""
    for deal, actions in games(STANDARD, 1):
        for swap in every_swap(deal, actions, STANDARD):
            if swap.changes_nothing:
                assert (swap.deal, swap.after) == (deal, swap.before)
                continue
            backs = {
                back[:3]
                for back in every_swap(swap.deal, swap.after, STANDARD)
                if back.after == swap.before
                and State(back.deal).deal() == State(deal).deal()
                and not back.changes_nothing
            }
            assert backs == {(swap.seat, swap.other, swap.kind)}


def test_a_swapped_game_is_as_it_was_up_to_the_take() -> None:
    """Before it both seats see what they saw; from then on the other deal."""
    for deal, actions in games(STANDARD, 2):
        for swap in draw_swaps(deal, actions, STANDARD, Random(1), 40):
            plain, state = State(deal), SwappedState(deal, STANDARD, swap)
            for action in swap.before:
                assert view(state, state.to_act) == view(plain, plain.to_act)
                plain.apply(action)
                state.apply(action)
            assert view(state, 0) == view(after(swap.deal, swap.after, STANDARD), 0)
            assert state.deal() == after(swap.deal, swap.after, STANDARD).deal()
            again = SwappedState(deal, STANDARD, swap)
            again.follow(swap.after)
            assert view(again, 1) == view(state, 1)


def test_nothing_is_swapped_in_another_game() -> None:
    """A bot that plays otherwise before the take is found by its actions."""
    (deal, actions), *_ = games(STANDARD)
    swap = draw_swaps(deal, actions, STANDARD, Random(1), 1)[0]
    state = SwappedState(deal, STANDARD, swap)
    state.apply(next(action for action in state.legal() if action != actions[0]))
    playout(state, Random(2))
    assert state.deal() == after(deal, state.history, STANDARD).deal()


@pytest.mark.slow
def test_a_city_that_wins_the_game_ends_it_at_the_take_and_no_longer_without_it() -> None:
    """R11, where one city is enough."""
    rules = Rules(cities_needed=1)
    ended = on = 0
    for deal, actions in games(rules, 100):
        for swap in every_swap(deal, actions, rules):
            was, state = after(deal, swap.before, rules), after(swap.deal, swap.after, rules)
            if swap.other == CITY:
                assert state.over
                ended += not was.over
            elif swap.kind == CITY and state.piles[swap.seat] < rules.city_pack:
                on += not state.over
    assert ended
    assert on


@pytest.mark.slow
def test_every_taken_card_and_every_card_out_of_the_game_is_drawn_as_often() -> None:
    """3,000 draws of one game, of 40 cards at most and 3: no count is off by five deviations."""
    (deal, actions), *_ = games(STANDARD)
    cards = find_taken(deal, actions, STANDARD)
    drawn: dict[bytes, int] = {}
    for seed in range(3_000):
        (swap,) = draw_swaps(deal, actions, STANDARD, Random(seed), 1)
        drawn[swap.deal] = drawn.get(swap.deal, 0) + 1
    places = [
        (taken.dealt, out) for taken in cards for out in range(len(deal) - STANDARD.removed, 45)
    ]
    wanted: dict[bytes, float] = {}
    for one, other in places:
        swapped = bytearray(deal)
        swapped[one], swapped[other] = deal[other], deal[one]
        wanted[bytes(swapped)] = wanted.get(bytes(swapped), 0) + 3_000 / len(places)
    assert drawn.keys() <= wanted.keys()
    for made, count in wanted.items():
        assert abs(drawn.get(made, 0) - count) < 5 * count**0.5


def test_several_swaps_of_a_game_are_of_different_cards() -> None:
    """And no more of them than were taken."""
    (deal, actions), *_ = games(STANDARD)
    swaps = draw_swaps(deal, actions, STANDARD, Random(3), 1_000)
    cards = find_taken(deal, actions, STANDARD)
    assert len(swaps) == len(cards)
    assert sorted(swap.kind for swap in swaps) == sorted(taken.kind for taken in cards)
