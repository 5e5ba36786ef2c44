"""Properties of every game, for deals and choices that hypothesis generates."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import STANDARD, TAKE, Record, Rules, Seat, State, View
from engine.cards import cards_of, pack_of, size, to_text
from engine.scoring import city_winner
from engine.view import view
from tests.positions import DECK, RULE_SETS, at, dealt, quiet_game

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
@given(games(rules=None))
def test_every_card_is_in_exactly_one_place_at_every_ply(positions: list[State]) -> None:
    """Deck, removed, hands, row and piles add up to the deck of the rules."""
    for state in positions:
        assert everything(state) == state.rules.deck


@properties
@given(games())
def test_a_game_without_a_city_win_has_exactly_48_actions(positions: list[State]) -> None:
    """4 rounds x (5 plays + 1 take) x 2 players; only a city win ends it sooner."""
    for state in positions:
        won = city_winner(state.piles) is not None
        assert state.over == (won or len(state.history) == 48)
    last = positions[-1]
    assert last.over
    if city_winner(last.piles) is None:
        assert last.history.count(TAKE) == 8
        assert size(last.piles[0] + last.piles[1]) + len(last.row) == 42


@properties
@given(games())
def test_the_row_holds_at_least_two_cards_at_the_end_of_each_round(
    positions: list[State],
) -> None:
    """Two takes move ten cards at most, and ten were played."""
    for state in positions:
        if len(state.history) % 12 == 0:
            assert len(state.row) >= 2


@properties
@given(games())
def test_a_forced_take_finds_at_least_five_cards(positions: list[State]) -> None:
    """In fact six: 2 in the row, 5 own plays and 4 of the opponent's, less one take of 5."""
    for state in positions:
        if not state.over and not state.hands[state.to_act]:
            assert state.legal() == (TAKE,)
            assert len(state.row) >= 6


@properties
@given(games(rules=None))
def test_a_player_who_may_act_always_has_an_action(positions: list[State]) -> None:
    """The legal list is empty only at the end of the game."""
    for state in positions:
        assert bool(state.legal()) is not state.over


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
@given(games(), seats)
def test_in_round_4_only_the_other_hand_and_the_removed_are_unseen(
    positions: list[State], seat: Seat
) -> None:
    """The deck is empty then."""
    for state in positions:
        if state.round == 4:
            seen = view(state, seat)
            assert seen.unseen == state.hands[1 - seat] + pack_of(state.removed)
            assert size(seen.unseen) == seen.opponent_cards + 3


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
    with pytest.raises(FrozenInstanceError):
        seen.rules.set_bonus = 0  # type: ignore[misc]


def test_a_view_stays_in_the_round_that_a_city_win_ended() -> None:
    """The twelfth action wins by city: the round is still 1, and both hands are empty."""
    deal = dealt("CC566", "C5677", "88")
    state = at(deal, quiet_game(deal, 1))
    assert state.over
    assert state.round == 1
    assert [view(state, seat).opponent_cards for seat in (0, 1)] == [0, 0]
    assert [view(state, seat).round for seat in (0, 1)] == [1, 1]


def test_the_deck_of_the_tests_is_the_deck_of_the_rules() -> None:
    """The deals made by hand use the published 45 cards."""
    assert to_text(STANDARD.deck) == DECK
