"""In a paired tournament no process of a bot plays two games of a deal."""

from __future__ import annotations

from collections.abc import Sequence

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
from tests.tiers import few

PAIRS = 12


def paired(panel: Entry, pairs: int = PAIRS, new: Sequence[str] = ("greedy",)) -> Tournament:
    """Return a tournament in which greedy, or some bots, replace uniform against one bot."""
    bots = [*map(resolve, new), resolve("uniform"), panel]
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


def test_many_versions_meet_the_same_deals_in_parts_of_their_own() -> None:
    """Those of the last one; no two games of a deal are in one part."""
    bots = [*map(resolve, ("greedy", "timing", "uniform", "denier", "majority"))]
    tournament = Tournament("paired", 3, PAIRS, bots, STANDARD, panel=2, paired=True)
    assert tournament.new_pairings == {0, 1, 2, 3}
    assert [*map(tournament.old_pairing, range(6))] == [4, 5, 4, 5, 4, 5]
    assert [*map(tournament.version_of, range(6))] == [2, 2, 1, 1, 0, 0]
    for opponent in (0, 1):
        draws = [
            tournament.draw(tournament.fixture(bot + opponent, 1, seat))
            for bot in (0, 2, 4)
            for seat in (0, 1)
        ]
        assert draws == draws[:1] * 6
        parts = {
            tournament.part(tournament.pairings[bot], seat) for bot in (0, 2, 4) for seat in (0, 1)
        }
        assert len(parts) == 6


def records(
    panel: Entry, workers: int, new: Sequence[str] = ("greedy",)
) -> dict[tuple[int, int, int], str]:
    """Return the actions of the games against a bot, by pairing, pair and seat."""
    tournament = paired(panel, 4, new)
    plan = Plan([[range(4)]] * len(tournament.pairings), Strikes(tournament.pairings, 4, most=9))
    results = {}
    for chunk in LocalExecutor(workers).play(plan, tournament, RunLog([])):
        plan.learn(chunk)
        number = chunk.chunk.pairing
        results |= {(number, *result[:2]): result.actions for result in chunk.results}
    return results


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lane", "workers"),
    few([("process", 2), ("process", 4)], 1, 0, unpack=True),
)
@pytest.mark.parametrize("new", few([("greedy",), ("greedy", "denier", "timing")], 1, 1))
def test_an_opponent_does_not_meet_a_deal_again(
    lane: str, workers: int, new: Sequence[str]
) -> None:
    """It would play otherwise in another version's game."""
    rogue = resolve(str(FOLDER / "meets_again.py"), "rogue", {}, lane)
    assert records(rogue, workers, new) == records(first("rogue", "process"), 1, new)
