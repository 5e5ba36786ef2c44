"""Worlds of a view, played on by policies, and decisions that are judged by them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Any

import numpy as np
import pytest

from arena.batch.judging import ILLEGAL, Decisions, draw_hands, find_chances, judge
from arena.batch.lockstep import Lockstep, random_deals
from arena.batch.replay import NOTHING, in_rows
from arena.batch.rollouts import WHOLE, action_values, best_legal, pick
from arena.errors import InputError
from bots.apprentice import Apprentice, own_network
from bots.champion import Champion, values_after
from engine import STANDARD, TAKE, Rules, Setup, State, View, hands, outcome, pack_of, sample
from engine.encoding import ACTIONS
from engine.view import view
from tests.batch.test_lockstep import as_games, begin, check_same, counted, step_at_random
from tests.positions import RULE_SETS, states
from tests.tiers import few

APPRENTICE = Apprentice(own_network())
luck = np.random.default_rng


def views(count: int, seed: int, rules: Rules = STANDARD) -> list[tuple[State, View]]:
    """Return positions with what the seat to act sees."""
    live = (state for state in states(3 * count, rules, seed) if not state.over)
    return [(state, view(state, state.to_act)) for state in islice(live, 0, 7 * count, 7)]


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_the_world_with_the_true_hand_is_the_truth(rules: Rules) -> None:
    """It shows the same, and goes on as the game does to the end of the round."""
    rng = Random(3)
    for state, seen in views(40, seed=4, rules=rules):
        games = Lockstep.from_view(seen, [state.hands[seen.opponent]] * 2)
        while not games.over.all():
            check_same(games, [state, state])
            action = rng.choice(state.legal())
            games.step(np.array([action, action]))
            state.apply(action)
        assert counted(games.piles[0, :, 0]) == state.piles[0]
        assert state.over or len(state.history) % rules.round_plies == 0


@pytest.mark.slow
def test_with_luck_the_rest_is_dealt_and_the_game_goes_to_its_end() -> None:
    """Every card is in one place, no place is always the same, and equal luck deals alike."""
    copies = np.array(STANDARD.copies)
    for _, seen in views(20, seed=5):
        held = [hand for hand, _ in hands(seen)][:50]
        games, again = (Lockstep.from_view(seen, held, luck(1)) for _ in "ab")
        assert (games.dealt == again.dealt).all()
        to_come = games.dealt[seen.round :].sum(axis=(0, 1))
        known = games.hands.sum(axis=0) + games.piles.sum(axis=0) + games.in_row + to_come
        assert (known <= copies[:, None]).all()
        assert (known.sum(axis=0) == 45 - STANDARD.removed).all()
        while not games.over.all():
            games.step(pick(games, APPRENTICE.scores))
        assert ((games.round == 3) | (games.piles[:, 10].max(axis=0) == 3)).all()
    first = Lockstep.from_view(FIRST, [next(hands(FIRST))[0]] * 400, luck(2))
    assert 20 < (first.dealt[3, 1, 3] == 0).sum() < 380


FIRST = View.from_text("0 5678C xy")


def test_a_hand_is_one_that_can_be_held_and_the_rest_is_dealt_evenly() -> None:
    """Of 33 cards seven 7s are left; too many, too few or seen cards are refused."""
    games = Lockstep.from_view(FIRST, [pack_of(bytes([3] * 5))] * 4000, luck(3))
    share = games.dealt[1:, :, 2].sum() / games.dealt[1:].sum()
    assert share == pytest.approx(6 / 33, abs=0.005)
    for hand in ([3] * 4, [3] * 6, [10, 10, 10, 3, 3]):
        with pytest.raises(InputError, match="the opponent cannot hold it in 0 5678C xy"):
            Lockstep.from_view(FIRST, [pack_of(bytes(hand))])


@pytest.mark.parametrize("count", few([300, 10_000], 1, 0))
def test_the_scores_of_apprentice_are_the_same_in_many_games(count: int) -> None:
    """All twelve, as whole numbers: so its actions are, on every machine."""
    found = views(count, seed=7)
    held = [state.hands[seen.opponent] for state, seen in found]
    scores = APPRENTICE.scores(as_games([seen for _, seen in found], held))
    for row, (_, seen) in zip(scores.tolist(), found, strict=True):
        assert row == APPRENTICE.network.scores(seen)


def test_values_are_those_of_champion() -> None:
    """After a round by its table, after the game by the outcome, for seat 0."""
    champion = Champion(Setup(Random(1), 0, STANDARD))
    for state in states(20, seed=8):
        if len(state.history) in (12, 24, 36) and not state.over:
            state.round -= 1  # the round that has ended
            games = Lockstep.from_view(view(state, 0), [state.hands[1]])
            games.round -= 1
            assert values_after(games)[0] == pytest.approx(champion.value(state), abs=1e-12)
    games = Lockstep.from_view(FIRST, [h for h, _ in hands(FIRST)][:64], luck(1))
    while not games.over.all():
        games.step(games.legal().argmax(axis=1))
    for number, value in enumerate(values_after(games)):
        winner = outcome((counted(games.piles[0, :, number]), counted(games.piles[1, :, number])))
        assert value == (0.5 if winner.winner is None else 1 - winner.winner)


def by_hand(games: Lockstep) -> Any:
    """Score actions without a network: take from a long row, else play what one has most of."""
    scores = np.zeros((games.count, ACTIONS))
    own = games.hands[games.to_act, :, np.arange(games.count)]
    scores[:, : own.shape[1]] = own
    scores[:, TAKE] = np.where(games.length >= 5, 9.0, -1.0)
    return scores


def nosy(games: Lockstep) -> Any:
    """Score actions also by what is dealt later, where that is to be seen."""
    scores = by_hand(games)
    scores[:, :TAKE] += games.dealt.sum(axis=(0, 1)).T
    return scores


def lucks(count: int, seed: int) -> list[np.random.Generator]:
    return [luck([seed, game]) for game in range(count)]


def judged(
    deals: Any, actions: Any, worlds: int = 8, seed: int = 1, wanted: Any = None, policy: Any = None
) -> list[Decisions]:
    wanted = np.ones(actions.shape, np.bool_) if wanted is None else wanted
    more = worlds, policy or by_hand, values_after
    return [*judge(deals, actions, wanted, lucks(len(deals), seed), *more)]


def rows(found: Sequence[Decisions]) -> dict[tuple[int, int], tuple[Any, ...]]:
    """Return the numbers of each decision by game and ply."""
    return {
        (int(game), one.ply): (int(action), chances.tolist(), int(loss), int(error))
        for one in found
        for game, action, chances, loss, error in zip(
            one.game, one.action, one.chances, one.loss, one.error, strict=True
        )
    }


@pytest.fixture(scope="module")
def games() -> tuple[Any, Any]:
    """Deals and the actions of random games."""
    games, truths = begin(24, seed=4)
    rng = Random(5)
    while not games.over.all():
        step_at_random(games, truths, rng)
    played = in_rows([bytes(state.history) for state in truths], STANDARD.game_plies)
    return random_deals(24, np.random.default_rng(4)), played


@pytest.mark.slow
def test_every_choice_is_judged_and_nothing_else(games: tuple[Any, Any]) -> None:
    """The legal actions have a chance, others none; with one legal action there is no decision."""
    deals, actions = games
    found = rows(judged(deals, actions, 4))
    expected = {}
    for game, (deal, played) in enumerate(zip(deals, actions, strict=True)):
        state = State(deal.tobytes(), STANDARD)
        for ply, action in enumerate(played[played != NOTHING].tolist()):
            if len(state.legal()) > 1:
                expected[game, ply] = action, {*state.legal()}
            state.apply(action)
        assert state.over
    seen = {
        place: (action, {n for n, chance in enumerate(chances) if chance != ILLEGAL})
        for place, (action, chances, _, _) in found.items()
    }
    assert seen == expected
    assert all(-1 <= max(one[1]) <= WHOLE and min(one[1]) >= -1 for one in found.values())


@pytest.mark.slow
def test_a_seat_is_judged_by_what_it_knew(games: tuple[Any, Any]) -> None:
    """With the hidden cards dealt anew, and another rest of the game, to the same numbers."""
    deals, actions = games
    rng, plies = Random(7), (1, 6, 15, 38, 41)
    wanted = np.zeros(actions.shape, np.bool_)
    wanted[:, plies] = True
    found = rows(judged(deals, actions, wanted=wanted, policy=nosy))
    for ply in plies:
        swapped, other = deals.copy(), actions.copy()
        for game, (deal, played) in enumerate(zip(deals, actions, strict=True)):
            state = State(deal.tobytes(), STANDARD)
            if played[ply] == NOTHING:
                continue
            state.follow(played[:ply].tobytes())
            state = sample(view(state, state.to_act), rng)
            deal = state.deal()
            state.apply(int(played[ply]))
            while not state.over:
                state.apply(rng.choice(state.legal()))
            swapped[game] = np.frombuffer(deal, np.uint8)
            other[game] = NOTHING
            other[game, : len(state.history)] = np.frombuffer(state.history, np.uint8)
        assert (swapped != deals).any()
        again = rows(judged(swapped, other, wanted=wanted, policy=nosy))
        at_ply = {place for place in found if place[1] == ply}
        assert at_ply
        assert {place: again[place] for place in at_ply} == {
            place: found[place] for place in at_ply
        }


def test_the_chances_are_those_of_the_worlds_one_by_one() -> None:
    """As `action_values` finds them for the view, of the same hands; the first equal is best."""
    table, truths = begin(24, seed=4)
    rng = Random(5)
    for _ in range(20):
        step_at_random(table, truths, rng)
    masks = table.legal() > 0
    some = np.flatnonzero(~table.over & (masks.sum(axis=1) > 1))
    drawn = draw_hands(table, some, lucks(len(some), 3), 4)
    found = find_chances(table.select(some), masks[some], drawn, by_hand, values_after)
    for row, game in enumerate(some.tolist()):
        seen = view(truths[game], truths[game].to_act)
        held = [*map(counted, drawn[:, row].T)]
        expected = action_values(seen, held, (by_hand, by_hand), values_after)
        assert found[row, [*seen.legal]].tolist() == expected.tolist()
    scores = np.array([[9.0, 1.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0]])
    assert best_legal(scores, np.array([[0, 1, 1, 1], [0, 0, 1, 1]])).tolist() == [2, 2]


def test_every_hand_is_drawn_as_often_as_it_is_likely() -> None:
    """Compared with all hands of a view, which are counted."""
    table, (state,) = begin(1, seed=8)
    rng = Random(2)
    for _ in range(43):
        step_at_random(table, [state], rng)
    seen = view(state, state.to_act)
    ways = dict(hands(seen))
    drawn = draw_hands(table, np.arange(1), lucks(1, 5), 20_000)[:, 0].T
    kinds, times = np.unique(drawn, axis=0, return_counts=True)
    packs = [*map(counted, kinds)]
    assert 3 < len(packs) == len(ways)
    for pack, count in zip(packs, times.tolist(), strict=True):
        share = ways[pack] / sum(ways.values())
        assert count / 20_000 == pytest.approx(share, abs=5 * (share / 20_000) ** 0.5)
