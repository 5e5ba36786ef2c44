"""The endgame's best actions are those of plain search; positions with one right answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import comb
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from arena.entries.resolve import resolve
from arena.tables.game_arrays import read_batches
from bench.values import ROUNDS, Row, features, to_columns, to_weights
from bots.champion import (
    LEARNED,
    TO_TAKE,
    Champion,
    Values,
    features_to_take,
    logit_within,
    settled_piles,
)
from bots.endgame import Endgame, Exact
from bots.ismcts import Ismcts
from engine import STANDARD, Action, Pack, Rules, State, Strategy, View
from engine.cards import CHARS, KINDS, TAKE, cards_of, counts, pack_of, size
from engine.play import playout, setup
from engine.scoring import Outcome, Piles, city_winner, outcome
from engine.seeds import stream
from engine.state import random_deal
from engine.view import view
from engine.worlds import sample
from tests.positions import choices, pack
from tests.tables.games import play, rows_of, tournament
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
    """Return each action's sum of 1, 0 and -1 over all deals of the other hand, by plain search."""
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
    values = {}
    for action in world.legal():
        twin = world.copy()
        twin.apply(action)
        values[action] = _value(twin, seat)
    return values


def _value(world: State, seat: int) -> int:
    if world.over:
        decide = outcome if world.round == world.rules.rounds else city_winner
        found = decide(world.piles, world.rules)
        winner = found.winner if isinstance(found, Outcome) else found
        return 0 if winner is None else 1 if winner == seat else -1
    values = _values(world, seat).values()
    return max(values) if world.to_act == seat else min(values)


def last_round(rules: Rules, games: int, seed: int = 0) -> Iterator[View]:
    """Yield those of the last round with few cards in which a seat may still take."""
    for seen in choices(games, rules, seed):
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


def test_out_of_reach_all_actions_are_equally_good_and_the_inner_bot_decides() -> None:
    """Before the last round, when positions run out, and when both seats have taken."""
    seen = View.from_text("1 5z 78 8T526xT27C7x676y7x38T8CT2y6568T75T46zyy753")
    assert Exact(STANDARD, positions=10).best(seen) == seen.legal
    assert len(Exact(STANDARD, positions=10_000).best(seen)) == 1
    seen = View.from_text("1 88 2y 5x5727TC65CTz75yC4")
    assert Exact(STANDARD, unseen=100).best(seen) == seen.legal
    for action in seen.legal:
        assert wrapped(Stub(action)).choose(seen) == action
    both_took = (one for one in choices(20, seed=3) if one.taken == (True, True))
    seen = next(one for one in both_took if one.round == STANDARD.rounds)
    assert Exact(STANDARD).best(seen) == seen.legal


class Stub:
    """Always chooses one action."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted

    def choose(self, seen: View, /) -> int:
        assert self.wanted in seen.legal
        return self.wanted


def wrapped(inside: Strategy) -> Endgame:
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


class Position(NamedTuple):
    """What a seat sees, the one right action, and why: a row of tactics.txt."""

    view: str
    right: str
    theme: str


TACTICS = Path(__file__).with_name("tactics.txt").read_text(encoding="utf-8")
POSITIONS = [Position(*line.split(" | ")) for line in TACTICS.splitlines()]
"""Cities before the last round, then the last round."""

SOLVERS = ["pimc", "champion", *(f"ismcts(iterations=400{more})" for more in ("", ", positions=0"))]


def answer(spec: str, position: Position, seed: int = 0) -> str:
    seen = View.from_text(position.view)
    return CHARS[resolve(spec).create(setup(seed, seen.seat)).choose(seen)]


each_position = pytest.mark.parametrize("position", POSITIONS, ids=lambda one: one.theme)


@each_position
def test_the_right_action_is_the_best_over_all_hands(position: Position) -> None:
    """By minimax in every world, and by a clear margin."""
    seen = View.from_text(position.view)
    values = worth(seen)
    deals = comb(size(seen.unseen), seen.opponent_cards)
    best, second = sorted(values.values(), reverse=True)[:2]
    assert values[CHARS.index(position.right)] == best
    assert best - second >= deals
    assert best in (0, deals)


@each_position
@pytest.mark.parametrize("spec", SOLVERS)
def test_a_search_finds_the_right_action(spec: str, position: Position) -> None:
    """With each of three seeds."""
    assert {answer(spec, position, seed) for seed in range(3)} == {position.right}


@pytest.mark.parametrize("spec", ["endgame", "endgame(inside='uniform')"])
def test_the_endgame_finds_all_right_actions_of_the_last_round(spec: str) -> None:
    """The bot inside gives no help, because only one action is best."""
    last = [one for one in POSITIONS if View.from_text(one.view).round == STANDARD.rounds]
    assert len(last) >= 12
    assert [one.theme for one in last if answer(spec, one) != one.right] == []


def between_rounds(number: int, seed: int = 0) -> list[tuple[Piles, bytes]]:
    """Return piles and rows, half after a round of random games, half of random cards."""
    rng, positions = Random(seed), list[tuple[Piles, bytes]]()
    while len(positions) < number:
        state = State(random_deal(rng))
        while not state.over and state.round == 1 + len(positions) % 3:
            state.apply(rng.choice(state.legal()))
        cards = random_deal(rng)
        first, second = sorted(rng.choices(range(30), k=2))
        row = cards[second : second + rng.randrange(12)]
        piles = pack_of(cards[:first]), pack_of(cards[first:second])
        positions += [(state.piles, state.row), (piles, row)]
    return [(piles, row) for piles, row in positions if max(piles) < STANDARD.city_pack]


def row_of(after: int, piles: Piles, row: bytes) -> Row:
    """Return the position as the fit sees it; the first pile is that of the seat to begin."""
    first, second = (counts(pile) for pile in piles)
    return Row(after, first, second, tuple(row.count(kind) for kind in KINDS), 0.5)


@pytest.mark.parametrize("after", ROUNDS)
def test_a_value_is_the_product_of_features_and_weights(after: int) -> None:
    """The bot's tables and the features of `bench.values` agree on every position."""
    values, positions = Values(LEARNED[after]), between_rounds(400)
    table = features([row_of(after, piles, row) for piles, row in positions])
    columns = to_columns(LEARNED[after])
    assert table.shape[1] == len(columns)
    assert to_weights(columns) == LEARNED[after]
    expected = table @ np.array(columns)
    logits = [values.logit(*piles, row) for piles, row in positions]
    assert logits == pytest.approx(list(expected))
    threats = [piles for piles, _ in positions if bool(piles[0] >> 50) != bool(piles[1] >> 50)]
    assert len(threats) > 50


