"""Meetings are chosen by what they tell, and nobody starves."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from arena.addons.league.league_ratings import BLOCK, Contender, choose_meetings
from arena.statistics.model import find_groups

MANY = 1 << 30


def known(elo: float = 1500.0, half: float = 5.0, cost: float = 0.1, most: int = MANY) -> Contender:
    """Return a bot whose rating is within the target."""
    return Contender(elo, half, cost, most)


NEW = known(half=math.inf)


def played(bots: int, pairs: float, new: int = 0) -> np.ndarray:
    """Return the pairs of a field whose last bots are new."""
    matrix = np.full((bots, bots), pairs)
    np.fill_diagonal(matrix, 0)
    if new:
        matrix[-new:] = matrix[:, -new:] = 0
    return matrix


def of_bot(chosen: dict[tuple[int, int], int], bot: int) -> Counter[int]:
    """Return how many pairs a bot plays against each other one."""
    found: Counter[int] = Counter()
    for (one, two), pairs in chosen.items():
        if bot in (one, two):
            found[one if bot == two else two] += pairs
    return found


def test_a_newcomer_meets_thirty_others_before_it_meets_one_again() -> None:
    """One block each, whatever their Elo; more of them in the next round."""
    bots = [*(known(1500 + 10 * (n - 20)) for n in range(40)), NEW]
    matrix = played(41, 100, new=1)
    chosen = of_bot(choose_meetings(bots, matrix, 20 * BLOCK, 15.0), 40)
    assert len(chosen) == 20
    assert {*chosen.values()} == {BLOCK}
    for other, pairs in chosen.items():
        matrix[40, other] = matrix[other, 40] = pairs
    more = of_bot(choose_meetings(bots, matrix, 30 * BLOCK, 15.0), 40)
    assert len({*chosen} | {*more}) >= 30
    assert not {*chosen} & {other for other in [*more][:10] if other not in more}


def test_all_that_play_are_connected_also_in_a_first_round_of_many_newcomers() -> None:
    """A course hands in at once: without games between the panel's bots, most had no rating."""
    bots = [known(1400 + 50 * n, half=60.0) for n in range(6)] + [NEW] * 30
    chosen = choose_meetings(bots, played(36, 0), 30 * BLOCK, 15.0)
    assert {bot for two in chosen for bot in two} >= {*range(6, 36)}
    matrix = np.zeros((36, 36))
    for two, pairs in chosen.items():
        matrix[two] = pairs
    playing = np.flatnonzero((matrix + matrix.T).any(axis=1))
    assert len({*find_groups(36, *np.nonzero(matrix))[playing].tolist()}) == 1
    assert sum(chosen.values()) <= (30 + 5) * BLOCK
    gone = [*bots[:6], *([known(most=0)] * 30)]  # replaced since then; two of the panel had met
    matrix[0, 1] = 500
    assert all(max(two) < 6 for two in choose_meetings(gone, matrix, BLOCK, 15.0))


def test_newcomers_meet_bots_of_known_elo_before_one_another() -> None:
    """Games of two unknown bots say nothing of either, and connect them with nobody."""
    bots = [known(1300), known(1500), known(1700)] + [NEW] * 8
    chosen = choose_meetings(bots, played(11, 500, new=8), 24 * BLOCK, 15.0)
    assert all(min(two) < 3 for two in chosen)
    assert all({*of_bot(chosen, new)} == {0, 1, 2} for new in range(3, 11))


def test_every_version_plays_a_tenth_of_the_mean() -> None:
    """It comes before one that is far less well known."""
    bots = [known(), known(), known(), known(half=3.0), NEW]
    matrix = played(5, 1000, new=2)
    matrix[3, 0] = matrix[0, 3] = 30
    matrix[4, 1:3] = matrix[1:3, 4] = 600
    chosen = choose_meetings(bots, matrix, 6 * BLOCK, 15.0)
    assert sum(of_bot(chosen, 3).values()) == 6 * BLOCK


def test_a_fast_opponent_is_preferred_and_a_slow_bot_has_a_budget() -> None:
    """What counts is what a second of playing tells."""
    bots = [known(cost=6.4), known(cost=0.1), known(cost=0.1), NEW]
    matrix = played(4, 100)
    assert of_bot(choose_meetings(bots, matrix, 20 * BLOCK, 15.0), 3)[0] == 0
    slow = Contender(1500, math.inf, 6.4, 2 * BLOCK)
    chosen = choose_meetings([known(), known(), slow], played(3, 0), 30 * BLOCK, 15.0)
    assert sum(of_bot(chosen, 2).values()) == 2 * BLOCK
    assert sum(chosen.values()) == 30 * BLOCK


def test_what_is_left_goes_where_ranks_are_least_sure() -> None:
    """Two bots of one Elo play more than one that is alone at the end of the table."""
    bots = [known(1700), known(1502), known(1500), known(1300)]
    chosen = choose_meetings(bots, played(4, 400), 40 * BLOCK, 15.0)
    shares = [sum(of_bot(chosen, bot).values()) for bot in range(4)]
    assert min(shares[1], shares[2]) > 3 * max(shares[0], shares[3]) or shares[0] == 0
    assert shares[1] + shares[2] >= 40 * BLOCK
