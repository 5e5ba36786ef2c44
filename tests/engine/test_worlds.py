"""Worlds and hands that a view allows: uniform, counted, and independent of what is hidden."""

from __future__ import annotations

from collections import Counter
from math import comb
from random import Random

import pytest
import scipy

from engine import STANDARD, TAKE, Rules, State
from engine.cards import CITY, KINDS, cards_of, count, counts, pack_of, size
from engine.play import draw, setup
from engine.seeds import address
from engine.view import View, view
from engine.worlds import hands, sample, sample_hand
from tests.positions import RULE_SETS, at, dealt, pack, quiet_game, walk

DRAWS = 20_000
LEAST_P = 1e-4


def positions(games: int, rules: Rules = STANDARD, seed: int = 0) -> list[State]:
    """Return every position of some random games, the ends included."""
    rng = Random(seed)
    return [state.copy() for _ in range(games) for state in walk(rng, rules)]


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_a_world_looks_like_the_view_it_was_drawn_from(rules: Rules) -> None:
    """view(sample(v)) == v, from either seat, at every ply and after the end."""
    rng = Random(1)
    for state in positions(60 if rules == STANDARD else 8, rules):
        for seat in (0, 1):
            seen = view(state, seat)
            world = sample(seen, rng)
            assert view(world, seat) == seen
            assert world.over == state.over
            assert world.to_act == state.to_act or state.over
            assert len(world.deck) == len(state.deck)
            assert len(world.removed) == len(state.removed)


def test_equal_views_and_seeds_give_equal_worlds() -> None:
    """Two States that differ only in hidden cards give the same worlds."""
    for number, state in enumerate(positions(30)):
        twin = state.copy()
        hidden = twin.deck + twin.removed
        shuffled_hidden = bytes(Random(number).sample(hidden, len(hidden)))
        twin.deck = shuffled_hidden[: len(twin.deck)]
        twin.removed = shuffled_hidden[len(twin.deck) :]
        seen, same = view(state, 0), view(twin, 0)
        assert seen == same
        assert hash(seen) == hash(same)
        first, second = (sample(v, Random(number)) for v in (seen, same))
        assert first == second
        assert (first.deck, first.removed) == (second.deck, second.removed)
        assert sample_hand(seen, Random(number)) == sample_hand(same, Random(number))


def hidden_position() -> tuple[State, View]:
    """Return a position of round 2 with 25 unseen cards of all kinds."""
    state = next(state for state in walk(Random(8)) if len(state.history) == 19)
    return state, view(state, state.to_act)


def p_value(seen: list[tuple[int, ...]], cards: int, unseen: tuple[int, ...]) -> float:
    """Return the p-value of these counts, if each unseen card is equally likely.

    `seen` holds for every draw the count of each kind among `cards` cards. The count of a
    kind has the hypergeometric distribution; the kinds' tables are joined into one.
    """
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


def test_the_unseen_cards_are_those_that_may_be_in_a_worlds_hand() -> None:
    """Also one that is removed; counted by hand, after the row CC, an 8 and a 5."""
    state, seen = hidden_position()
    rng = Random(5)
    in_hand = Counter[int]()
    for _ in range(2000):
        in_hand.update(cards_of(sample(seen, rng).hands[seen.opponent]))
    assert set(in_hand) == set(cards_of(seen.unseen))
    assert set(state.removed) <= set(in_hand)
    state = at(dealt("55678", "8234x", "CC", removed="C"), "58")
    seen = view(state, 0)
    left = {CITY: 1, 0: 3, 1: 5, 2: 6, 3: 6}
    for kind, number in left.items():
        assert count(seen.unseen, kind) == number
    assert sum(counts(seen.unseen)) == 45 - 4 - 4


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
    for state in positions(5):
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


@pytest.mark.parametrize(
    ("plies", "expected"),
    [
        (46, {"": 1}),
        (44, {"z": 1, "C": 3}),
        (42, {"zz": 1, "zC": 2 * 3, "CC": 3}),
        (40, {"yzz": 1, "yzC": 2 * 3, "yCC": 3, "zzC": 3, "zCC": 2 * 3, "CCC": 1}),
    ],
)
def test_every_hand_comes_with_the_number_of_its_deals(
    plies: int, expected: dict[str, int]
) -> None:
    """Seat 1 plays y y y z z in this order; seat 0 does not see them, nor the cities."""
    seen = view(at(DEAL, quiet_game(DEAL)[:plies]), 0)
    possible = list(hands(seen))
    assert len(possible) == len(expected)
    assert dict(possible) == {pack(cards): ways for cards, ways in expected.items()}


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
