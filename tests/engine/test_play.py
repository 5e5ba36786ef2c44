"""The referee's loop: setups, checks, and where each game's luck comes from."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from bots.uniform import bot
from engine import STANDARD, Action, IllegalAction, Rules, Setup, State, View, play_game
from engine.notation import parse_actions
from engine.play import Draw, draw, play, playout, setup
from engine.seeds import address
from engine.state import checked, random_deal
from engine.view import view
from tests.bots import golden
from tests.positions import RULE_SETS


class Recorder:
    """Plays the first legal action, and keeps its setup and its views."""

    made: list[Recorder] = []  # noqa: RUF012

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.views: list[View] = []
        self.made.append(self)

    def choose(self, view: View, /) -> Action:
        """Return the first legal action."""
        self.views.append(view)
        return view.legal[0]


def drawn(seed: int, pair: int) -> Draw:
    return draw(address(seed, "deal", "a", "b", pair))


def test_both_seats_and_the_deal_have_luck_of_their_own() -> None:
    """Two seats, two seeds of 128 bits; the generator of a seat is that of its seed."""
    first, second = drawn(1, 0).lucks
    assert first != second
    assert max(first, second) >= 2**120
    assert setup(first, 0).rng.random() == Random(first).random()
    bits = f"{int.from_bytes(drawn(1, 0).deal):b}"
    assert f"{first:b}"[:40] not in bits


def test_a_seats_luck_is_that_of_its_deal() -> None:
    """Another pair or seed has another deal and other luck; the same address has the same."""
    same, other_pair, other_seed = drawn(1, 0), drawn(1, 1), drawn(2, 0)
    assert drawn(1, 0) == same
    assert len({same.deal, other_pair.deal, other_seed.deal}) == 3
    assert len({*same.lucks, *other_pair.lucks, *other_seed.lucks}) == 6


def test_other_rules_deal_other_cards_with_the_same_luck() -> None:
    """A variant's deal has all of its own cards; the seats' seeds do not depend on it."""
    where = address(1, "deal")
    rules = Rules(copies=(9, 9, 9, 0, 0, 1, 1, 1, 6, 4, 5))
    assert sorted(draw(where, rules).deal) == sorted(rules.deck)
    assert draw(where, rules).lucks == draw(where).lucks


def test_each_seat_is_asked_in_turn_with_its_own_view() -> None:
    """Each seat gets 24 views of its own in a whole game, each with legal actions."""
    Recorder.made.clear()
    game = play_game(Recorder, Recorder, seed=0)
    assert len(game.record.actions) == 48
    for seat, player in enumerate(Recorder.made):
        assert player.setup.seat == seat
        assert player.setup.rules == STANDARD
        assert player.setup.clock.decision is None
        assert len(player.views) == 24
        assert {seen.seat for seen in player.views} == {seat}
        assert all(seen.legal and seen.to_act == seat for seen in player.views)


def test_zero_is_a_seed() -> None:
    """Seed 0 is not treated as no seed."""
    assert play_game(bot, bot, seed=0) == play_game(bot, bot, seed=0)
    assert play_game(bot, bot, seed=0).record != play_game(bot, bot, seed=1).record


def test_a_game_under_other_rules_carries_them() -> None:
    """Its record says so, and replays under them."""
    rules = Rules(take_size=4, set_bonus=3)
    game = play_game(bot, bot, seed=5, rules=rules)
    assert game.record.rules == rules
    assert game.record.replay().rules == rules


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
    """Plays recorded actions, and compares each view with that of a state of its own.

    That state is one which `State.apply` brings on, action by action.
    """

    def __init__(self, actions: bytes, state: State) -> None:
        self.actions = actions
        self.state = state

    def choose(self, seen: View, /) -> Action:
        """Return the next action of the record."""
        assert seen == view(self.state, self.state.to_act)
        assert seen.legal == self.state.legal()
        if len(seen.history) == len(self.actions):
            raise ZeroDivisionError
        action = self.actions[len(seen.history)]
        self.state.apply(action)
        return action


def replay(deal: bytes, actions: bytes, rules: Rules = STANDARD) -> None:
    """Play a record by `play` and by `State.apply` alone: both give the same state."""
    for kind in (State, Counting):
        compare(kind(deal, rules), actions)


class Counting(State):
    """Counts the actions that are applied."""

    __slots__ = ("applied",)

    def apply(self, action: Action) -> None:
        """Carry out an action."""
        super().apply(action)
        self.applied = len(self.history)


def compare(own: State, actions: bytes) -> None:
    """Play a record in a state, and compare the state after it with that of `State.apply`."""
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


def test_the_referee_plays_the_golden_games_as_the_state_does() -> None:
    """View by view, also where a strategy fails at any ply."""
    for (name, seed), actions in golden.read().items():
        deal = draw(address(seed, "deal")).deal
        replay(deal, parse_actions(actions))
        replay(deal, parse_actions(actions)[: (len(name) * 7 + seed * 5) % 40])


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_it_does_so_under_other_rules(rules: Rules) -> None:
    """Whole games, and games that end by a fault."""
    rng = Random(3)
    for cut in range(20):
        deal = random_deal(rng, rules)
        state = State(deal, rules)
        playout(state, rng)
        replay(deal, state.history, rules)
        replay(deal, state.history[:cut], rules)


def test_a_playout_ends_the_game_with_legal_actions() -> None:
    """The end can be written and read as text."""
    rng = Random(1)
    for _ in range(200):
        state = State(random_deal(rng))
        playout(state, rng)
        assert state.over
        assert State.from_text(state.to_text()) == state


async def _coroutine() -> int:
    return 0


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: "5", "illegal action '5' (a text: return an int); legal: 5 6"),
        (
            _coroutine,
            "illegal action (a coroutine: `choose` must not be async); legal: 5 6",
        ),
        (
            lambda: (number for number in (0,)),
            "illegal action (a generator: `choose` must return an int, not yield it); legal: 5 6",
        ),
        (lambda: None, "illegal action None; legal: 5 6"),
    ],
)
def test_an_action_of_another_type_has_a_hint(make: Callable[[], Any], says: str) -> None:
    """No address of an object is in it, so that it is the same in every process."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(IllegalAction) as caught:
            checked(make(), (0, 1), 3)
    assert str(caught.value) == says
