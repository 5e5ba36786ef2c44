"""A run on a Dask cluster of this machine has the files of a local run, whatever is killed."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import arena
from arena.addons.cluster import calls, dask
from arena.addons.cluster import fleet as fleets
from arena.addons.cluster.cluster_commands import examine_sites, to_finding
from arena.addons.cluster.dask import DaskExecutor, DaskPlaces, connect
from arena.cli.examined import format_findings
from arena.entries.resolve import resolve
from arena.errors import InputError, NoSites
from arena.executors.contract import Executor
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET, RunLog
from arena.runs.run import run
from arena.store.database import NAME as STORE
from arena.store.folder import LOG, TIMINGS, RunFolder
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from bench.studies import cluster as study
from engine import STANDARD
from tests import ROOT
from tests.addons.cluster.cluster import Cluster
from tests.conftest import Arena
from tests.executors.marked import assert_nothing_is_left, marked, wait_for
from tests.kills import count_games
from tests.rogues import rogue
from tests.tiers import few
from tests.waiting import until

pytestmark = pytest.mark.skipif(
    find_spec("distributed") is None,
    reason="Dask is not installed: pip install 'district-noir-arena[dask]'",
)
PATIENCE = 20.0  # seconds in which a site hears of its client, or ends
UNLIKE = {LOG, TIMINGS, STORE, f"{STORE}-wal", f"{STORE}-shm"}
"""The files of a run that need not be the same."""

Action = Callable[[], object]


def tournament() -> Tournament:
    """Return a run of honest bots, of one in its own process, and of one with doubtful faults."""
    bots = [resolve("uniform"), resolve("greedy"), resolve("remote=greedy", lane="process")]
    return Tournament("cluster", 3, 20, [*bots, rogue("exits_at_once")], STANDARD, max_faults=2)


def files(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files that are the same in every run."""
    found = filter(Path.is_file, folder.rglob("*"))
    return {path.name: path.read_bytes() for path in found if path.name not in UNLIKE}


@dataclass(frozen=True)
class Disturbed:
    """Plays with another executor, and does something after so many chunks."""

    executor: Executor
    actions: Mapping[int, Action]

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        for number, played in enumerate(self.executor.play(plan, tournament, log), 1):
            self.actions.get(number, int)()
            yield played


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a local run."""
    folder = tmp_path_factory.mktemp("local")
    run(tournament(), LocalExecutor(2), RunFolder(folder), QUIET)
    found = files(folder)
    assert {"games.csv", "faults.csv", "standings.csv", "report.html", "manifest.json"} <= {*found}
    return found


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a cluster of a scheduler and a worker."""
    with Cluster(tmp_path_factory.mktemp("cluster"), PATIENCE) as cluster:
        cluster.add()
        yield cluster


