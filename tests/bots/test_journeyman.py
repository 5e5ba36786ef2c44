"""journeyman: a network before the last round, and open-hand play in it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from arena.batch.lockstep import Lockstep
from bots import apprentice, endgame, journeyman, timing
from bots.apprentice import Apprentice
from engine import STANDARD, Rules, View, counts, hands, size
from engine.play import setup
from tests.batch.test_last_round import some_at_each_ply
from tests.bots.test_apprentice import views


@cache
def late() -> list[View]:
    """Return views of last rounds, more of the later plies than of the first two."""
    return some_at_each_ply(STANDARD, 2, seed=4)


@cache
def exact_values() -> list[dict[int, float]]:
    """Return the values that `endgame` finds in the late views, where there is a choice."""
    exact = endgame.Exact(STANDARD, size(STANDARD.pack), 10**9)
    return [exact.values.copy() if exact.best(seen) else {} for seen in late()]


def as_games(seen: list[View]) -> Lockstep:
    """Return a game for each view; the opponent's hand is any that fits."""
    games = [Lockstep.from_view(one, [next(hands(one))[0]]) for one in seen]
    return games[0].join(games[1:])


def test_before_the_last_round_it_plays_by_its_own_network() -> None:
    """At every decision; some are not those of apprentice."""
    own, plain = journeyman.bot(setup(1, 0)), apprentice.bot(setup(1, 0))
    network = Apprentice(journeyman.own_network())
    seen = [one for one in views(100) if one.round < STANDARD.rounds]
    assert len(seen) > 50
    played = [own.choose(one) for one in seen]
    assert played == [network.choose(one) for one in seen]
    assert played != [plain.choose(one) for one in seen]


@pytest.mark.slow
def test_in_it_the_best_action_is_played_and_of_equal_ones_that_of_the_network() -> None:
    """The best ones are those of `endgame`; some choices are not the network's."""
    own, network = journeyman.bot(setup(1, 0)), journeyman.own_network()
    tied = differ = 0
    for seen, values in zip(late(), exact_values(), strict=True):
        top = max(values.values(), default=0)
        best = [action for action in seen.legal if not values or values[action] == top]
        scores = network.scores(seen)
        assert own.choose(seen) == max(best, key=scores.__getitem__)
        tied += 1 < len(best) < len(seen.legal)
        differ += own.choose(seen) != max(seen.legal, key=scores.__getitem__)
    assert tied
    assert differ


@pytest.mark.slow
def test_its_scores_choose_as_it_does() -> None:
    """Many games at once, in all rounds, also when both seats have taken; the values are exact."""
    own = journeyman.bot(setup(1, 0))
    seen = [*late(), *views(200)]
    games = as_games(seen)
    scores = own.scores(games)
    many = np.where(games.legal(), scores, -np.inf).argmax(axis=1).tolist()
    assert many == [own.choose(one) for one in seen]
    for values, row in zip(exact_values(), scores, strict=False):
        assert [row[action] for action in values] == pytest.approx([*values.values()], abs=1e-3)


def test_its_scores_use_what_the_seat_knows() -> None:
    """Without the other seat's hand they are the same as long as its size is known."""
    games = as_games(late())
    blind = games.select(np.arange(games.count))
    for seen, game in zip(late(), range(games.count), strict=True):
        *_, (other, _) = hands(seen)
        blind.hands[seen.opponent, :, game] = counts(other)
    assert (blind.hands != games.hands).any()
    own = journeyman.bot(setup(1, 0))
    assert (own.scores(blind) == own.scores(games)).all()


def test_under_other_rules_it_plays_as_timing() -> None:
    """In every round."""
    rules = Rules(take_size=4)
    own, plain = journeyman.bot(setup(1, 0, rules)), timing.bot(setup(1, 0, rules))
    for seen in views(60, rules):
        assert own.choose(seen) == plain.choose(seen)
