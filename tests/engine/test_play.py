"""The referee's loop and what strategies think; properties of every game."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from itertools import pairwise, repeat
from math import nan
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots.uniform import bot
from engine import STANDARD, Action, IllegalAction, Record, Rules, Seat, Setup
from engine.cards import pack_of, shuffled, size
from engine.play import Draw, draw, play, play_game, playout, setup
from engine.seeds import address, noise
from engine.state import State, checked, random_deal
from engine.thoughts import Thinker, Thought, checked_thoughts, said_thoughts
from engine.view import View, view
from tests.positions import RULE_SETS


class Recorder:
    """Plays the first legal action, and keeps its setup and its views."""

    made: list[Any] = []  # noqa: RUF012

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.views: list[View] = []
        self.made.append(self)

    def choose(self, view: View, /) -> Action:
        self.views.append(view)
        return view.legal[0]


def drawn(seed: int, pair: int) -> Draw:
    return draw(address(seed, "deal", "a", "b", pair))


def test_the_deal_and_both_seats_have_luck_of_their_own_by_their_address() -> None:
    """Seeds of 128 bits; another pair or seed has another deal and other luck."""
    one, other_pair, other_seed = drawn(1, 0), drawn(1, 1), drawn(2, 0)
    assert one == drawn(1, 0)
    assert len({one.deal, other_pair.deal, other_seed.deal}) == 3
    assert len({*one.lucks, *other_pair.lucks, *other_seed.lucks}) == 6
    assert max(one.lucks) >= 2**120
    assert setup(one.lucks[0], 0).rng.random() == Random(one.lucks[0]).random()
    assert f"{one.lucks[0]:b}"[:40] not in f"{int.from_bytes(one.deal):b}"
    where = address(1, "deal")
    rules = Rules(copies=(9, 9, 9, 0, 0, 1, 1, 1, 6, 4, 5))
    assert sorted(draw(where, rules).deal) == sorted(rules.deck)
    assert draw(where, rules).lucks == draw(where).lucks
    luck = noise(where, 16 + 16 + 8 * 45)
    assert draw(where).lucks == (int.from_bytes(luck[:16]), int.from_bytes(luck[16:32]))
    assert draw(where).deal == shuffled(STANDARD.deck, luck[32:])


def test_a_game_is_that_of_its_seed_and_rules_and_each_seat_is_asked_with_its_own_view() -> None:
    """Seed 0 is one; a record replays under its rules; each seat gets 24 views in a whole game."""
    assert play_game(bot, bot, seed=0) == play_game(bot, bot, seed=0)
    assert play_game(bot, bot, seed=0).record != play_game(bot, bot, seed=1).record
    rules = Rules(take_size=4, set_bonus=3)
    game = play_game(bot, bot, seed=5, rules=rules)
    assert game.record.rules == game.record.replay().rules == rules
    Recorder.made.clear()
    game = play_game(Recorder, Recorder, seed=0)
    assert len(game.record.actions) == 48
    for seat, player in enumerate(Recorder.made):
        own = player.setup
        assert (own.seat, own.rules, own.clock.decision) == (seat, STANDARD, None)
        assert len(player.views) == 24
        assert all((seen.seat, seen.to_act) == (seat, seat) for seen in player.views)
        assert all(seen.legal for seen in player.views)


def test_an_illegal_action_stops_the_game_at_the_guilty_seat() -> None:
    """The state is the one before that action."""

    class Cheat(Recorder):
        def choose(self, view: View, /) -> Action:
            return 11 if len(view.history) < 5 else 77

    state = State(random_deal(Random(0)))
    players = [Recorder(setup(0, 0)), Cheat(setup(1, 1))]
    with pytest.raises(IllegalAction, match="illegal action") as caught:
        play(state, players)
    assert state.to_act == 1
    assert len(state.history) == caught.value.ply


class Replaying:
    """Plays recorded actions, and compares views with those of a state that `apply` brings on."""

    def __init__(self, actions: bytes, state: State) -> None:
        self.actions = actions
        self.state = state

    def choose(self, seen: View, /) -> Action:
        assert seen == view(self.state, self.state.to_act)
        assert seen.legal == self.state.legal()
        if len(seen.history) == len(self.actions):
            raise ZeroDivisionError
        action = self.actions[len(seen.history)]
        self.state.apply(action)
        return action


class Counting(State):
    """Counts the actions that are applied."""

    __slots__ = ("applied",)

    def apply(self, action: Action) -> None:
        super().apply(action)
        self.applied = len(self.history)


def compare(kind: type[State], deal: bytes, actions: bytes, rules: Rules = STANDARD) -> None:
    """Play a record by `play` and by `State.apply` alone: both give the same state."""
    own = kind(deal, rules)
    other = own.copy()
    both = Replaying(actions, other)
    try:
        play(own, [both, both])
    except ZeroDivisionError:
        assert not other.over
    assert [getattr(own, name) for name in State.__slots__] == [
        getattr(other, name) for name in State.__slots__
    ]
    if isinstance(own, Counting) and actions:
        assert own.applied == len(own.history)


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_the_referee_plays_as_the_state_does(rules: Rules) -> None:
    """View by view, to the end or to a fault at any ply."""
    rng = Random(3)
    for cut in range(20):
        deal = random_deal(rng, rules)
        playout(state := State(deal, rules), rng)
        for kind in (State, Counting):
            compare(kind, deal, state.history, rules)
            compare(kind, deal, state.history[: 2 * cut], rules)


async def _coroutine() -> int:
    return 0


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: "5", "'5' (a text: return an int)"),
        (_coroutine, "(a coroutine: `choose` must not be async)"),
        (lambda: (n for n in (0,)), "(a generator: `choose` must return an int, not yield it)"),
        (lambda: None, "None"),
    ],
)
def test_an_action_of_another_type_has_a_hint(make: Callable[[], Any], says: str) -> None:
    """No address of an object is in it, so that it is the same in every process."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(IllegalAction) as caught:
            checked(make(), (0, 1), 3)
    assert str(caught.value) == f"illegal action {says}; legal: 5 6"


