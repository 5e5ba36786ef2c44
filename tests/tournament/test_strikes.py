"""Which bots are out depends on the order of the schedule, not on the order of play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest

from arena.lanes.faults import Fault
from arena.tournament.match import GameResult
from arena.tournament.schedule import Pairing, round_robin
from arena.tournament.strikes import Strikes

LABELS = "abcd"
PAIRINGS = round_robin(LABELS)
PAIRS = 20


def strike(pair: int, seat: int, loser: int) -> GameResult:
    """Return a game that the pairing's first bot (0) or its opponent (1) has forfeited."""
    fault = Fault("exception", "boom")
    return GameResult(pair, seat, 1 - loser, "forfeit", 0, 0, 0, fault, "")


def play(strikes: Strikes, faults: Mapping[int, Sequence[GameResult]]) -> dict[int, range]:
    """Finish all pairings with these faults; return the games by rule of each, and see who loses.

    Of every pairing these are all games from one on.
    """
    for number in range(len(PAIRINGS)):
        strikes.finish(number, 0, PAIRS, faults.get(number, ()))
    games: dict[int, list[int]] = {}
    for due in strikes.take_due():
        games.setdefault(due.pairing, []).extend(range(due.first, due.end))
        first = next(label for label in strikes.out if label in PAIRINGS[due.pairing])
        assert PAIRINGS[due.pairing][due.loser] == first
    for number, played in games.items():
        assert played == [*range(played[0], 2 * PAIRS)], number
    return {number: range(played[0], 2 * PAIRS) for number, played in games.items()}


def test_after_the_last_allowed_fault_all_games_are_forfeits() -> None:
    """The rest of that turn and all later turns; what stands before does not change."""
    strikes = Strikes(PAIRINGS, PAIRS, most=3)
    places = ((2, 0), (2, 1), (4, 0), (9, 1))
    of_b = [strike(*place, loser=1) for place in places]
    games = play(strikes, {0: of_b, 3: [strike(5, 0, loser=1)] * 5})  # a - b, and b - c later
    assert list(strikes.out) == ["b"]
    # the third fault is in pair 4 of a - b, game 8; b - c and b - d come after it in that turn
    assert games == {0: range(9, 40), 3: range(8, 40), 4: range(8, 40)}
    assert strikes.is_out(3)
    assert not strikes.is_out(5)  # c - d


def test_faults_of_earlier_turns_count_first() -> None:
    """However late their pairing stands in the schedule."""
    strikes = Strikes(PAIRINGS, PAIRS, most=2)
    faults = {0: [strike(7, 0, loser=1)], 4: [strike(1, seat, loser=0) for seat in (0, 1)]}
    games = play(strikes, faults)  # a - b, and b - d
    assert games == {0: range(4, 40), 3: range(4, 40), 4: range(4, 40)}


def test_of_two_bots_that_are_out_the_first_loses() -> None:
    """The first that went out loses their games."""
    strikes = Strikes(PAIRINGS, PAIRS, most=1)
    games = play(strikes, {0: [strike(0, 0, loser=1)], 1: [strike(0, 0, loser=1)]})
    assert list(strikes.out) == ["b", "c"]
    assert games[3] == range(40)  # b - c


def test_the_bot_that_went_out_first_may_be_the_second_of_its_pairing() -> None:
    """d goes out in a - d and c later in b - c, so d loses the games of c - d."""
    strikes = Strikes(PAIRINGS, PAIRS, most=1)
    games = play(strikes, {2: [strike(0, 0, loser=1)], 3: [strike(0, 0, loser=1)]})
    assert list(strikes.out) == ["d", "c"]
    assert games[5] == range(40)


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


@pytest.mark.parametrize("label", ["a", "b"])
def test_of_a_pair_the_game_counts_first_in_which_the_smaller_label_began(label: str) -> None:
    """Whichever of the two stands first in the pairing; the other game is forfeited by rule."""
    other = "b" if label == "a" else "a"
    strikes = Strikes([Pairing(label, other)], PAIRS, most=1)
    losers = [int(label == "b"), int(label == "a")]  # a loses the game of seat 0, b the other
    strikes.finish(0, 0, PAIRS, [strike(3, seat, loser) for seat, loser in enumerate(losers)])
    (out,) = strikes.out
    first = 0 if label == "a" else 1
    assert out == (label, other)[losers[first]]
    assert [(due.first, due.end) for due in strikes.take_due()] == [(7 - first, 8 - first), (8, 40)]
