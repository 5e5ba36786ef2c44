"""Clusters: whether a run has the same files wherever it is played, and whatever is killed."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.addons.cluster.cluster import Cluster
from tests.executors.marked import assert_nothing_is_left, marked, wait_for
from tests.kills import count_games
from tests.runs.test_rogues import IN_THE_CUP, IN_THE_WORKER, bots_for_a_cup

SEED = 15
SITES = (1, 2, 5)
WORKERS = (1, 2, 7)
KILLS = 10
PATIENCE = 30.0  # seconds in which a site hears of its client; the client says it every ten
UNLIKE = {"run.log", "timings.csv", "run.sqlite", "run.sqlite-wal", "run.sqlite-shm"}
BOTS = ["uniform", "greedy", "majority", {"bot": "greedy", "label": "remote", "lane": "process"}]
CONFIGS = {
    "cup": {"pairs": 60, "seed": 3, "bots": BOTS},
    "swiss": {"format": "swiss", "pairs": 10, "rounds": 2, "seed": 3, "bots": BOTS},
    "until": {"pairs": 10, "until": "resolved", "max_pairs": 60, "seed": 3, "bots": BOTS},
    "rogues": {
        "pairs": 1,
        "seed": 3,
        "max_faults": 1,
        "limits": {"decision": 1.5, "start": 3.0, "memory": 256},
        "bots": bots_for_a_cup("cluster-study", IN_THE_CUP[::8], IN_THE_WORKER),
    },
}
COMPARE = ["compare", "greedy(patience=2.5)", "greedy", "--against", "uniform"]
COMPARE += ["--against", "majority", "--max-pairs", "60", "--seed", "3"]


class _Study:
    """A folder with the configs, and the files of each local run, with which others agree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rng = Random(SEED)
        for name, config in CONFIGS.items():
            (folder / f"{name}.yaml").write_text(json.dumps({"name": name, **config}))
        self.local: dict[str, dict[str, bytes]] = {}

    def start(self, name: str, out: str, *words: str) -> subprocess.Popen[bytes]:
        """Start a run into a folder."""
        command = COMPARE if name == "compare" else ["run", f"{name}.yaml"]
        return subprocess.Popen(
            [sys.executable, "-m", "arena", *command, "--quiet", "--out", out, *words],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )

    def row(self, name: str, where: str, what: str, out: str, seconds: float) -> str:
        """Return the row of a run that has ended; the first of its name is the local one."""
        folder = self.folder / out
        files = filter(Path.is_file, folder.rglob("*"))
        found = {p.name: p.read_bytes() for p in files if p.name not in UNLIKE}
        local = self.local.setdefault(name, found)
        unlike = [each for each in {**local, **found} if local.get(each) != found.get(each)]
        same = f"{len(found)} the same" if not unlike else f"differ: {', '.join(unlike)}"
        return f"| {name} | {where} | {what} | {count_games(folder):,} | {same} | {seconds:.0f} |"

    def play(self, name: str, where: str, out: str, *words: str) -> str:
        """Return the row of a run that nothing disturbs."""
        began = time.monotonic()
        status = self.start(name, out, *words).wait()
        assert status == 0, (name, where, status)
        return self.row(name, where, "", out, time.monotonic() - began)

    def kill_sites(self, cluster: Cluster) -> str:
        """Return the row of a run whose sites are killed at random moments, and replaced."""
        began, kills = time.monotonic(), 0
        process = self.start("cup", "killed", "--scheduler", cluster.address)
        wait_for(lambda: count_games(self.folder / "killed") or process.poll() is not None)
        while process.poll() is None:
            if kills < KILLS:
                cluster.remove(self.rng.choice(cluster.workers))
                cluster.add()
                kills += 1
            with suppress(subprocess.TimeoutExpired):
                process.wait(self.rng.uniform(0.5, 4.0))
        assert process.returncode == 0
        seconds = time.monotonic() - began
        return self.row("cup", "2 sites", f"{kills} sites killed", "killed", seconds)

    def kill_client(self, cluster: Cluster, where: str, *words: str) -> str:
        """Return the row of a run whose client is killed, and that goes on somewhere else."""
        out = f"resumed-{where.replace(' ', '-')}"
        process = self.start("cup", out, "--scheduler", cluster.address)
        wait_for(lambda: count_games(self.folder / out) or process.poll() is not None)
        process.kill()
        process.wait()
        kept, began = count_games(self.folder / out), time.monotonic()
        ours = {cluster.scheduler.pid, *(worker.pid for worker in cluster.workers)}
        wait_for(lambda: {*marked(cluster.temporary)} <= ours)
        sites = time.monotonic() - began
        status = self.start("cup", out, *words).wait()
        assert status == 0
        what = f"client killed at {kept} games; its sites ended after {sites:.0f} s"
        return self.row("cup", where, what, out, time.monotonic() - began - sites)


def lines() -> Iterator[str]:
    """Yield the table of the section, each row as soon as it is known."""
    yield "Every file but the log, the timings and the store is compared byte by byte with that of"
    yield "the first run of its config. Afterwards no process and no temporary file is left.\n"
    yield "| config | where | what happened | games | files | seconds |"
    yield "|---|---|---|---|---|---|"
    with tempfile.TemporaryDirectory() as name:
        yield from _rows(Path(name))


def _rows(folder: Path) -> Iterator[str]:
    study = _Study(folder)
    for workers in WORKERS:
        words = ("--workers", str(workers))
        yield study.play(
            "cup", f"local, {workers} worker{'s' * (workers > 1)}", f"local-{workers}", *words
        )
    others = [name for name in (*CONFIGS, "compare") if name != "cup"]
    for name in others:
        yield study.play(name, "local, 2 workers", f"local-{name}", "--workers", "2")
    with Cluster(folder / "cluster", PATIENCE) as cluster:
        at = ("--scheduler", cluster.address)
        for sites in SITES:
            while len(cluster.workers) < sites:
                cluster.add()
            _wait_for_workers(cluster)
            yield study.play("cup", f"{sites} site{'s' * (sites > 1)}", f"sites-{sites}", *at)
        for _ in range(3):
            cluster.remove(cluster.workers[0])
        for name in others:
            yield study.play(name, "2 sites", f"sites-{name}", *at)
        yield study.kill_sites(cluster)
        yield study.kill_client(cluster, "local 2 workers", "--workers", "2")
        yield study.kill_client(cluster, "2 sites", *at)
    assert_nothing_is_left(cluster.temporary)


def _wait_for_workers(cluster: Cluster) -> None:
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        client.wait_for_workers(len(cluster.workers))