SUMS_WITHIN = {
    1: 45.31586790291759,
    2: 11.741318670438961,
    3: 94.85350994793176,
    4: 81.68052721560073,
}
"""Of values by the learned weights; new ones need a new place on the ladder."""


@pytest.mark.parametrize("number", sorted(TO_TAKE))
def test_no_learned_weight_within_a_round_has_changed(number: int) -> None:
    """While one seat has taken and the other one has not; some takes would win by City."""
    rng, total, wins = Random(number), 0.0, 0
    for _ in range(600):
        state = State(random_deal(rng))
        while not state.over and (state.round < number or view(state, 0).taken.count(True) != 1):
            state.apply(rng.choice(state.legal()))
        if not state.over:
            seen = view(state, 0)
            total += rng.random() * logit_within(seen)
            wins += features_to_take(seen, seen.taken.index(False))[-1] > 0
    assert wins or number == 1  # where they are too rare
    assert total == pytest.approx(SUMS_WITHIN[number], abs=1e-6)


def champion(rules: Rules = STANDARD, iterations: int = 20) -> Champion:
    return Champion(setup(0, 0, rules), iterations, positions=100)


def after_round(played: int, seed: int, rules: Rules = STANDARD) -> State:
    """Return a random game's state as a search sees it after this many rounds."""
    rng = Random(seed)
    state = State(random_deal(rng, rules), rules)
    state.deck = state.deck[: 2 * rules.hand_size * (played - 1)]
    playout(state, rng)
    return state


def test_an_end_is_worth_its_outcome_and_other_rules_are_valued_as_by_ismcts() -> None:
    """By the piles; under other rules nothing was learned."""
    results = set()
    for seed in range(60):
        world = after_round(4, seed)
        winner = outcome(world.piles).winner
        results.add(winner)
        assert champion().value(world) == (0.5 if winner is None else 1 - winner)
    assert {0, 1} <= results
    won = after_round(1, 0)
    for seat in (0, 1):
        won.piles = (pack("CCC"), 0)[:: 1 - 2 * seat]
        assert champion().value(won) == 1 - seat
    rules = Rules(set_bonus=4)
    for seed in range(30):
        world = after_round(2, seed, rules)
        bot = champion(rules)
        assert bot.value(world) == Ismcts.value(bot, world)
    published = after_round(2, 0)
    assert champion().value(published) != Ismcts.value(champion(), published)


def test_the_chances_of_many_games_are_those_of_their_views() -> None:
    """While one seat has taken, too, the first or the second one; in games of random actions."""
    cup = tournament(bots=2, pairs=2)
    games = [*play(cup)]
    (batch,) = read_batches(cup, rows_of(games))
    found, bot, takers = Champion.chances(batch.replay), champion(), set()
    for number, game in enumerate(games):
        for ply, state in enumerate(game.states[:-1]):
            seen = view(state, 0)
            if settled_piles(seen) is None:
                assert found[ply, number] == pytest.approx(bot.chance(seen), abs=1e-9)
                takers.add(seen.taken)
    assert {(False, False), (True, False), (False, True)} <= takers


def test_settled_piles_are_those_of_the_end() -> None:
    """Also where both seats have yet to take, with one action each: a win by City comes first."""
    both_to_take = cities = 0
    for seed in range(150):
        rng = Random(seed)
        state = State(random_deal(rng))
        told = []
        while not state.over:
            is_late = state.round == STANDARD.rounds
            told += [settled_piles(view(state, seat)) for seat in (0, 1)]
            both_to_take += is_late and told[-1] is not None and not any(state.taken)
            plays = [action for action in state.legal() if action != TAKE]
            state.apply(rng.choice(plays if plays and is_late and seed % 3 else state.legal()))
        told = [piles for piles in told if piles is not None]
        assert {*told} <= {tuple(state.piles)}
        cities += outcome(state.piles, state.rules)[1] == "city" and bool(told)
        assert settled_piles(view(state, 0)) == tuple(state.piles)
    assert both_to_take > 50
    assert cities
