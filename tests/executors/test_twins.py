"""In a paired tournament no process of a bot plays two of the four games of a deal."""

from __future__ import annotations

import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import RunLog
from arena.tournament.plan import Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.rogues import FOLDER, first

PAIRS = 12


def paired(panel: Entry, pairs: int = PAIRS) -> Tournament:
    """Return a tournament in which greedy replaces uniform against one bot."""
    bots = [resolve("greedy"), resolve("uniform"), panel]
    return Tournament("paired", 3, pairs, bots, STANDARD, panel=1, paired=True)


def test_both_versions_meet_the_same_deals_with_the_same_luck() -> None:
    """Those of the old one, which a tournament without the new one has, too."""
    tournament = paired(resolve("denier"))
    new, old = tournament.pairings
    alone = Tournament("alone", 3, PAIRS, tournament.entries[1:], STANDARD)
    for pair in range(3):
        for seat in (0, 1):
            draws = [
                tournament.draw(tournament.fixture(0, pair, seat)),
                tournament.draw(tournament.fixture(1, pair, seat)),
                alone.draw(alone.fixture(0, pair, seat)),
            ]
            assert draws[0] == draws[1] == draws[2]
    assert (new.bot, old.bot) == ("greedy", "uniform")
    assert tournament.part(new, 0) != tournament.part(old, 0)


def records(panel: Entry, workers: int) -> dict[tuple[int, int, int], str]:
    """Return the actions of the games against a bot, by pairing, pair and seat."""
    tournament = paired(panel, pairs=4)
    plan = Plan([[range(4)]] * 2, Strikes(tournament.pairings, 4, most=9))
    results = {}
    for chunk in LocalExecutor(workers).play(plan, tournament, RunLog([])):
        plan.learn(chunk)
        number = chunk.chunk.pairing
        results |= {(number, *result[:2]): result.actions for result in chunk.results}
    return results


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lane", "workers"),
    [("process", 2), pytest.param("process", 4, marks=pytest.mark.slow)],
)
def test_an_opponent_does_not_meet_a_deal_again(lane: str, workers: int) -> None:
    """It would play otherwise in the other version's game."""
    rogue = resolve(str(FOLDER / "meets_again.py"), "rogue", {}, lane)
    assert records(rogue, workers) == records(first("rogue", "process"), 1)
