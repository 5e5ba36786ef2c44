"""Which bots are out depends on the order of the schedule, not on the order of play."""

from __future__ import annotations

from random import Random

import pytest

from arena.games.match import GameResult
from arena.lanes.faults import Fault
from arena.tournament.schedule import round_robin
from arena.tournament.strikes import Forfeits, Strikes

LABELS = "abcd"
PAIRINGS = round_robin(LABELS)
PAIRS = 20


def strike(pair: int, seat: int, loser: int) -> GameResult:
    """Return a game that the pairing's first bot (0) or its opponent (1) has forfeited."""
    fault = Fault("exception", "boom")
    return GameResult(pair, seat, 1 - loser, "forfeit", 0, 0, 0, fault, "")


def test_after_the_last_allowed_fault_all_games_are_forfeits() -> None:
    """The rest of its pairing and all later ones; earlier games do not change."""
    strikes = Strikes(PAIRINGS, PAIRS, most=3)
    faults = [strike(*place, loser=1) for place in ((2, 0), (2, 1), (4, 0), (9, 1))]
    strikes.finish(0, 0, PAIRS, faults)  # a - b
    assert strikes.take_due() == [Forfeits(0, 9, 40, loser=1)]
    strikes.finish(1, 0, PAIRS)  # a - c
    strikes.finish(2, 0, PAIRS)  # a - d
    assert strikes.take_due() == []
    assert strikes.is_out(3)
    strikes.finish(3, 0, PAIRS, [strike(1, 0, loser=1)] * 5)  # b - c, of which nothing counts
    assert strikes.take_due() == [Forfeits(3, 0, 40, loser=0)]
    assert list(strikes.out) == ["b"]
    assert not strikes.is_out(5)  # c - d


def test_of_two_bots_that_are_out_the_first_loses() -> None:
    """The first that went out loses their games."""
    strikes = Strikes(PAIRINGS, PAIRS, most=1)
    strikes.finish(0, 0, PAIRS, [strike(0, 0, loser=1)])
    strikes.finish(1, 0, PAIRS, [strike(0, 0, loser=1)])
    strikes.finish(2, 0, PAIRS)
    strikes.take_due()
    strikes.finish(3, 0, PAIRS)  # b - c
    assert strikes.take_due() == [Forfeits(3, 0, 40, loser=0)]


def test_the_bot_that_went_out_first_may_be_the_second_of_its_pairing() -> None:
    """d goes out in a - d and c later in b - c, so d loses the games of c - d."""
    strikes = Strikes(PAIRINGS, PAIRS, most=1)
    for number in range(len(PAIRINGS)):
        guilty = {2: [strike(0, 0, loser=1)], 3: [strike(0, 0, loser=1)]}.get(number, [])
        strikes.finish(number, 0, PAIRS, guilty)
    assert list(strikes.out) == ["d", "c"]
    assert strikes.take_due()[-1] == Forfeits(5, 0, 40, loser=1)


def test_the_schedule_decides_which_bot_went_out_first() -> None:
    """c's fault in b - c is reported before d's in a - d, but counts after it."""
    strikes = Strikes(PAIRINGS, PAIRS, most=1)
    strikes.finish(3, 0, PAIRS, [strike(0, 0, loser=1)])  # b - c
    assert list(strikes.out) == []
    for number in (0, 1):
        strikes.finish(number, 0, PAIRS)
    strikes.finish(2, 0, PAIRS, [strike(0, 0, loser=1)])  # a - d
    assert list(strikes.out) == ["d", "c"]


@pytest.mark.parametrize("seed", range(20))
def test_the_order_in_which_chunks_arrive_changes_nothing(seed: int) -> None:
    """Chunks of any size in any order make the same games forfeits."""
    rng = Random(seed)
    faults = [
        [
            strike(pair, seat, rng.randrange(2))
            for pair in range(PAIRS)
            for seat in (0, 1)
            if rng.random() < 0.1
        ]
        for _ in PAIRINGS
    ]
    outcomes = []
    for sizes in ([PAIRS], [1], [3, 1, 7]):
        chunks = []
        for number in range(len(PAIRINGS)):
            first = 0
            while first < PAIRS:
                pairs = min(rng.choice(sizes), PAIRS - first)
                chunks.append((number, first, pairs))
                first += pairs
        rng.shuffle(chunks)
        strikes = Strikes(PAIRINGS, PAIRS, most=5)
        games = {}
        for number, first, pairs in chunks:
            own = [s for s in faults[number] if first <= s.pair < first + pairs]
            strikes.finish(number, first, pairs, rng.sample(own, len(own)))
            for due in strikes.take_due():
                games |= {(due.pairing, game): due.loser for game in range(due.first, due.end)}
        outcomes.append((games, list(strikes.out)))
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert outcomes[0][0]
