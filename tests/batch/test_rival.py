"""The best response that a network learns against."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

from arena.batch.beliefs import packs_of
from arena.batch.lockstep import Lockstep, random_deals
from arena.batch.positions import hands_by_keys
from arena.batch.rival import BestResponse
from bots.apprentice import UNIT, WEIGHT, Apprentice, own_network
from bots.apprentice import Network as PolicyNetwork
from bots.champion import values_after
from engine import STANDARD, State, View, pack_of
from engine.encoding import ACTIONS
from engine.state import played
from engine.view import view

SCALE = UNIT * WEIGHT
DEALS = np.zeros((0, 0), np.uint8)
COPIES = np.array(STANDARD.copies)[:, None]


def draw_hands(unseen: Any, sizes: Any, rng: np.random.Generator) -> Any:
    """Return a hand (kind, game) of so many unseen cards of each game."""
    keys = rng.random((unseen.shape[1], 1, int(unseen.sum(axis=0).max())))
    return hands_by_keys(unseen, sizes, keys)[..., 0]


def rival(network: Apprentice, seed: int = 1) -> BestResponse:
    """Return the best response to a network."""
    return BestResponse(network.scores, values_after, SCALE, np.random.default_rng(seed))


def walk(games: Lockstep, one: BestResponse, plies: int) -> None:
    """Play so many random legal actions, which the rival follows."""
    rng = np.random.default_rng(7)
    for _ in range(plies):
        odds = np.where(games.legal() > 0, rng.random((games.count, ACTIONS)), -1)
        one.follow(games, odds.argmax(axis=1))
        games.step(odds.argmax(axis=1))


def begun(count: int) -> Lockstep:
    """Return games on deals."""
    games = Lockstep(count)
    games.begin(np.arange(count), random_deals(count, np.random.default_rng(count)))
    return games


def test_hands_are_drawn_from_unseen_cards_as_often_as_they_are_dealt() -> None:
    """Each card is in as many hands as its share of the unseen cards says."""
    unseen = np.zeros((11, 20_000), np.uint8)
    unseen[0], unseen[4], unseen[10] = 6, 3, 1
    sizes = np.full(20_000, 4)
    sizes[:10] = 0
    drawn = draw_hands(unseen, sizes, np.random.default_rng(1))
    assert (drawn.sum(axis=0) == sizes).all()
    assert (drawn <= unseen).all()
    wanted = 4 * unseen[:, 0] / 10
    assert drawn[:, 10:].mean(axis=1) == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize("plies", [0, 3, 12, 17])
def test_it_does_not_look_at_the_other_hand(plies: int) -> None:
    """Other cards of the other seat change no choice."""
    games = begun(6)
    network = Apprentice(own_network())
    choices = []
    for is_other in (False, True):
        one, twin = rival(network), games.select(np.arange(6))
        seat = (plies + plies // 12) % 2
        one.begin(DEALS, seat)
        walk(twin, one, plies)
        if is_other:
            free = COPIES - twin.hands[0] - twin.hands[1] - twin.piles.sum(axis=0) - twin.in_row
            sizes = twin.hands[1 - seat].sum(axis=0)
            drawn = draw_hands(free.astype(np.uint8), sizes, np.random.default_rng(3))
            assert (drawn != twin.hands[1 - seat]).any()
            twin.hands[1 - seat] = drawn
        choices.append(one.choose(twin).tolist())
    assert choices[0] == choices[1]


def test_a_hand_weighs_as_much_as_what_was_played_is_likely_with_it() -> None:
    """View by view in the engine, the product of the policy's chances."""
    network = own_network()
    deal = random_deals(1, np.random.default_rng(4))
    games = Lockstep(1)
    games.begin(np.zeros(1, np.intp), deal)
    one = rival(Apprentice(network))
    one.begin(DEALS, 1)
    state = State(bytes(deal[0]))
    states = [state.copy()]
    for _ in range(4):
        seen = view(state, state.to_act)
        action = seen.legal[-1 if len(seen.legal) < 5 else 1]
        one.follow(games, np.array([action]))
        games.step(np.array([action]))
        state.apply(action)
        states.append(state.copy())
    theirs = pack_of(played(state.history, 0, 0, STANDARD))
    unseen = (COPIES - games.hands[1] - games.piles.sum(axis=0) - games.in_row).astype(np.uint8)
    sizes = np.repeat(games.hands[0].sum(axis=0), 20)
    hands = draw_hands(unseen.repeat(20, axis=1), sizes, np.random.default_rng(2))
    found = one._chances(np.zeros(20, np.intp), hands)
    for hand, chance in zip(packs_of(hands).tolist(), found.tolist(), strict=True):
        assert chance == pytest.approx(prod(chances(network, states, hand + theirs)), rel=1e-9)


def chances(network: PolicyNetwork, states: list[State], hand: int) -> list[float]:
    """Return the chance of each action of seat 0 with this hand at the beginning."""
    found = []
    world = states[0].copy()
    world.hands = [hand, world.hands[1]]
    for action in states[-1].history:
        if world.to_act == 0:
            seen: View = view(world, 0)
            found.append(network.policy(seen)[action])
        world.apply(action)
    return found
