"""Effects are means of paired differences, with the pair as the unit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from arena.addons.studies.intervene import Swapped, make_effects
from bench.studies import swaps as study

LABELS = ["a", "b"]


def table(rows: list[Swapped]) -> pd.DataFrame:
    """Return the effects by bot, with "all" for all of them, and by card."""
    made = make_effects(LABELS, rows)
    return made.assign(bot=made["bot"].fillna("all")).set_index(["bot", "card"])


def test_an_effect_is_the_mean_of_what_the_swaps_changed() -> None:
    """By bot and by card, a win for 1 and a draw for a half."""
    made = table(
        [
            Swapped(0, 0, 0, 3, 2),
            Swapped(0, 1, 0, 3, 0),
            Swapped(0, 1, 1, 3, -1),
            Swapped(0, 2, 1, 9, -2),
        ]
    )
    assert made["swaps"].to_dict() == {
        ("a", "8"): 2,
        ("b", "8"): 1,
        ("b", "z"): 1,
        ("all", "8"): 3,
        ("all", "z"): 1,
    }
    assert made.loc[("a", "8"), "effect"] == 0.5
    assert made.loc[("b", "8"), "effect"] == -0.5
    assert made.loc[("all", "8"), "effect"] == pytest.approx(0.1667)
    assert made.loc[("b", "z"), "effect"] == -1


def test_the_opposite_of_each_swap_has_the_opposite_effect() -> None:
    """Bounds, too, change their places."""
    rng = np.random.default_rng(1)
    rows = [Swapped(0, n // 2, 0, 3, int(rng.choice([2, 1, 0, 0, -2]))) for n in range(100)]
    one = table(rows).loc[("all", "8")]
    other = table([row._replace(halves=-row.halves) for row in rows]).loc[("all", "8")]
    assert other["effect"] == -one["effect"]
    assert (other["effect_low"], other["effect_high"]) == (-one["effect_high"], -one["effect_low"])


def test_games_of_a_pair_that_are_alike_count_once() -> None:
    """Where both games of every pair say the same, the interval is that of half as many."""
    rng = np.random.default_rng(1)
    halves = [int(rng.choice([2, 0, 0, -2])) for _ in range(400)]
    once = [Swapped(0, pair, 0, 3, value) for pair, value in enumerate(halves)]
    twice = table([row for row in once for _ in range(2)]).loc[("all", "8")]
    one = table(once).loc[("all", "8")]
    apart = [Swapped(0, n, 0, 3, value) for n, value in enumerate([*halves, *halves])]
    other = table(apart).loc[("all", "8")]
    width = [made["effect_high"] - made["effect_low"] for made in (one, twice, other)]
    assert width[1] == pytest.approx(width[0], rel=0.02)
    assert width[2] == pytest.approx(width[0] / 2**0.5, rel=0.02)


def test_few_swaps_that_change_nothing_do_not_look_sure() -> None:
    """Twenty of them say that the effect is small, and not that there is none."""
    made = table([Swapped(0, pair, 0, 3, 0) for pair in range(20)]).loc[("all", "8")]
    assert made["effect"] == 0
    assert made["effect_low"] < -0.05
    assert made["effect_high"] > 0.05


def test_no_swap_is_a_table_without_rows() -> None:
    """With the columns of one."""
    made = make_effects(LABELS, [])
    assert list(made) == ["bot", "card", "swaps", "effect", "effect_low", "effect_high"]
    assert made.empty


@pytest.mark.slow
def test_the_interval_holds_a_planted_effect() -> None:
    """Of 60 experiments with 1,000 swaps and 11 cards each, 95 % and a little more."""
    held = study.hold(study.Setup(pairs=500, changed=0.3), runs=60)
    assert 0.92 <= held.covered.mean() <= 0.985


@pytest.mark.study
@pytest.mark.parametrize("setup", study.SETUPS, ids=str)
def test_the_interval_holds_a_planted_effect_as_often_as_it_says(setup: study.Setup) -> None:
    """In 1,000 experiments 95 % for every card, within three errors; few swaps are held more."""
    covered = study.hold(setup).covered
    assert covered.min() >= 0.929
    if setup.pairs >= 4_000:
        assert covered.max() <= 0.971


@pytest.mark.study
def test_the_interval_holds_the_effect_in_games_whose_swaps_are_all_known() -> None:
    """Random games of the engine, in which the outcome of every swap has been worked out."""
    games = study.play_games(study.GAMES)
    for pairs in study.DRAWN:
        assert study.hold_in_games(games, pairs).covered.min() >= 0.929
