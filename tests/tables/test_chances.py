"""The chance to win at every ply of many games is what `champion` says of each position."""

from __future__ import annotations

from random import Random

import pytest

from arena.tables.replayed_games import chances_of
from arena.tables.run_games import read_batches
from bots.champion import Champion
from engine import STANDARD, Rules, Setup, State, Valuer
from engine.view import view
from tests.positions import at, dealt
from tests.tables.games import play, rows_of, tournament

DEAL = dealt("5678C", "824xz", "CC", removed="y23")


def champion(rules: Rules = STANDARD) -> Champion:
    return Champion(Setup(Random(0), 0, rules))


@pytest.mark.slow
def test_they_are_those_of_the_bot() -> None:
    """On some 4,500 positions of random games, to 1e-9, also at the end, and in forfeited games."""
    cup = tournament(bots=3, pairs=16)
    games = [*play(cup, forfeits=True)]
    (batch,) = read_batches(cup, rows_of(games))
    found, bot = chances_of(batch), champion()
    positions = 0
    for number, game in enumerate(games):
        for ply, state in enumerate(game.states):
            if ply < len(game.row.actions) or (state.over and not game.forfeited):
                for seat in (0, 1):
                    chance = bot.chance(view(state, seat))
                    assert chance is not None
                    own = found[number, ply] if seat == 0 else 1 - found[number, ply]
                    assert chance == pytest.approx(own, abs=1e-9)
                positions += 1
    assert positions > 3_000


@pytest.mark.slow
def test_a_take_that_must_come_is_no_surprise() -> None:
    """At the last ply it is settled who wins, and before it unless a hidden card comes first."""
    cup = tournament(bots=3, pairs=16)
    games = [*play(cup)]
    (batch,) = read_batches(cup, rows_of(games))
    found, hidden = chances_of(batch), 0
    for game, chances in zip(games, found, strict=True):
        if len(game.states) <= STANDARD.game_plies:
            continue
        before = game.states[STANDARD.game_plies - 2]
        assert chances[-2] == chances[-1]
        if before.taken[before.to_act] and not before.taken[1 - before.to_act]:
            hidden += 1
            assert 0 < chances[-3] < 1
        else:
            assert chances[-3] == chances[-1]
    assert hidden > 3


def test_the_bot_is_a_valuer_of_the_published_game() -> None:
    """Under other rules it does not know."""
    assert isinstance(champion(), Valuer)
    rules = Rules(set_bonus=3)
    assert champion(rules).chance(view(State.from_text(DEAL, rules), 0)) is None


def test_who_is_still_to_take_is_not_behind() -> None:
    """Seat 0 has taken betrayals: worse for it than the cards that it left."""
    start = champion().chance(view(at(DEAL), 0))
    before = champion().chance(view(at(DEAL, "5x6z7"), 1))
    after = champion().chance(view(at(DEAL, "5x6z7T"), 1))
    assert start == pytest.approx(0.5, abs=0.1)
    assert before is not None
    assert after is not None
    assert 0 < after < before < 1


def test_a_take_that_would_win_by_city_is_a_threat() -> None:
    """Seat 1 is still to take: with all three cities in the row it is ahead."""
    deal = dealt("CC567", "C8876", "55")
    calm = champion().chance(view(at(deal, "TCC8"), 1))
    threat = champion().chance(view(at(deal, "TCC8C"), 1))
    assert calm is not None
    assert threat is not None
    assert threat > max(0.85, calm)
