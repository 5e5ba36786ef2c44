"""Worlds and hands that a view allows, and the addresses of randomness; the clock."""

from __future__ import annotations

import copy
import random
from collections import Counter
from itertools import combinations
from math import comb
from random import Random

import pytest
import scipy

from engine import STANDARD, TAKE, Rules, State
from engine.cards import KINDS, counts, pack_of, size
from engine.play import draw, setup
from engine.seeds import Step, address, digest, generator, noise, stream
from engine.state import random_deal
from engine.strategy import UNLIMITED, Clock, Spent
from engine.view import View, view
from engine.worlds import hands, sample, sample_hand
from tests.positions import RULE_SETS, at, dealt, quiet_game, states, walk

DRAWS = 20_000
LEAST_P = 1e-4


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_a_world_looks_like_the_view_it_was_drawn_from(rules: Rules) -> None:
    """view(sample(v)) == v, from either seat, at every ply and after the end."""
    rng = Random(1)
    for state in states(60 if rules == STANDARD else 8, rules):
        for seat in (0, 1):
            seen = view(state, seat)
            world = sample(seen, rng)
            assert view(world, seat) == seen
            assert world.over == state.over
            assert world.to_act == state.to_act or state.over
            assert len(world.deck) == len(state.deck)
            assert len(world.removed) == len(state.removed)


def hidden_position() -> tuple[State, View]:
    """Return a position of round 2 with 25 unseen cards of all kinds."""
    state = next(state for state in walk(Random(8)) if len(state.history) == 19)
    return state, view(state, state.to_act)


def p_value(seen: list[tuple[int, ...]], cards: int, unseen: tuple[int, ...]) -> float:
    """Return the p-value of each draw's counts by kind, if each unseen card is equally likely."""
    observed, expected = [], []
    total = sum(unseen)
    for kind in KINDS:
        tally = Counter(draw[kind] for draw in seen)
        for number in range(min(cards, unseen[kind]) + 1):
            ways = comb(unseen[kind], number) * comb(total - unseen[kind], cards - number)
            share = len(seen) * ways / comb(total, cards)
            if share >= 5:
                observed.append(tally[number])
                expected.append(share)
    scale = sum(observed) / sum(expected)
    return float(scipy.stats.chisquare(observed, [share * scale for share in expected]).pvalue)


@pytest.mark.slow
def test_hand_deck_and_removed_are_uniform() -> None:
    """Chi-square: each place holds each count of each kind as often as by chance."""
    _, seen = hidden_position()
    unseen, rng = counts(seen.unseen), Random(3)
    worlds = [sample(seen, rng) for _ in range(DRAWS)]
    places = {
        "hand": [counts(world.hands[seen.opponent]) for world in worlds],
        "next hand of seat 0": [counts(pack_of(world.deck[:5])) for world in worlds],
        "last hand of seat 1": [counts(pack_of(world.deck[-5:])) for world in worlds],
        "removed": [counts(pack_of(world.removed)) for world in worlds],
    }
    for place, draws in places.items():
        assert p_value(draws, sum(draws[0]), unseen) > LEAST_P, place


def test_a_sampled_hand_is_uniform() -> None:
    """`sample_hand` draws from the same distribution as `sample`."""
    _, seen = hidden_position()
    rng = Random(4)
    draws = [counts(sample_hand(seen, rng)) for _ in range(DRAWS)]
    assert {sum(draw) for draw in draws} == {seen.opponent_cards}
    assert p_value(draws, seen.opponent_cards, counts(seen.unseen)) > LEAST_P


def values_in(thing: object) -> list[object]:
    """Return this value and all values that its items and attributes lead to."""
    values, stack, known = [], [thing], set[int]()
    while stack:
        value = stack.pop()
        if id(value) in known:
            continue
        known.add(id(value))
        values.append(value)
        names = {name for name in dir(type(value)) if not name.startswith("__")}
        names |= set(getattr(value, "__dict__", ()))
        names -= {"_fields", "_field_defaults"}  # of NamedTuple itself
        if type(value).__module__.partition(".")[0] == "engine":
            for name in names:
                attribute = getattr(value, name)
                stack += [attribute] if not callable(attribute) else []
        if isinstance(value, tuple | list | set | frozenset):
            stack += list(value)
        elif isinstance(value, dict):
            stack += [*value.keys(), *value.values()]
    return values