@pytest.mark.parametrize(("number", "index"), [(0.0, 0), (1 - 2**-53, -1)])
def test_a_playout_chooses_among_all_legal_actions(number: float, index: int) -> None:
    """The smallest random number stands for the first one, the largest for the last."""

    class Constant(Random):
        def random(self) -> float:
            return number

    state = State(random_deal(Random(4)))
    expected = state.copy()
    playout(state, Constant())
    while not expected.over:
        expected.apply(expected.legal()[index])
    assert state.history == expected.history


SEEN = View.from_text("0 5678C xy")


class Silent:
    def choose(self, view: View, /) -> Action:
        return view.legal[0]


class Says(Silent):
    def __init__(self, said: Any) -> None:
        self.said = said

    def thoughts(self) -> Iterable[Thought]:
        said: Iterable[Thought] = self.said
        return said


def test_thoughts_are_said_in_any_form_and_kept_in_one() -> None:
    """Of a list, a generator or plain tuples; who has no such method has nothing to say."""
    wanted = (Thought(0, 0.0), Thought(10, 1.0, 5))
    for said in ([*wanted], (one for one in wanted), [(10, 1.0, 5), (0, 0.0)]):
        assert said_thoughts(Says(said), SEEN) == wanted
    noted = (Thought(0, 0.5, note="812 tokens, 1.4 s"),)
    assert said_thoughts(Says(noted), SEEN) == noted
    assert said_thoughts(Says([]), SEEN) == ()
    assert isinstance(Says([]), Thinker)
    assert not isinstance(Silent(), Thinker)
    assert said_thoughts(Silent(), SEEN) is None


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        ([Thought(4, 0.5)], IllegalAction, "illegal action 4 (2); legal: 5 6 7 8 C T"),
        ([Thought(True, 0.5)], IllegalAction, "illegal action True"),
        ([(0, 0.5), (0, 0.5)], ValueError, "names action 0 twice at ply 0"),
        (repeat(Thought(0, 0.5)), ValueError, "names action 0 twice"),
        ([(0, 1.25)], ValueError, "has the value 1.25 at ply 0: not 0 to 1"),
        ([(0, -0.25)], ValueError, "has the value -0.25 at ply 0: not 0 to 1"),
        ([(0, nan)], ValueError, "has the value nan"),
        ([(0, 10**400)], TypeError, "in place of an action, a value and visits"),
        ([(0, 0.5, -1)], ValueError, "has -1 visits at ply 0"),
        ([(0, 0.5, 2.5)], ValueError, "has 2.5 visits"),
        ([(0, 0.5, 1 << 60)], ValueError, "visits"),
        ([(0, 0.5, None, "x" * 201)], ValueError, "not a line of text"),
        ([(0, 0.5, None, "two\nlines")], ValueError, r"the note 'two\nlines' at ply 0"),
        ([(0, 0.5, None, 7)], ValueError, "has the note 7 at ply 0: not a line of text"),
        ([0], TypeError, "`thoughts` has 0 in place of"),
        ([(0, None)], TypeError, "in place of"),
        (None, TypeError, "not iterable"),
    ],
)
def test_what_is_no_thought_is_refused(said: Any, kind: type[Exception], message: str) -> None:
    """In one line that names it; an endless one, too."""
    with pytest.raises(kind) as refused:
        checked_thoughts(said, SEEN)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


