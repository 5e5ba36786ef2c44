"""What two sites of one core each play, beside a crew of two workers, by turns in one run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from arena.addons.cluster.dask import DaskExecutor, connect
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.executors.contract import Executor
from arena.executors.local import LocalExecutor
from arena.executors.log import RunLog
from arena.tournament import config
from arena.tournament.plan import Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from bench.engine import Row
from bench.workers import QUICKSTART, engine_rate
from engine import STANDARD

ROUNDS = 5
SECONDS = 20.0  # of play in each turn, if the engine's speed were reached
ASKED = "0.90"


def rows() -> Iterator[Row]:
    """Yield games/s of both, the ratio, and the client's processor time for a game."""
    if not find_spec("distributed"):
        yield Row("two sites", "not measured: needs the extra `dask`")
        return
    with _cluster(sites=2) as address, connect(address, None) as client:
        for name, entries in (
            ("uniform - greedy", [resolve("uniform"), resolve("greedy")]),
            ("quickstart", config.resolve_bots(config.read(QUICKSTART))),
        ):
            games = int(SECONDS * engine_rate(entries))
            turns = [
                (
                    _play(entries, games, LocalExecutor(2)),
                    _play(entries, games, DaskExecutor(client)),
                )
                for _ in range(ROUNDS)
            ]
            local, sites = (median(turn[place][0] for turn in turns) for place in (0, 1))
            ratio = median(there[0] / here[0] for here, there in turns)
            cost = median(there[1] for _, there in turns)
            yield Row(f"{name}: a crew of two workers, games/s", f"{local:,.0f}")
            yield Row(f"{name}: two sites, games/s", f"{sites:,.0f}", f"{ratio:.2f}", ASKED)
            yield Row(f"{name}: the client of the sites, us of CPU a game", f"{1e6 * cost:.2f}")


def _play(entries: Sequence[Entry], games: int, executor: Executor) -> tuple[float, float]:
    """Return games/s from the first chunk to the last, and this process's CPU seconds a game."""
    pairings = len(Tournament("bench", 0, 1, entries, STANDARD).pairings)
    pairs = max(1, games // pairings // 2)
    tournament = Tournament("bench", 0, pairs, entries, STANDARD)
    strikes = Strikes(tournament.pairings, pairs, most=1)
    plan = Plan([[range(pairs)]] * pairings, strikes)
    count, start, used = 0, 0.0, 0.0
    for played in executor.play(plan, tournament, RunLog([])):
        plan.learn(played)
        if not start:
            start, used = perf_counter(), process_time()
        else:
            count += len(played.results)
            rate = count / (perf_counter() - start), (process_time() - used) / count
    return rate


@contextmanager
def _cluster(sites: int) -> Iterator[str]:
    """Yield the address of a scheduler on this machine, with workers of one thread each."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        common = ["--scheduler-file", str(file), "--no-dashboard"]
        words = [["scheduler", "--port", "0", "--host", "127.0.0.1", *common]]
        words += [["worker", "--nthreads", "1", "--no-nanny", *common]] * sites
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{kind}", *rest],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=folder,
            )
            for kind, *rest in words
        ]
        try:
            from distributed import Client

            client = Client(scheduler_file=str(file), set_as_default=False)  # type: ignore[no-untyped-call]
            with client:
                client.wait_for_workers(sites, timeout=60)
                yield str(client.scheduler_info()["address"])
        finally:
            for process in processes:
                process.kill()  # asked to end, two of Dask's workers waited for ever
            for process in processes:
                process.wait()
