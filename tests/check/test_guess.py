"""The rating that ends a check: which anchors it plays, and what its interval holds."""

from __future__ import annotations

import pytest

from arena.check.sparring import Climb
from arena.entries.catalogue import ELO
from bench.studies import guess


def climb(elo: float, deviates: float = 0.0) -> Climb:
    """Return the climb of a bot of this Elo after 40 pairs without luck.

    Against one anchor it leads by so much more than its Elo says, and by as much less against the
    next one.
    """

    def meet(anchor: int) -> float:
        lead = elo - [*ELO.values()][anchor] + deviates * (-1) ** anchor
        return float(2 / (1 + 10 ** (-lead / 400)))

    played = Climb(ELO, meet)
    played.play(40)
    return played


@pytest.mark.parametrize("elo", [1100, 1400, 1500, 1650, 1800])
def test_pairs_are_spread_evenly_over_the_nearest_anchors(elo: int) -> None:
    """Each of those in reach has as many as the next one, and only the way there cost others."""
    played = climb(elo)
    pairs = [len(own) for own in played.scores]
    near = [pairs[anchor] for anchor in played.in_reach()]
    assert sum(pairs) == 40
    assert len(near) == 5
    assert max(near) - min(near) <= 2
    assert sum(near) >= 30


def test_anchors_that_win_nearly_all_are_out_of_reach() -> None:
    """Of a bot 150 below the weakest one only this one is met, after the first ones."""
    played = climb(ELO["uniform"] - 150)
    assert played.in_reach() == [0]
    assert len(played.scores[0]) >= 30


@pytest.mark.parametrize("score", [0.0, 2.0])
def test_a_bot_that_loses_or_wins_all_still_meets_several(score: float) -> None:
    """Where no anchor is in reach, the nearest five count as such; the rating is finite."""
    played = Climb(ELO, lambda _: score)
    played.play(40)
    assert len(played.in_reach()) in (1, 5)
    assert -1000 < played.rating().low < played.rating().high < 4000
    assert played.to_item().message.startswith("at least " if score else "at most ")


@pytest.mark.parametrize("pairs", range(8))
def test_so_many_pairs_are_played(pairs: int) -> None:
    """Also fewer than there are anchors in reach."""
    played = Climb(ELO, lambda _: 1.0)
    played.play(pairs)
    assert sum(map(len, played.scores)) == pairs


def test_a_guess_says_what_it_is() -> None:
    """A number, its interval, its place on the ladder, and from how many games."""
    played = climb(1500)
    message, rated = played.to_item().message, played.rating().value
    assert rated == pytest.approx(1500, abs=1)
    assert message.startswith(f"about {rated:.0f} (")
    assert message.endswith("), between timing and ismcts: a first guess from 80 games")


def test_the_interval_contains_how_pairings_deviate() -> None:
    """250 to each side of the Elo: the pairs have luck alone where results are as it says."""
    as_elo, deviating = (climb(1400, by).rating() for by in (0.0, 250.0))
    assert deviating.high - deviating.low > 1.5 * (as_elo.high - as_elo.low)


@pytest.mark.slow
def test_an_interval_holds_the_rating_of_endless_pairs() -> None:
    """Of 60 simulated checks 57 are expected; fewer than 52 have a probability of 1 %."""
    assert guess.guess_often(1400, 38.0, 60).held >= 52 / 60


@pytest.mark.slow
def test_twenty_seeds_of_five_real_bots_agree_within_their_intervals() -> None:
    """Of 100 checks 95; their pairs are drawn of the ladder's own, and deviate as these do."""
    bots = ("uniform", "city_hunter", "greedy", "timing", "grandmaster")
    held = [guess.guess_real(bot, run).held for bot in bots for run in range(20)]
    assert sum(held) >= 95


@pytest.mark.study
@pytest.mark.parametrize("spread", [0.0, 20.0, 38.0, 60.0])
@pytest.mark.parametrize("elo", guess.ELOS)
def test_intervals_hold_the_rating_of_endless_pairs(elo: int, spread: float) -> None:
    """Of 1,000 simulated checks 950 are expected; fewer than 930 have a probability of 0.3 %."""
    assert guess.guess_often(elo, spread, 1000, workers=2).held >= 0.93
