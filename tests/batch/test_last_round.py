"""The last round with open cards: as the bot `endgame` solves it, one position at a time."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from random import Random
from typing import Any

import numpy as np
import pytest

from arena.batch.judging import draw_hands, find_chances
from arena.batch.last_round import OPEN, expect_actions, expect_open, solve_open
from arena.batch.lockstep import Lockstep
from arena.batch.rollouts import WHOLE
from bots import apprentice, timing
from bots.champion import values_after
from bots.endgame import LOSS, Exact, Position, Solver
from engine import CITY, STANDARD, TAKE, Rules, State, View, size
from engine.encoding import ACTIONS
from engine.play import setup
from engine.state import random_deal
from engine.view import view
from tests.batch import test_lockstep as lockstep
from tests.bots.test_endgame import SMALL
from tests.tiers import few

GAMES = 40


def begin(left: int) -> tuple[Lockstep, list[State]]:
    """Return random games with so many plies left, and the same as states; none is over."""
    games, states = lockstep.begin(GAMES, seed=left)
    rng = Random(left)
    for _ in range(STANDARD.game_plies - left):
        lockstep.step_at_random(games, states, rng)
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


@pytest.mark.parametrize("left", [2, 5, 8, pytest.param(OPEN, marks=pytest.mark.slow)])
def test_a_position_is_worth_what_the_solver_says(left: int) -> None:
    """Seat 0 and seat 1 are to act, with nobody, one or both having taken."""
    games, states = begin(left)
    found = solve_open(games).tolist()
    assert found == [solve(state) for state in states]
    assert {0, WHOLE} <= {*found}


def test_draws_and_ties_are_worth_what_the_rules_say() -> None:
    """Equal piles, when both seats have taken; what is settled is worth its result."""
    games = Lockstep(2)
    games.over[:] = False
    games.taken[:] = True
    games.piles[1, 3, 1] = 1
    assert solve_open(games).tolist() == [WHOLE // 2, 0]
    views = [seen for seen, _ in zip(in_last_rounds(STANDARD, 3), range(200), strict=False)]
    views = [seen for seen in views if seen.taken == (True, True)]
    assert len(views) > 20
    for seen, means in zip(views, expect_actions(lockstep.as_games(views)), strict=True):
        chance = expect_open(seen)
        own = chance if seen.seat == 0 else 1 - chance
        assert own in (0, 0.5, 1)
        assert {means[action] for action in seen.legal} == {own}
    assert (expect_actions(Lockstep(3)) < 0).all()
    for tiebreak, value in (("cities", WHOLE), ("supports", WHOLE // 2)):
        games = Lockstep(1, Rules(tiebreak=tiebreak))
        games.over[:] = False
        games.taken[1] = True  # and seat 0 takes a city as the last action
        games.open_rows(slice(None), np.array([[CITY]], np.uint8))
        assert solve_open(games).tolist() == [value]


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
        for world, hand in enumerate(hands[:, game].T):
            for action in state.legal():
                twin = state.copy()
                twin.hands[1 - state.to_act] = lockstep.counted(hand)
                twin.apply(action)
                expected = solve(twin)
                own = expected if state.to_act == 0 else WHOLE - expected
                assert found[game, action, world] == own


def in_last_rounds(rules: Rules, seed: int) -> Iterator[View]:
    """Yield what seats see of last rounds that they reach and play at random or by several bots."""
    rng = Random(seed)
    players = [bot.bot(setup(seed, 0, rules)) for bot in (timing, apprentice)]
    while True:
        state = State(random_deal(rng, rules), rules)
        before = rng.choices(("random", 0, 1), k=2)
        then = rng.choices(("random", 0, 1, "soon", "late"), k=2)
        while not state.over:
            seen = view(state, state.to_act)
            is_last = seen.round == rules.rounds
            if is_last:
                yield seen
            way = (then if is_last else before)[seen.seat]
            if isinstance(way, int):
                state.apply(players[way].choose(seen))
            elif way in ("soon", "late") and TAKE in seen.legal and len(seen.legal) > 1:
                plays = [action for action in seen.legal if action != TAKE]
                state.apply(TAKE if way == "soon" else rng.choice(plays))
            else:
                state.apply(rng.choice(seen.legal))


def some_at_each_ply(rules: Rules, each: int, seed: int = 1) -> list[View]:
    """Return so many views at each ply of last rounds, a third of it at the first two plies.

    Not both seats have taken, and as long as there is any choice the views have one.
    """
    first = rules.game_plies - rules.round_plies
    left = {first + ply: each if ply > 1 else -(-each // 3) for ply in range(rules.round_plies)}
    found = []
    for seen in in_last_rounds(rules, seed):
        ply = len(seen.history)
        is_forced = len(seen.legal) == 1 and rules.game_plies - ply > 2
        if seen.taken != (True, True) and not is_forced and left[ply]:
            left[ply] -= 1
            found.append(seen)
        if not any(left.values()):
            break
    return found


@pytest.mark.parametrize("each", few([3, 12, 94], 0, 2))
def test_the_means_over_all_hands_are_those_of_endgame(each: int) -> None:
    """Values and best actions, of 32, 128 or 1,004 views; a take may leave no card for the next."""
    views = some_at_each_ply(STANDARD, each)
    assert {len(seen.history) for seen in views} == {*range(36, 48)}
    assert {seen.taken for seen in views} == {(False, False), (False, True), (True, False)}
    compare(views, STANDARD)
    compare([View.from_text("1 677yz xC y88868T5854T2x8x726T73TCy6282y765TT5")], STANDARD)


def compare(views: list[View], rules: Rules) -> None:
    """Compare with `endgame`, which finds that not all actions are equally good in some views."""
    exact = Exact(rules, size(rules.pack), 10**9)
    differ = 0
    for seen, means in zip(views, expect_actions(lockstep.as_games(views)), strict=True):
        whole = 2 * comb(size(seen.unseen), seen.opponent_cards)
        expected = {action: 0.5 + won / whole for action, won in exact.worth(seen).items()}
        assert {action: means[action] for action in seen.legal} == pytest.approx(expected)
        assert all(means[action] < 0 for action in range(ACTIONS) if action not in seen.legal)
        best = [action for action in seen.legal if means[action] == max(means)]
        assert best == [
            action for action in seen.legal if expected[action] == max(expected.values())
        ]
        differ += len(best) < len(seen.legal)
    assert differ > len(views) / 6


OTHERS = [
    Rules.from_changes(SMALL["one round of three cards"].changes() | {"cities_needed": 1}),
    *(rules for rules in SMALL.values() if rules.take_size <= 5),
    Rules(take_size=2),
]
"""In the first one both seats may get the cities that win; the first one to do so has won."""


@pytest.mark.parametrize("rules", few(OTHERS), ids=str)
def test_they_are_so_under_other_rules(rules: Rules) -> None:
    """Short rounds, other takes, sets that cost, more cities than are needed, ties that stay."""
    compare(some_at_each_ply(rules, 6), rules)
