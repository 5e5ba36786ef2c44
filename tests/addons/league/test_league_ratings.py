"""Ratings of a league are of its whole history, on a scale that the panel fixes."""

from __future__ import annotations

import numpy as np
import pytest

from arena.addons.league.league_ratings import rate
from arena.addons.league.league_tables import WITHDRAWN, RatingRow, Version
from arena.entries.catalogue import ELO as LADDER
from arena.statistics.counts import PairTotals, ScoreCounts
from arena.statistics.distributions import expit
from arena.statistics.ratings import ELO
from tests.addons.league.small import version

FIELD = [
    version(1, panel=True, spec="greedy"),
    version(2, panel=True, spec="majority"),
    version(3),
    version(4, state=WITHDRAWN),
    version(5),
]
PANEL = (LADDER["greedy"] + LADDER["majority"]) / 2
TRUE = {1: PANEL - 95.0, 2: PANEL + 95.0, 3: PANEL + 165.0, 4: PANEL + 65.0, 5: PANEL - 35.0}
"""Elo by id; the two of the panel are made unequal here, with the mean that they have."""


Games = list[tuple[int, int, ScoreCounts]]


def games(bots: list[Version], pairs: int = 400, seed: int = 1) -> Games:
    """Return pairs of every two bots, as their true Elo says, with luck."""
    rng = np.random.default_rng(seed)
    found = []
    for number, one in enumerate(bots):
        for two in bots[number + 1 :]:
            share = float(expit((TRUE[one.id] - TRUE[two.id]) / ELO))
            won = rng.binomial(1, share, (2, pairs)).sum(axis=0)
            counts = np.bincount(2 * won, minlength=5)
            found.append((one.id, two.id, tuple(counts.tolist())))
    return found


def rated(bots: list[Version], played: Games, now: set[str] | None = None) -> dict[int, RatingRow]:
    """Return the ratings by id."""
    labels = {bot.id: bot.label for bot in bots}
    totals = []
    for number, (_, _, counts) in enumerate(played):
        scores = np.arange(5) / 2
        sums = float(scores @ counts), float(scores**2 @ counts)
        totals.append(PairTotals(number, sum(counts), *sums, counts))
    two = [(labels[one], labels[other]) for one, other, _ in played]
    return {row.version: row for row in rate(bots, two, totals, now or set()).rows}


def test_the_panel_keeps_its_mean_and_others_follow() -> None:
    """Whatever else plays: so numbers stay comparable."""
    for part in (FIELD, FIELD[:3], [FIELD[0], FIELD[1], FIELD[4]]):
        rows = rated(FIELD, games(part))
        mean = (rows[1].elo + rows[2].elo) / 2
        assert mean == pytest.approx(PANEL, abs=1e-6)
    rows = rated(FIELD, games(FIELD), {"bot3"})
    for id, elo in TRUE.items():
        assert abs(rows[id].elo - elo) < 40
        assert rows[id].played == (id == 3)
        assert rows[id].pairs == 1600


def test_the_order_of_the_games_changes_nothing() -> None:
    """Neither that of the pairings, nor which of the two is named first."""
    pairs = games(FIELD)
    turned = [(two, one, by[::-1]) for one, two, by in reversed(pairs)]
    one, two = rated(FIELD, pairs), rated(FIELD, turned)
    for id in one:
        assert one[id].elo == pytest.approx(two[id].elo, abs=1e-6)
        assert one[id].low == pytest.approx(two[id].low, abs=1e-6)
        assert one[id].letters == two[id].letters


def test_versions_that_no_longer_play_count_fully_and_have_no_letters() -> None:
    """Their games are as true as before."""
    rows = rated(FIELD, games(FIELD))
    assert rows[4].letters == ""
    assert all(rows[id].letters for id in (1, 2, 3, 5))
    again = rated([*FIELD[:4], FIELD[4]._replace(state=WITHDRAWN)], games(FIELD))
    assert again[3].elo == rows[3].elo
    assert again[5].letters == ""


def test_who_is_not_connected_with_the_panel_has_no_rating() -> None:
    """Its Elo would be a number from nowhere."""
    bots = [*FIELD, version(6), version(7)]
    TRUE.update({6: TRUE[3], 7: TRUE[3]})
    assert {*rated(bots, games(FIELD) + games(bots[5:]))} == {1, 2, 3, 4, 5}
    assert rated(bots, []) == {}


def test_few_games_are_drawn_to_the_mean_and_many_are_not() -> None:
    """The shrunk rating of a bot that won its first games is lower than the plain one."""
    some = games(FIELD[:4], 2000)
    lucky: Games = [(1, 5, (8, 1, 1, 0, 0)), (2, 5, (8, 1, 1, 0, 0))]
    rows = rated(FIELD, some + lucky)
    assert rows[5].elo - rows[5].shrunk > 20
    assert abs(rows[3].elo - rows[3].shrunk) < 5
    plain = rated(FIELD, games(FIELD, 4000))
    assert abs(plain[5].elo - plain[5].shrunk) < 5


def test_the_intervals_of_the_first_and_the_last_allow_for_their_choice() -> None:
    """Of ten equal bots in 20 weeks: plain intervals held all of them in 11."""
    bots, found = [version(id, panel=id <= 4) for id in range(1, 11)], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        played = [
            (one, two, tuple(rng.multinomial(30, (0.22, 0, 0.56, 0, 0.22)).tolist()))
            for one in range(1, 11)
            for two in range(one + 1, 11)
        ]
        rows = rated(bots, played).values()
        zero = sum(row.elo for row in rows if row.version <= 4) / 4
        found.append([(row.low or 0) <= zero <= (row.high or 0) for row in rows])
    assert sum(map(all, found)) >= 18


def test_an_unbeaten_bot_has_no_upper_end() -> None:
    """It is stronger by an unknown amount."""
    rows = rated(FIELD, [*games(FIELD[:3]), (1, 5, (20, 0, 0, 0, 0))])
    assert rows[5].high is None
    assert rows[5].low is not None
