"""Properties of every game, for deals and choices that hypothesis generates."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import STANDARD, Record, Rules, Seat, State, View
from engine.cards import cards_of, pack_of, size
from engine.view import view
from tests.positions import RULE_SETS

properties = settings(max_examples=min(60, settings.default.max_examples))  # 20 in `make test`

rule_sets = st.sampled_from([STANDARD, STANDARD, *RULE_SETS.values()])
choices = st.lists(st.integers(0, 11), min_size=48, max_size=60)
seats = st.sampled_from((0, 1))


@st.composite
def games(draw: st.DrawFn, rules: Rules | None = STANDARD) -> list[State]:
    """Draw a game as its positions, from the deal to the end; rules of None are any rules."""
    numbers = draw(rule_sets) if rules is None else rules
    deal = bytes(draw(st.permutations(numbers.deck)))
    state = State(deal, numbers)
    positions = [state.copy()]
    for choice in draw(choices):
        if state.over:
            break
        legal = state.legal()
        state.apply(legal[choice % len(legal)])
        positions.append(state.copy())
    return positions


def everything(state: State) -> bytes:
    """Return the cards of all places together, sorted."""
    hands_and_piles = b"".join(map(cards_of, (*state.hands, *state.piles)))
    return bytes(sorted(hands_and_piles + state.row + state.deck + state.removed))


@properties
@given(games(rules=None), seats)
def test_what_a_seat_sees_and_does_not_see_adds_up_to_the_deck(
    positions: list[State], seat: Seat
) -> None:
    """Hand, row, piles and unseen cards are those of R1; the unseen are the hidden ones."""
    for state in positions:
        seen = view(state, seat)
        total = seen.hand + pack_of(seen.row) + seen.piles[0] + seen.piles[1] + seen.unseen
        assert total == pack_of(state.rules.deck)
        hidden = state.hands[1 - seat] + pack_of(state.deck) + pack_of(state.removed)
        assert seen.unseen == hidden


@properties
@given(games(rules=None), seats, st.randoms(use_true_random=False), st.integers(0, 48))
def test_a_view_does_not_change_with_what_it_hides(
    positions: list[State], seat: Seat, rng: Random, ply: int
) -> None:
    """The other hand, the deck and the removed cards are shuffled together."""
    state = positions[min(ply, len(positions) - 1)]
    other = 1 - seat
    hidden = list(cards_of(state.hands[other]) + state.deck + state.removed)
    rng.shuffle(hidden)
    twin = state.copy()
    held = size(state.hands[other])
    twin.hands[other] = pack_of(hidden[:held])
    twin.deck = bytes(hidden[held : held + len(state.deck)])
    twin.removed = bytes(hidden[held + len(state.deck) :])
    assert view(twin, seat) == view(state, seat)
    assert view(twin, seat).to_text() == view(state, seat).to_text()


@properties
@given(games(rules=None))
def test_a_copy_stays_as_it_was_while_the_original_plays_on(positions: list[State]) -> None:
    """An action on the copy does not change the original."""
    state = positions[0].copy()
    for before, after in pairwise(positions):
        twin, action = state.copy(), after.history[-1]
        state.apply(action)
        assert twin == before
        assert all(getattr(twin, name) == getattr(before, name) for name in State.__slots__)
        twin.apply(action)
        assert twin == state == after


@properties
@given(games(rules=None))
def test_a_position_round_trips_through_its_text(positions: list[State]) -> None:
    """`from_text` reverses `to_text`, and `repr` is Python that gives the position back."""
    for state in positions[::7] + positions[-1:]:
        again = State.from_text(state.to_text(), state.rules)
        assert again == state
        assert again.legal() == state.legal()
        assert (again.hands, again.row, again.piles) == (state.hands, state.row, state.piles)
        assert eval(repr(state)) == state


@properties
@given(games(rules=None), seats)
def test_a_view_round_trips_through_its_text(positions: list[State], seat: Seat) -> None:
    """What is hidden is not in the text, and the rest follows from it."""
    for state in positions[::7] + positions[-1:]:
        seen = view(state, seat)
        again = View.from_text(seen.to_text(), state.rules)
        assert again == seen
        assert hash(again) == hash(seen)
        assert eval(repr(seen)) == seen


@properties
@given(games(rules=None))
def test_a_record_round_trips_through_json(positions: list[State]) -> None:
    """The line gives the record back, and its replay the last position."""
    state = positions[-1]
    record = Record.of(state.deal(), state)
    again = Record.from_json(record.to_json())
    assert again == record
    assert again.replay() == state


@properties
@given(games(rules=None), seats)
def test_a_view_says_what_the_state_says(positions: list[State], seat: Seat) -> None:
    """Round, turn, end and the number of the opponent's cards can be read from the view."""
    for state in positions:
        seen = view(state, seat)
        assert seen.over == state.over
        assert seen.to_act == (None if state.over else state.to_act)
        assert seen.legal == (state.legal() if seen.to_act == seat else ())
        assert seen.round == state.round
        assert seen.opponent_cards == size(state.hands[1 - seat])


@properties
@given(games(), seats)
def test_views_are_hashable_and_immutable(positions: list[State], seat: Seat) -> None:
    """A view taken before an action is the same after it, and no field can be set."""
    state = positions[0].copy()
    for after in positions[1:]:
        seen = view(state, seat)
        fields, key = tuple(seen), hash(seen)
        state.apply(after.history[-1])
        assert tuple(seen) == fields
        assert hash(seen) == key
        assert view(state, seat) != seen
    for name in View._fields:
        with pytest.raises(AttributeError):
            setattr(seen, name, None)
        hash(getattr(seen, name))
    with pytest.raises(AttributeError):
        seen.rules.set_bonus = 0  # type: ignore[misc]
