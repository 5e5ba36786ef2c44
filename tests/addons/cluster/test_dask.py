"""A run on a Dask cluster of this machine has the files of a local run, whatever is killed."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

import arena
from arena.addons.cluster import pool as pools
from arena.entries.resolve import resolve
from arena.errors import InputError, NoSites
from arena.executors.local import Executor, LocalExecutor, open_executor
from arena.executors.log import QUIET, RunLog
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.tournament.config_keys import ExecutorChoice, Venue
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.addons.cluster.cluster import Cluster
from tests.executors.marked import assert_no_process_is_left
from tests.kit import count_games, same_files
from tests.rogues import rogue

pytestmark = pytest.mark.skipif(
    find_spec("distributed") is None,
    reason="Dask is not installed: pip install 'district-noir-arena[dask]'",
)


def cup() -> Tournament:
    """Return a run of honest bots, of one in its own process, and of one with doubtful faults."""
    bots = [resolve("uniform"), resolve("greedy"), resolve("remote=greedy", lane="process")]
    return Tournament("cluster", 3, 20, [*bots, rogue("exits_at_once")], STANDARD, max_faults=2)


def dask(address: str) -> Venue:
    return Venue(executor=ExecutorChoice("dask", address))


@dataclass(frozen=True)
class Disturbed:
    """Plays with another executor, and does something after so many chunks."""

    executor: Executor
    after: int
    action: Callable[[], object]

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        for number, played in enumerate(self.executor.play(plan, tournament, log), 1):
            if number == self.after:
                self.action()
            yield played


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a local run."""
    folder = tmp_path_factory.mktemp("local")
    run(cup(), LocalExecutor(2), RunFolder(folder), QUIET)
    return same_files(folder)


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a cluster of a scheduler and two workers; in the end nothing is left of it."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        cluster.add(2)
        cluster.add()
        yield cluster
    assert_no_process_is_left(cluster.temporary)


@pytest.mark.slow
def test_a_run_of_which_a_worker_is_killed_has_the_files_of_a_local_run(
    cluster: Cluster, local: dict[str, bytes], tmp_path: Path
) -> None:
    """Also the faults and the report; a program may pass its client, or the client's executor."""
    victim = cluster.workers[1]
    with open_executor(dask(cluster.address)) as executor:
        run(cup(), Disturbed(executor, 4, victim.kill), RunFolder(tmp_path / "out"), QUIET)
    assert same_files(tmp_path / "out") == local
    assert victim.wait() == -signal.SIGKILL
    from distributed import Client

    keys = {"pairs": 2, "seed": 3, "progress": False}
    alone = arena.run(["uniform", "greedy"], workers=1, **keys).games  # type: ignore[arg-type]
    with Client(cluster.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        for one in (client, client.get_executor()):  # type: ignore[no-untyped-call]
            there = arena.run(["uniform", "greedy"], executor=one, **keys)  # type: ignore[arg-type]
            assert there.games.equals(alone)


@pytest.mark.slow
def test_a_scheduler_is_killed_and_the_run_goes_on_elsewhere(
    cluster: Cluster, local: dict[str, bytes], tmp_path: Path
) -> None:
    """It ends with one line; the games so far are kept."""
    with open_executor(dask(cluster.address)) as executor:
        disturbed = Disturbed(executor, 4, cluster.scheduler.kill)
        with pytest.raises(NoSites, match=r"^(a call to|there was no machine)[^\n]*$"):
            run(cup(), disturbed, RunFolder(tmp_path / "out"), QUIET)
    assert 0 < count_games(tmp_path / "out") < cup().games
    run(cup(), LocalExecutor(2), RunFolder(tmp_path / "out"), QUIET)
    assert same_files(tmp_path / "out") == local


def test_where_no_scheduler_answers_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In one line, with the address."""
    monkeypatch.setattr(pools, "_CONNECT", "0.1s")
    match = r"^no Dask scheduler answers at tcp://127.0.0.1:1: [^\n]+$"
    with pytest.raises(InputError, match=match), open_executor(dask("tcp://127.0.0.1:1")):
        pass
    assert logging.getLogger("distributed.client").level == logging.CRITICAL  # it says it again
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "not the file of a Dask scheduler: No such file or directory"),
        ("{", "not the file of a Dask scheduler"),
        ('{"id": 5}', "not the file of a Dask scheduler"),
    ],
)
def test_a_scheduler_file_that_names_none_is_named(
    text: str | None, reason: str, tmp_path: Path
) -> None:
    """With what is wrong."""
    path = tmp_path / "scheduler.json"
    if text is not None:
        path.write_text(text)
    choice = ExecutorChoice("dask", scheduler_file=str(path))
    with (
        pytest.raises(InputError, match=f"scheduler.json: {reason}"),
        open_executor(Venue(executor=choice)),
    ):
        pass
