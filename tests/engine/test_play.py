"""The referee's loop: setups, checks, and where each game's luck comes from."""

from __future__ import annotations

from random import Random

import pytest

from bots.uniform import bot
from engine import STANDARD, Action, IllegalAction, Rules, Setup, State, View, play_game
from engine.play import deal_at, play, playout, setup
from engine.state import random_deal

ADDRESS = ("deal", "a", "b", 0)


class Recorder:
    """Plays the first legal action, and keeps what it was given."""

    made: list[Recorder] = []  # noqa: RUF012

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.views: list[View] = []
        self.made.append(self)

    def choose(self, view: View, /) -> Action:
        """Return the first legal action."""
        self.views.append(view)
        return view.legal[0]


def test_the_seats_of_a_game_and_its_deal_have_luck_of_their_own() -> None:
    """Three addresses, three generators; the bots' names are in none of them."""

    def draws(seed: int, seat: int) -> list[float]:
        rng = setup(seed, ADDRESS, seat).rng
        return [rng.random() for _ in range(5)]

    assert draws(1, 0) == draws(1, 0)
    assert not set(draws(1, 0)) & set(draws(1, 1))
    assert not set(draws(1, 0)) & set(draws(2, 0))


def test_a_seats_luck_is_that_of_its_deal() -> None:
    """Another pair, another deal and other luck; the same pair, the same of both."""
    other = ("deal", "a", "b", 1)
    assert deal_at(1, ADDRESS) == deal_at(1, ADDRESS) != deal_at(1, other)
    assert setup(1, other, 0).rng.random() != setup(1, ADDRESS, 0).rng.random()


def test_each_seat_is_asked_in_turn_with_its_own_view() -> None:
    """24 views each in a whole game, every one of them the asked seat's, and all legal."""
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
    """Seed 0 is not taken for no seed."""
    assert play_game(bot, bot, seed=0) == play_game(bot, bot, seed=0)
    assert play_game(bot, bot, seed=0).record != play_game(bot, bot, seed=1).record


def test_a_game_under_other_rules_carries_them() -> None:
    """Its record says so, and replays under them."""
    rules = Rules(take_size=4, set_bonus=3)
    game = play_game(bot, bot, seed=5, rules=rules)
    assert game.record.rules == rules
    assert game.record.replay().rules == rules


def test_an_illegal_action_stops_the_game_at_the_guilty_seat() -> None:
    """The state stays as it was before it."""

    class Cheat(Recorder):
        def choose(self, view: View, /) -> Action:
            return 11 if len(view.history) < 5 else 77

    state = State(random_deal(Random(0)))
    players = [Recorder(setup(0, ADDRESS, 0)), Cheat(setup(0, ADDRESS, 1))]
    with pytest.raises(IllegalAction, match="illegal action") as caught:
        play(state, players)
    assert state.to_act == 1
    assert len(state.history) == caught.value.ply


def test_a_playout_ends_the_game_with_legal_actions() -> None:
    """From any position; the record of it replays."""
    rng = Random(1)
    for _ in range(200):
        state = State(random_deal(rng))
        playout(state, rng)
        assert state.over
        assert State.from_text(state.to_text()) == state
