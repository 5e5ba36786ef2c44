"""The bot that knows its opponent's policy."""

from __future__ import annotations

import pytest

from bots.greedy import Greedy
from bots.responder import Responder, bot
from bots.uniform import bot as uniform
from engine import STANDARD, Bot, Setup, State, Strategy, View, cards_of, hands, pack_of, play_game
from engine.play import setup
from engine.seeds import stream
from engine.state import random_deal
from engine.view import view


def against_greedy(own: Setup) -> Strategy:
    """Return a quick responder to greedy."""
    return bot(own, victim="greedy", worlds=20)


@pytest.mark.slow
def test_it_wins_from_the_bot_that_it_knows() -> None:
    """Most games, in either seat."""
    won = 0.0
    for seed in range(4):
        for seat in (0, 1):
            both: tuple[Bot, Bot] = against_greedy, Greedy
            bots = both[:: 1 - 2 * seat]
            winner = play_game(bots[0], bots[1], seed=seed).winner
            won += 0.5 if winner is None else winner == seat
    assert won >= 6


def test_its_opponent_is_made_for_the_other_seat() -> None:
    """With the rules of the game; without the method it is refused."""
    seats = []

    def victim(own: Setup) -> Greedy:
        seats.append((own.seat, own.rules))
        return Greedy(own)

    for seat in (0, 1):
        own = setup(1, seat, STANDARD)
        Responder(own).meet(own, victim)
    assert seats == [(1, STANDARD), (0, STANDARD)]
    with pytest.raises(TypeError, match="Uniform has no method scores"):
        Responder(setup(1, 0)).meet(setup(1, 0), uniform)


@pytest.mark.slow
def test_it_uses_nothing_hidden() -> None:
    """Worths in a world with another hand of the opponent, and other cards to come, are equal."""
    rng = stream(4, "test")
    checked = 0
    while checked < 8:
        state = State(random_deal(rng))
        for _ in range(rng.randrange(40)):
            if not state.over:
                state.apply(rng.choice(state.legal()))
        if state.over or len(state.legal()) == 1:
            continue
        twin = swapped(state)
        seat = state.to_act
        views = [view(world, seat) for world in (state, twin)]
        found = [Responder(setup(1, seat), worlds=10).worths(one) for one in views]
        assert found[0] == found[1]
        checked += 1


def swapped(state: State) -> State:
    """Return the state with the opponent's hand and the cards to come exchanged."""
    twin = state.copy()
    other = 1 - state.to_act
    held = cards_of(state.hands[other])
    hidden = held + twin.deck + twin.removed
    hidden = hidden[::-1]
    ends = len(held), len(held) + len(twin.deck)
    twin.hands = [*twin.hands]
    twin.hands[other] = pack_of(hidden[: ends[0]])
    twin.deck, twin.removed = hidden[ends[0] : ends[1]], hidden[ends[1] :]
    return twin


def test_a_blind_response_infers_nothing_about_the_hand() -> None:
    """All hands keep the weight with which they were dealt, whatever the victim has played."""
    seen = View.from_text("1 5678C xy 8")
    ways = dict(hands(seen))
    for is_blind in (False, True):
        own = setup(1, 1)
        known = Responder(own, "timing", blind=is_blind)
        known.choose(seen)
        belief = known.belief
        each = zip(belief.hands, belief.weights, strict=True)
        shares = {round(weight / ways[hand], 9) for hand, weight in each}
        assert (len(shares) == 1) is is_blind