properties = settings(max_examples=min(60, settings.default.max_examples))  # 20 in `make test`

rule_sets = st.sampled_from([STANDARD, STANDARD, *RULE_SETS.values()])
choices = st.lists(st.integers(0, 11), min_size=48, max_size=60)
seats = st.sampled_from((0, 1))


@st.composite
def games(draw: st.DrawFn) -> list[State]:
    """Draw a game as its positions, from the deal to the end."""
    numbers = draw(rule_sets)
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


@properties
@given(games(), seats)
def test_a_view_says_what_its_seat_knows_and_is_read_back(
    positions: list[State], seat: Seat
) -> None:
    """Hand, row, piles and unseen cards are those of R1; so is each position, and the record."""
    for number, state in enumerate(positions):
        seen = view(state, seat)
        total = seen.hand + pack_of(seen.row) + seen.piles[0] + seen.piles[1] + seen.unseen
        assert total == pack_of(state.rules.deck)
        hidden = state.hands[1 - seat] + pack_of(state.deck) + pack_of(state.removed)
        assert seen.unseen == hidden
        assert (seen.over, seen.round) == (state.over, state.round)
        assert seen.to_act == (None if state.over else state.to_act)
        assert seen.legal == (state.legal() if seen.to_act == seat else ())
        assert seen.opponent_cards == size(state.hands[1 - seat])
        if number % 7 == 0 or state.over:
            again = View.from_text(seen.to_text(), state.rules)
            assert again == seen == eval(repr(seen))
            assert hash(again) == hash(seen)
            twin = State.from_text(state.to_text(), state.rules)
            assert twin == state == eval(repr(state))
            assert (twin.legal(), twin.hands, twin.row) == (state.legal(), state.hands, state.row)
    record = Record.of(state.deal(), state)
    assert Record.from_json(record.to_json()) == record
    assert record.replay() == state


@properties
@given(games(), seats)
def test_copies_and_views_stay_as_they_were_while_the_original_plays_on(
    positions: list[State], seat: Seat
) -> None:
    """An action on the copy does not change the original, and no field of a view can be set."""
    state = positions[0].copy()
    for before, after in pairwise(positions):
        twin, action = state.copy(), after.history[-1]
        seen = view(state, seat)
        fields, key = tuple(seen), hash(seen)
        state.apply(action)
        assert (tuple(seen), hash(seen)) == (fields, key)
        assert view(state, seat) != seen
        assert twin == before
        assert all(getattr(twin, name) == getattr(before, name) for name in State.__slots__)
        twin.apply(action)
        assert twin == state == after
    for name in View._fields:
        with pytest.raises(AttributeError):
            setattr(seen, name, None)
        hash(getattr(seen, name))
    with pytest.raises(AttributeError):
        seen.rules.set_bonus = 0  # type: ignore[misc]