def test_nothing_hidden_can_be_reached_from_a_view_or_a_setup() -> None:
    """Only plain values: no State, no deck, no seed, no address, and nothing that changes."""
    seed = 987_654_321
    for state in states(5):
        hidden = (state.deck, state.removed, state.hands[1 - state.to_act])
        seen = values_in(view(state, state.to_act))
        assert len(seen) > 20
        plain = {View, Rules, tuple, bytes, int, bool, str, type(None)}
        assert {type(value) for value in seen} <= plain
        for value in hidden:
            # short bytes may be equal by chance
            big = isinstance(value, bytes) and len(value) > 5
            assert not big or value not in [v for v in seen if isinstance(v, bytes)]
    luck = draw(address(seed, "deal", "greedy", "uniform", 17)).lucks[0]
    values = values_in(setup(luck, 0))
    assert not {seed, luck} & {value for value in values if isinstance(value, int)}
    assert not {"greedy", "uniform", "deal"} & {v for v in values if isinstance(v, str)}
    assert len([value for value in values if isinstance(value, Random)]) == 1
    assert not [value for value in values if isinstance(value, State | bytearray)]


def test_a_city_win_with_a_rounds_last_action_stays_in_that_round() -> None:
    """The view shows that round and an empty hand of the opponent, as the game does."""
    deal = dealt("CC567", "C5678", "88", removed="xyz")
    state = at(deal, "556677T8CCC")
    assert state.legal() == (TAKE,)
    state.apply(TAKE)
    assert state.over
    for seat in (0, 1):
        seen = view(state, seat)
        assert (seen.round, seen.over, seen.to_act, seen.opponent_cards) == (1, True, None, 0)
        assert View.from_text(seen.to_text()) == seen
        assert view(sample(seen, Random(0)), seat) == seen


DEAL = dealt(
    *("55667", "78822", "88", "55667", "78833", "56677", "78xxx", "8224y", "yyyzz"), removed="CCC"
)


@pytest.mark.parametrize("plies", [0, 2, 12, 31])
def test_the_numbers_add_up_to_all_choices_of_unseen_cards(plies: int) -> None:
    """n! / (k! (n - k)!) for n unseen cards and k in the hand; no hand comes twice."""
    seen = view(at(DEAL, quiet_game(DEAL)[:plies]), 1)
    possible = list(hands(seen))
    assert sum(ways for _, ways in possible) == comb(size(seen.unseen), seen.opponent_cards)
    assert len({hand for hand, _ in possible}) == len(possible)
    for hand, _ in possible:
        assert size(hand) == seen.opponent_cards
        assert all(n <= most for n, most in zip(counts(hand), counts(seen.unseen), strict=True))


ADDRESSES: list[tuple[Step, ...]] = [
    *((), ("",), (0,), ("0",), (1,), ("1",), (-1,), (11,), (1, 1), ("1", 1), (1, "1")),
    *(((1, 1),), ((1,), 1), (1, (1,)), ("1, 1",), ("(1, 1)",), ("deal",), ("deal", 1)),
    *(("deal", "1"), ("deal1",), ("d", "eal1"), ("a", "b", 1), ("b", "a", 1), ("a'", "b")),
    *(("a", "'b"), ("é",), ("\\xe9",)),
]


def test_an_address_has_one_stream() -> None:
    """Whatever was drawn before; a word is not a number, and the order and the master count."""
    first = stream(7, "deal", "a", 3)
    drawn = [first.random() for _ in range(5)]
    stream(7, "deal", "a", 4).random()
    again = stream(7, "deal", "a", 3)
    assert [again.random() for _ in range(5)] == drawn
    for one, other in combinations(ADDRESSES, 2):
        first, second = address(7, *one), address(7, *other)
        assert digest(first) != digest(second), (one, other)
        assert noise(first, 8) != noise(second, 8), (one, other)
        assert stream(7, *one).random() != stream(7, *other).random(), (one, other)
    masters = [0, 1, -1, 7, 10, 2**64, 10**63]
    assert len({digest(address(master, "deal")) for master in masters}) == len(masters)
    assert len({digest(address(master)) for master in masters}) == len(masters)


def test_streams_are_addressed_generators_of_pythons_kind() -> None:
    """They have the same numbers, state and copies, and `random` itself is left as it was."""
    for seed in (0, 1, 2**32, 2**128 - 1):
        ours, theirs = generator(seed), Random(seed)
        assert ours.getstate() == theirs.getstate()
        assert [ours.gauss(0, 1) for _ in range(3)] == [theirs.gauss(0, 1) for _ in range(3)]
        twin = copy.deepcopy(ours)
        assert ours.sample(range(99), 9) == theirs.sample(range(99), 9)
        assert twin.random() != ours.random()
    before = random.getstate()
    drawn = stream(0, "a").random()
    assert random.getstate() == before
    random.seed(5)
    assert stream(0, "a").random() == drawn
    random.setstate(before)


