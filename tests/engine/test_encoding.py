"""Encoding: bits say what the view says, tell positions apart, and leak nothing."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from engine import KINDS, STANDARD, TAKE, Rules, State, View, counts, points, sample
from engine.cards import UNIT, pack_of
from engine.encoding import ACTIONS, CITIES, NEWEST, WORTHS, Encoder, encoder_of, mask, worths
from engine.errors import RulesError
from engine.state import random_deal
from engine.view import view
from tests.positions import RULE_SETS
from tests.tiers import few

rule_sets = pytest.mark.parametrize("rules", few(RULE_SETS.values(), 5), ids=RULE_SETS)


def games(rules: Rules, number: int, seed: int = 4) -> Iterator[list[State]]:
    """Yield the positions of random games, each from the deal to the end."""
    rng = Random(seed)
    for _ in range(number):
        state = State(random_deal(rng, rules), rules)
        positions = [state.copy()]
        while not state.over:
            state.apply(rng.choice(state.legal()))
            positions.append(state.copy())
        yield positions


def fields(rules: Rules, bits: bytearray) -> dict[str, list[int]]:
    """Return the bits of each field."""
    encoder = encoder_of(rules)
    known = (*encoder.fields, *encoder.history_fields)
    return {one.name: [*bits[one.start : one.start + one.size]] for one in known}


def counted(rules: Rules, bits: list[int]) -> list[int]:
    """Return the count of each kind from a thermometer; all that is set comes first."""
    found, start = [], 0
    for copies in rules.copies:
        part = bits[start : start + copies]
        assert part == sorted(part, reverse=True)
        found.append(sum(part))
        start += copies
    return found


def one_hot(bits: list[int], size: int) -> list[int | None]:
    """Return the place that is set in each group of so many bits, None where none is."""
    groups = [bits[start : start + size] for start in range(0, len(bits), size)]
    assert all(sum(group) <= 1 for group in groups)
    return [group.index(1) if any(group) else None for group in groups]


@rule_sets
def test_every_field_says_what_the_view_says(rules: Rules) -> None:
    """Read back field by field, for both seats, also after the end."""
    for positions in games(rules, 6):
        for state in positions:
            for seat in (0, 1):
                check_fields(rules, view(state, seat), state)


def check_fields(rules: Rules, seen: View, state: State) -> None:
    said = fields(rules, encoder_of(rules).information_state(seen))
    own, other = seen.seat, seen.opponent
    packs = {
        "hand": seen.hand,
        "own pile": seen.piles[own],
        "other pile": seen.piles[other],
        "row": pack_of(seen.row),
        "unseen": seen.unseen,
    }
    for name, pack in packs.items():
        assert counted(rules, said[name]) == [*counts(pack)], name
    newest = [*reversed(seen.row)][:NEWEST]
    assert one_hot(said["newest"], len(KINDS)) == newest + [None] * (NEWEST - len(newest))
    assert one_hot(said["round"], rules.rounds) == [seen.round - 1]
    assert said["seat"] == [own]
    assert said["taken"] == [seen.taken[own], seen.taken[other]]
    held = [sum(counts(state.hands[seat])) for seat in (own, other)]
    assert one_hot(said["own cards"], rules.hand_size + 1) == [held[0]]
    assert one_hot(said["other cards"], rules.hand_size + 1) == [held[1]]
    assert one_hot(said["opening row"], len(KINDS)) == [*seen.opening]
    unplayed = [None] * (rules.game_plies - len(seen.history))
    assert one_hot(said["history"], ACTIONS) == [*seen.history, *unplayed]


@rule_sets
def test_cards_that_are_not_seen_change_nothing(rules: Rules) -> None:
    """All worlds that fit a view have its bits."""
    rng = Random(8)
    encoder = encoder_of(rules)
    for positions in games(rules, 4):
        for state in positions[:-1]:
            seen = view(state, state.to_act)
            other = view(sample(seen, rng), seen.seat)
            assert encoder.information_state(seen) == encoder.information_state(other)
            assert worths(seen) == worths(other)


@rule_sets
def test_two_views_of_a_game_differ(rules: Rules) -> None:
    """No two plies of a game, and no two seats, have the same observation."""
    encoder = encoder_of(rules)
    for positions in games(rules, 6):
        told = [bytes(encoder.observation(view(one, seat))) for one in positions for seat in (0, 1)]
        assert len({*told}) == 2 * len(positions)


@rule_sets
def test_the_mask_has_the_legal_actions(rules: Rules) -> None:
    """One byte for each of the 12 actions; none when it is not the seat's turn."""
    for positions in games(rules, 3):
        for state in positions:
            for seat in (0, 1):
                seen = view(state, seat)
                assert [*mask(seen)] == [action in seen.legal for action in range(ACTIONS)]


@rule_sets
def test_worths_are_leads_after_takes(rules: Rules) -> None:
    """Played out on piles by the rules' own points."""

    def lead(own: int, other: int) -> int:
        won = [pile >= rules.city_pack for pile in (own, other)]
        first, second = points((own, other), rules)
        return CITIES * (won[0] - won[1]) if any(won) else first - second

    for positions in games(rules, 3):
        for state in positions[:-1]:
            seen = view(state, state.to_act)
            own, other = seen.piles[seen.seat], seen.piles[seen.opponent]
            expected = [lead(own, other)]
            for played in (b"", *(bytes((kind,)) for kind in KINDS)):
                taken = sum(UNIT[card] for card in (seen.row + played)[-rules.take_size :])
                expected += [lead(own + taken, other), lead(own, other + taken)]
            assert worths(seen) == expected
            assert len(expected) == WORTHS


def test_a_view_of_other_rules_is_refused() -> None:
    """The message has both."""
    other = Rules(take_size=4)
    seen = view(State(random_deal(Random(1), other), other), 0)
    with pytest.raises(RulesError, match=r"a view of Rules\(take_size=4\); .* for Rules\(\)"):
        Encoder(STANDARD).observation(seen)


def test_a_position_by_hand() -> None:
    """Seat 1 after seat 0 has taken the opening row, and has played nothing."""
    seen = View.from_text("1 5678C xy T")
    said = fields(STANDARD, encoder_of(STANDARD).information_state(seen))
    assert counted(STANDARD, said["other pile"]) == [0] * 7 + [1, 1, 0, 0]
    assert counted(STANDARD, said["row"]) == [0] * 11
    assert said["taken"] == [0, 1]
    assert one_hot(said["own cards"], 6) == one_hot(said["other cards"], 6) == [5]
    assert one_hot(said["history"], ACTIONS)[:2] == [TAKE, None]
    assert worths(seen)[0] == 3  # betrayals of 1 and 2 are in the other pile
