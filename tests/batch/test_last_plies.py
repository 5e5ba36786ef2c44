"""The last plies with all cards open: as the bot `endgame` solves them, one by one."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from arena.batch.judging import draw_hands, find_chances
from arena.batch.lockstep import Lockstep, random_deals
from arena.batch.rollouts import OPEN, WHOLE, solve_open
from bots.champion import values_after
from bots.endgame import LOSS, Position, Solver
from engine import STANDARD, State, pack_of
from engine.encoding import ACTIONS

GAMES = 40


def begin(left: int) -> tuple[Lockstep, list[State]]:
    """Return random games with so many plies left, and the same as states; none is over."""
    deals = random_deals(GAMES, np.random.default_rng(left))
    rng = Random(left)
    games = Lockstep(GAMES)
    games.begin(np.arange(GAMES), deals)
    states = [State(deal.tobytes(), STANDARD) for deal in deals]
    for _ in range(STANDARD.game_plies - left):
        actions = [0 if state.over else rng.choice(state.legal()) for state in states]
        games.step(np.array(actions))
        for state, action in zip(states, actions, strict=True):
            if not state.over:
                state.apply(action)
    kept = [place for place, state in enumerate(states) if not state.over]
    return games.select(np.array(kept)), [states[place] for place in kept]


def solve(state: State) -> int:
    """Return the chance of seat 0 by the solver of `endgame`, which knows all cards."""
    me = state.to_act
    position = Position(
        (state.hands[me], state.hands[1 - me]),
        bytes(state.row),
        (state.piles[me], state.piles[1 - me]),
        (not state.taken[me], not state.taken[1 - me]),
    )
    solver = Solver(STANDARD, 10**6)
    settled = state.over or all(state.taken)
    value = solver.end(position.piles) if settled else solver.value(position)
    own = (value - LOSS) * WHOLE // 2
    return own if me == 0 else WHOLE - own


@pytest.mark.parametrize("left", [2, 5, OPEN - 1, pytest.param(OPEN, marks=pytest.mark.slow)])
def test_a_position_is_worth_what_the_solver_says(left: int) -> None:
    """Seat 0 and seat 1 are to act, with nobody, one or both having taken."""
    games, states = begin(left)
    found = solve_open(games).tolist()
    assert found == [solve(state) for state in states]
    assert {0, WHOLE} <= {*found}


def test_a_draw_is_half_a_win() -> None:
    """Piles that are equal, when both seats have taken."""
    games = Lockstep(2)
    games.over[:] = False
    games.taken[:] = True
    games.piles[1, 3, 1] = 1
    assert solve_open(games).tolist() == [WHOLE // 2, 0]


def test_the_chances_near_the_end_need_no_policy() -> None:
    """A decision with 5 plies left: in each world best play after each action."""

    def fail(_: Lockstep) -> Any:
        raise AssertionError("asked")

    games, states = begin(5)
    masks = games.legal() > 0
    lucks = [np.random.default_rng(game) for game in range(games.count)]
    hands = draw_hands(games, np.arange(games.count), lucks, 4)
    found = find_chances(games, masks, hands, fail, values_after)
    assert found.shape == (games.count, ACTIONS, 4)
    for game, state in enumerate(states):
        packs = [pack_of(np.repeat(np.arange(11), hand).tolist()) for hand in hands[:, game].T]
        for world, pack in enumerate(packs):
            held = list(state.hands)
            held[1 - state.to_act] = pack
            for action in state.legal():
                expected = after(state, held, action)
                own = expected if state.to_act == 0 else WHOLE - expected
                assert found[game, action, world] == own


def after(state: State, hands: list[int], action: int) -> int:
    """Return the chance of seat 0 after an action, with these hands."""
    twin = state.copy()
    twin.hands[:] = hands
    twin.apply(action)
    return solve(twin)