def test_a_shuffled_deal_holds_all_the_cards_each_anywhere() -> None:
    """In 3,000 deals a city is the first card 200 times on average; 5 sigma are 69."""
    first = sum(random_deal(stream(0, "deal", number))[0] == 10 for number in range(3000))
    assert abs(first - 200) < 69
    one, other = random_deal(Random(0)), random_deal(Random(1))
    assert sorted(one) == sorted(other)
    assert len(one) == 45
    assert one != other
    assert one == random_deal(Random(0))


class Time:
    """Stands for the computer's two clocks, in seconds: of the wall, and of the processor."""

    wall = 1000.0
    cpu = 50.0

    def work(self, seconds: float) -> None:
        self.wall += seconds
        self.cpu += seconds


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    """Return the time that every clock reads."""
    time = Time()
    monkeypatch.setattr("engine.strategy.perf_counter", lambda: time.wall)
    monkeypatch.setattr("engine.strategy.process_time", lambda: time.cpu)
    return time


def worked(seconds: float) -> Spent:
    return Spent(seconds, seconds)


def test_a_clock_counts_decisions_and_the_smaller_limit_holds() -> None:
    """None is no limit; a late decision is not counted; a decision of the whole rest is in time."""
    for decision, game, limit in (
        *((None, None, None), (2.0, None, 2.0), (None, 8.0, 8.0)),
        *((2.0, 8.0, 2.0), (8.0, 2.0, 2.0)),
    ):
        clock = Clock(decision, game)
        assert (clock.limit(), clock.left()) == (limit, limit)
    clock = Clock()
    assert clock.spend(worked(1e9))
    assert clock.spend(worked(0.5))
    assert (clock.used, clock.left()) == (1e9 + 0.5, None)
    clock = Clock(game=3.0)
    for seconds, is_in_time, used in ((1.0, True, 1.0), (2.5, False, 1.0), (2.0, True, 3.0)):
        assert clock.spend(worked(seconds)) is is_in_time
        assert clock.used == used
    assert clock.limit() == 0.0
    assert clock.spend(worked(0.0))
    assert not clock.spend(worked(0.001))
    assert (UNLIMITED.decision, UNLIMITED.game, UNLIMITED.left()) == (None, None, None)


def test_the_time_left_runs_down_in_a_decision_and_in_a_game(time: Time) -> None:
    """A decision of exactly its limit is in time; what was not started has measured nothing."""
    clock = Clock(decision=2.0)
    assert clock.stop() == (worked(0.0), True)
    clock.start()
    for seconds, left in ((0.0, 2.0), (0.5, 1.5), (1.5, 0.0)):
        time.work(seconds)
        assert clock.left() == left
    assert clock.stop() == (worked(2.0), True)
    assert (clock.limit(), clock.left()) == (2.0, 2.0)
    assert clock.stop() == (worked(0.0), True)
    clock.start()
    time.work(2.25)
    assert clock.left() == -0.25
    assert clock.stop() == (worked(2.25), False)
    clock = Clock(decision=5.0, game=8.0)
    for seconds in (3.0, 4.0):
        clock.start()
        time.work(seconds)
        assert clock.stop() == (worked(seconds), True)
        time.work(100.0)  # between decisions no time is counted
    assert clock.used == 7.0
    assert clock.limit() == clock.left() == 1.0


def test_the_processors_time_counts_and_the_walls_only_for_the_backstop(time: Time) -> None:
    """With threads, one second for three; work before a decision is charged to it."""
    clock = Clock(decision=2.0)
    clock.start()
    time.wall += 10.0
    time.cpu += 1.0
    assert clock.left() == 1.0
    assert clock.stop() == (Spent(10.0, 1.0), True)
    clock.start()
    time.wall += 1.0
    time.cpu += 3.0
    assert clock.left() == 1.0
    assert clock.stop() == (Spent(1.0, 3.0), True)
    assert clock.used == 2.0
    clock = Clock(2.0, 8.0, backstop=20.0, game_backstop=30.0)
    for seconds, left in ((20.0, 10.0), (9.0, 1.0)):
        clock.start()
        time.wall += seconds
        assert clock.stop()[1]
        assert clock.wall_limit() == left
    assert clock.used == 0.0
    assert not clock.spend(Spent(wall=1.5, cpu=0.0))
    assert not Clock(backstop=20.0).spend(Spent(wall=20.5, cpu=0.0))
    clock = Clock(decision=2.0)
    clock.start(limit=1.5)
    time.work(0.25)
    assert clock.left() == 1.25
    assert clock.spend(Spent(wall=0.25, cpu=0.25, before=1.75))
    assert not clock.spend(Spent(wall=0.25, cpu=0.25, before=2.0))
