"""Ratings of a league are of its whole history, on a scale that the panel fixes."""

from __future__ import annotations

import numpy as np
import pytest

from arena.addons.league.league_ratings import rate
from arena.addons.league.league_tables import REPLACED, Pairs, Version
from arena.entries.catalogue import ELO as LADDER
from arena.statistics.distributions import expit
from arena.statistics.ratings import ELO
from tests.addons.league.small import version

FIELD = [
    version(1, panel=True, spec="greedy"),
    version(2, panel=True, spec="majority"),
    version(3),
    version(4, state=REPLACED),
    version(5),
]
ACTIVE = {1, 2, 3, 5}
PANEL = (LADDER["greedy"] + LADDER["majority"]) / 2
TRUE = {1: PANEL - 95.0, 2: PANEL + 95.0, 3: PANEL + 165.0, 4: PANEL + 65.0, 5: PANEL - 35.0}
"""Elo by id; the two of the panel are made unequal here, with the mean that they have."""


def games(bots: list[Version], pairs: int = 400, seed: int = 1) -> list[Pairs]:
    """Return pairs of every two bots, as their true Elo says, with luck."""
    rng = np.random.default_rng(seed)
    found = []
    for number, one in enumerate(bots):
        for two in bots[number + 1 :]:
            share = float(expit((TRUE[one.id] - TRUE[two.id]) / ELO))
            won = rng.binomial(1, share, (2, pairs)).sum(axis=0)
            counts = np.bincount(2 * won, minlength=5)
            found.append(Pairs(one.id, two.id, tuple(counts.tolist())))
    return found


def test_the_panel_keeps_its_mean_and_others_follow() -> None:
    """Whatever else plays: so numbers stay comparable."""
    for part in (FIELD, FIELD[:3], [FIELD[0], FIELD[1], FIELD[4]]):
        rows = rate(FIELD, games(part), ACTIVE).rows
        mean = (rows[1].elo + rows[2].elo) / 2
        assert mean == pytest.approx(PANEL, abs=1e-6)
    rows = rate(FIELD, games(FIELD), ACTIVE, {3}).rows
    for id, elo in TRUE.items():
        assert abs(rows[id].elo - elo) < 40
        assert rows[id].played == (id == 3)
        assert rows[id].pairs == 1600


def test_the_order_of_the_games_changes_nothing() -> None:
    """Neither that of the pairings, nor which of the two is named first."""
    pairs = games(FIELD)
    turned = [Pairs(two, one, by[::-1]) for one, two, by in reversed(pairs)]
    one, two = rate(FIELD, pairs, ACTIVE), rate(FIELD, turned, ACTIVE)
    for id in one.rows:
        assert one.rows[id].elo == pytest.approx(two.rows[id].elo, abs=1e-6)
        assert one.rows[id].low == pytest.approx(two.rows[id].low, abs=1e-6)
        assert one.rows[id].letters == two.rows[id].letters


def test_versions_that_no_longer_play_count_fully_and_have_no_letters() -> None:
    """Their games are as true as before."""
    rows = rate(FIELD, games(FIELD), ACTIVE).rows
    assert rows[4].letters == ""
    assert all(rows[id].letters for id in (1, 2, 3, 5))
    again = rate(FIELD, games(FIELD), ACTIVE - {5}).rows
    assert again[3].elo == rows[3].elo
    assert again[5].letters == ""


def test_who_is_not_connected_with_the_panel_has_no_rating() -> None:
    """Its Elo would be a number from nowhere."""
    bots = [*FIELD, version(6), version(7)]
    TRUE.update({6: TRUE[3], 7: TRUE[3]})
    rated = rate(bots, games(FIELD) + games(bots[5:]), ACTIVE)
    assert {*rated.rows} == {1, 2, 3, 4, 5}
    assert rate(bots, [], ACTIVE).rows == {}


def test_few_games_are_drawn_to_the_mean_and_many_are_not() -> None:
    """The shrunk rating of a bot that won its first games is lower than the plain one."""
    some = games(FIELD[:4], 2000)
    lucky = [Pairs(1, 5, (8, 1, 1, 0, 0)), Pairs(2, 5, (8, 1, 1, 0, 0))]
    rows = rate(FIELD, some + lucky, ACTIVE).rows
    assert rows[5].elo - rows[5].shrunk > 20
    assert abs(rows[3].elo - rows[3].shrunk) < 5
    plain = rate(FIELD, games(FIELD, 4000), ACTIVE).rows
    assert abs(plain[5].elo - plain[5].shrunk) < 5


def test_the_intervals_of_the_first_and_the_last_allow_for_their_choice() -> None:
    """Of ten equal bots in 20 weeks: plain intervals held all of them in 11."""
    bots, found = [version(id, panel=id <= 4) for id in range(1, 11)], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        played = [
            Pairs(one, two, tuple(rng.multinomial(30, (0.22, 0, 0.56, 0, 0.22)).tolist()))
            for one in range(1, 11)
            for two in range(one + 1, 11)
        ]
        rows = rate(bots, played, ()).rows.values()
        zero = sum(row.elo for row in rows if row.version <= 4) / 4
        found.append([(row.low or 0) <= zero <= (row.high or 0) for row in rows])
    assert sum(map(all, found)) >= 18


def test_an_unbeaten_bot_has_no_upper_end() -> None:
    """It is stronger by an unknown amount."""
    rows = rate(FIELD, [*games(FIELD[:3]), Pairs(1, 5, (20, 0, 0, 0, 0))], ACTIVE).rows
    assert rows[5].high is None
    assert rows[5].low is not None
