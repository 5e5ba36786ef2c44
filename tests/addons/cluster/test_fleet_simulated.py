"""A simulated cluster: a real fleet on many sites that die, come back and are slow."""

from __future__ import annotations

from collections import Counter

import pytest

from arena.entries.resolve import resolve
from arena.executors.log import RunLog
from arena.runs.run import run
from arena.store.store import Store
from arena.tournament.plan import Plan
from arena.tournament.schedule import PairRange
from arena.tournament.tournament import Tournament
from bench.simulated import Cluster, SimulatedExecutor
from engine import STANDARD
from tests.executors.test_contract import plan_for

STEADY = Cluster(sites=40, cores=4, rate=20, charged=False)
SLOW = Cluster(sites=40, cores=4, rate=20, slow=0.2, calls=0.001, charged=False)
DEADLY = Cluster(sites=40, cores=4, rate=20, slow=0.2, deaths=0.2, back=1.0, charged=False)
CLUSTERS = {"steady": STEADY, "slow": SLOW, "deadly": DEADLY}
Games = Counter[tuple[int, int, int]]
each = pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS)


@pytest.fixture(scope="module")
def tournament() -> Tournament:
    """Return a round robin of twelve thousand games, for some simulated seconds."""
    bots = [resolve(f"bot{number}=uniform") for number in range(4)]
    return Tournament("simulated", 1, 1000, bots, STANDARD)


def play(executor: SimulatedExecutor, plan: Plan, tournament: Tournament) -> Games:
    """Return how often each game came."""
    games: Games = Counter()
    for played in executor.play(plan, tournament, RunLog([])):
        plan.learn(played)
        games.update((played.chunk.pairing, *result[:2]) for result in played.results)
    return games


@pytest.mark.slow
@each
def test_every_game_comes_once_whatever_dies(tournament: Tournament, cluster: Cluster) -> None:
    """The clock is simulated, too: each run of the test is the same."""
    executor = SimulatedExecutor(cluster)
    plan = plan_for(tournament)
    games = play(executor, plan, tournament)
    assert plan.is_finished
    assert len(games) == tournament.games
    assert set(games.values()) == {1}
    assert (executor.places.deaths > 10) == (cluster is DEADLY)


@pytest.mark.slow
@each
def test_sites_are_hardly_idle_until_the_work_runs_out(
    tournament: Tournament, cluster: Cluster
) -> None:
    """Two batches on the way to each are enough, where the client costs no time."""
    executor = SimulatedExecutor(cluster, seconds=3.0)
    plan = plan_for(tournament)
    with pytest.raises(TimeoutError):
        play(executor, plan, tournament)
    assert not plan.is_finished
    idle, worked = executor.places.idle()
    assert idle < 0.05 * worked


@pytest.mark.slow
def test_a_run_keeps_every_game(tournament: Tournament) -> None:
    """The store has each of them once, also of batches that two sites have played."""
    store = Store(None)
    run(tournament, SimulatedExecutor(DEADLY), store=store)
    assert store.count_games() == tournament.games
    for number in range(len(tournament.pairings)):
        pairs = PairRange(number, 0, tournament.pairs)
        assert store.finished([pairs])[number] == [range(tournament.pairs)]
    store.close()