@pytest.fixture
def cluster(shared: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Yield this cluster; after a test it has no site, no other worker and no file."""
    monkeypatch.setattr(calls, "_BEAT", 1.0)
    yield shared
    for worker in shared.workers[1:]:
        shared.remove(worker)
    wait_for(lambda: {*marked(shared.temporary)} <= {shared.scheduler.pid, shared.workers[0].pid})
    assert [*shared.temporary.iterdir()] == []


@pytest.fixture
def other_engine(tmp_path: Path) -> Path:
    """Return a folder with the packages, in one byte of which the engine differs."""
    for package in ("arena", "bots", "engine"):
        shutil.copytree(ROOT / package, tmp_path / "other" / package, symlinks=True)
    path = tmp_path / "other" / "engine" / "scoring.py"
    text = path.read_text()
    assert "(0, 8)" in text
    path.write_text(text.replace("(0, 8)", "(0, 9)", 1))
    return tmp_path / "other"


@pytest.mark.study
def test_a_run_of_which_a_worker_dies_has_the_files_of_a_local_run(
    cluster: Cluster, local: dict[str, bytes], tmp_path: Path
) -> None:
    """Of two workers one is killed in the middle; the faults and the report are the same, too."""
    victim = cluster.add()
    with connect(cluster.address, None) as client:
        client.wait_for_workers(2)
        executor = Disturbed(DaskExecutor(client), {4: victim.kill})
        run(tournament(), executor, RunFolder(tmp_path / "out"), QUIET)
    assert files(tmp_path / "out") == local
    assert victim.wait() == -signal.SIGKILL


@pytest.mark.slow
def test_a_run_on_a_cluster_has_the_files_of_a_local_run(
    cluster: Cluster, local: dict[str, bytes], tmp_path: Path
) -> None:
    """Also the faults, and the report."""
    with connect(cluster.address, None) as client:
        client.wait_for_workers(1)
        run(tournament(), DaskExecutor(client), RunFolder(tmp_path / "out"), QUIET)
    assert files(tmp_path / "out") == local


@pytest.mark.slow
def test_the_executor_of_a_client_is_one(cluster: Cluster) -> None:
    """As any of concurrent.futures: its calls reach any worker, and leave nothing there."""
    with connect(cluster.address, None) as client:
        client.wait_for_workers(1)
        bots = ["uniform", "greedy"]
        results = arena.run(bots, pairs=4, seed=3, executor=client.get_executor(), progress=False)
    alone = arena.run(bots, pairs=4, seed=3, workers=1, progress=False)
    assert results.games.equals(alone.games)


@pytest.mark.slow
def test_one_is_killed_one_is_stopped_and_one_refused(
    cluster: Cluster,
    local: dict[str, bytes],
    tmp_path: Path,
    other_engine: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of four workers: a nanny starts another; what is stopped is as if the network were cut."""
    monkeypatch.setattr(fleets, "_SILENCE", 3.0)
    monkeypatch.setattr(fleets, "_LATE_AT_LEAST", 3600.0)  # what it had is not played before
    monkeypatch.setattr(calls, "_CLOSING", 1.0)
    nanny, stopped = cluster.add(nanny=True), cluster.add()
    cluster.add(path=other_engine)
    actions = {
        4: lambda: kill_worker_of(nanny.pid),
        6: lambda: os.kill(stopped.pid, signal.SIGSTOP),
    }
    with connect(cluster.address, None) as client:
        client.wait_for_workers(4)
        executor = Disturbed(DaskExecutor(client), actions)
        run(tournament(), executor, RunFolder(tmp_path / "out"), QUIET)
    assert files(tmp_path / "out") == local
    log = (tmp_path / "out" / LOG).read_text()
    (line,) = (line for line in log.splitlines() if " is left out: " in line)
    assert " is left out: engine: there " in line
    assert "arena:" not in line


@pytest.mark.slow
def test_sites_are_listed_with_what_each_lacks(cluster: Cluster, other_engine: Path) -> None:
    """One that has another engine cannot play; the answer of each is data about that machine."""
    cluster.add(path=other_engine)
    with connect(cluster.address, None) as client:
        client.wait_for_workers(2)
        found = sorted(examine_sites(client), key=lambda site: not site["plays"])
    assert [site["plays"] for site in found] == [True, False]
    assert found[1]["lacks"][0].startswith("engine: there ")
    for site in found:
        assert site["site"].startswith("tcp://127.0.0.1:")
        assert site["cores"] == 1
        assert site["lanes"].startswith("inproc, process")
        assert site["versions"]["python"] == f"{sys.version_info[0]}.{sys.version_info[1]}"
    lines = [*format_findings(map(to_finding, found))]
    assert any("-> engine: there" in line for line in lines)


def kill_worker_of(nanny: int) -> None:
    """Kill the worker below a nanny."""
    import psutil

    for process in psutil.Process(nanny).children():
        if "spawn_main" in " ".join(process.cmdline()):
            process.kill()
            return
    pytest.fail("the nanny has no worker")


def test_where_no_scheduler_answers_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, with the address."""
    monkeypatch.setattr(dask, "_CONNECT", "0.1s")
    with (
        pytest.raises(
            InputError, match=r"^no Dask scheduler answers at tcp://127.0.0.1:1: [^\n]+$"
        ),
        connect("tcp://127.0.0.1:1", None),
    ):
        pass
    assert logging.getLogger("distributed.client").level == logging.CRITICAL  # it says it again


def test_where_no_scheduler_is_named_it_says_what_names_one() -> None:
    """The two options, and the variable."""
    from dask import config

    with (
        config.set({"scheduler-address": None}),
        pytest.raises(InputError, match=r"--scheduler-file FILE or .*DASK_SCHEDULER_ADDRESS"),
        connect(None, None),
    ):
        pass


def test_a_scheduler_that_has_gone_is_named() -> None:
    """The client forgets its address when it gives up."""
    client = SimpleNamespace(
        asynchronous=False, status="running", scheduler=SimpleNamespace(address="tcp://here:1")
    )
    places = DaskPlaces(client)  # type: ignore[arg-type]
    client.status, client.scheduler = "closed", None
    with pytest.raises(NoSites, match=r"^the Dask scheduler tcp://here:1 is gone: no connection$"):
        places.look()


@pytest.mark.parametrize("words", few([(), ("--json",)], 0))
def test_a_cluster_without_sites_cannot_play(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """The exit status is 1, and `ok` is false."""
    monkeypatch.setattr(dask, "connect", lambda *_: nullcontext())
    monkeypatch.setattr(dask, "find_workers", lambda _: {})
    done = arena("sites", *words)
    assert done.returncode == 1
    if words:
        assert json.loads(done.stdout) == {"ok": False, "sites": []}
    else:
        assert done.stderr == "no sites: the scheduler has no workers yet\n"


CLIENT = """
import sys
from arena.addons.cluster import calls
calls._BEAT = 1.0
from arena.__main__ import main
main()
"""
CUP = """
name: cup
pairs: 100
seed: 3
bots: [uniform, greedy, majority]
"""


@pytest.mark.slow
def test_a_web_server_is_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, whatever answers at the address."""
    monkeypatch.setattr(dask, "_CONNECT", "2s")
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with (
            pytest.raises(InputError, match=f"^no Dask scheduler answers at {address}: [^\n]+$"),
            connect(address, None),
        ):
            pass


@pytest.mark.study
def test_scheduler_and_client_are_killed_and_the_run_goes_on(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First the scheduler: a clear end; then the client: its sites end; then it is local."""
    tmp_path = tmp_path_factory.mktemp("two")  # short: sockets below it have 108 characters
    monkeypatch.setattr(calls, "_BEAT", 1.0)
    three = [resolve(name) for name in ("uniform", "greedy", "majority")]
    cup = Tournament("cup", 3, 100, three, STANDARD)
    out, alone = tmp_path / "out", tmp_path / "alone"
    with Cluster(tmp_path / "first", PATIENCE) as cluster:
        cluster.add()
        with connect(cluster.address, None) as client:
            executor = Disturbed(DaskExecutor(client), {4: cluster.scheduler.kill})
            with pytest.raises(NoSites, match="is gone"):
                run(cup, executor, RunFolder(out), QUIET)
    first = count_games(out)
    assert first >= 8
    (tmp_path / "cup.yaml").write_text(CUP)
    with Cluster(tmp_path / "second", 3.0) as cluster:
        cluster.add()
        words = ["run", "cup.yaml", "--out", "out", "--scheduler", cluster.address]
        process = subprocess.Popen([sys.executable, "-c", CLIENT, *words], cwd=tmp_path)
        until(lambda: process.poll() is not None or count_games(out) > first)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        ours = {cluster.scheduler.pid, cluster.workers[0].pid}
        wait_for(lambda: {*marked(cluster.temporary)} <= ours)
        assert [*cluster.temporary.iterdir()] == []
    assert_nothing_is_left(cluster.temporary)
    assert first < count_games(out) < cup.games
    for folder in (out, alone):
        run(cup, LocalExecutor(1), RunFolder(folder), QUIET)
    assert files(out) == files(alone)


@pytest.mark.study
def test_every_kind_of_run_has_the_same_bytes_wherever_it_is_played() -> None:
    """Sites, workers, rounds, rogues; sites and clients killed; the study's table says so."""
    rows = [line for line in study.lines() if line.startswith("| ")][1:]
    assert len(rows) == 17
    assert [row for row in rows if " the same | " not in row] == []
