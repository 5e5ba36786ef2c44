"""Kills, a terminal that goes away and a pause change no byte of a run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import psutil
import pytest

from arena.store.folder import locate
from tests.conftest import Arena, run_command
from tests.console import Console
from tests.kills import count_games
from tests.kit import csv_rows
from tests.rogues import write
from tests.runs.test_resume import FILES, left_over, runs_in, workers_of
from tests.runs.test_rogues import NO_JAIL
from tests.tiers import few
from tests.waiting import PATIENCE, until

KILLS = int(os.environ.get("ARENA_KILLS", "500"))
LANES = ["inproc", "process"] if NO_JAIL else ["inproc", "process", "jail"]
PARENT, WORKER, BOT = range(3)


def write_config(folder: Path) -> None:
    bots = [{"bot": f"{lane}=greedy", "lane": lane} for lane in LANES]
    config = {"pairs": 200, "seed": 5, "max_faults": 1000, "bots": ["uniform", *bots]}
    (folder / "cup.yaml").write_text(json.dumps(config))


def bots_of(worker: psutil.Process) -> list[psutil.Process]:
    """Return the processes below a worker."""
    with suppress(psutil.Error):
        return list(worker.children(recursive=True))
    return []


def kill_one(run: subprocess.Popen[bytes], what: int, rng: Random) -> bool:
    """Kill the parent, a worker or a bot of a run; return whether there was one."""
    if what == PARENT:
        run.kill()
        return True
    processes = workers_of(run)  # type: ignore[arg-type]
    if what == BOT:
        processes = [bot for worker in processes for bot in bots_of(worker)]
    with suppress(psutil.Error, IndexError):
        rng.choice(processes).kill()
        return True
    return False


def files(folder: Path) -> dict[str, bytes]:
    return {name: locate(folder, f"{name}.csv").read_bytes() for name in FILES}


def assert_same(run: dict[str, bytes], unbroken: dict[str, bytes]) -> None:
    """Check the faults first, because they say what went wrong."""
    assert run["faults"].decode() == unbroken["faults"].decode()
    assert run == unbroken


@pytest.mark.study
def test_hundreds_of_kills_end_in_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is killed and resumed until it has finished, again and again; ARENA_KILLS of them."""
    for name in ("TMPDIR", "PYTEST_CUP"):
        monkeypatch.setenv(name, str(tmp_path))
    write_config(tmp_path)
    assert run_command(tmp_path, "run", "cup.yaml", "--out", "unbroken").returncode == 0
    unbroken = files(tmp_path / "unbroken")
    rng = Random(11)
    kills = runs = 0
    words = [sys.executable, "-m", "arena", "run", "cup.yaml", "--quiet", "--workers", "2"]
    while kills < KILLS:
        run = subprocess.Popen([*words, "--out", f"out-{runs}"], cwd=tmp_path)
        while run.poll() is None:
            time.sleep(rng.uniform(0.0, 0.4))
            kills += kill_one(run, rng.choice((PARENT, WORKER, WORKER, BOT, BOT, BOT)), rng)
        if run.returncode == 0:
            assert_same(files(tmp_path / f"out-{runs}"), unbroken)
            runs += 1
        else:
            assert run.returncode == -9
    done = run_command(tmp_path, *words[3:], "--out", f"out-{runs}")
    assert done.returncode == 0, done.stderr
    assert_same(files(tmp_path / f"out-{runs}"), unbroken)
    until(lambda: left_over(tmp_path) == [])
    assert runs_in(tmp_path) == []


ENDLESS = "100000"  # pairs
COMMANDS = [
    ["play", "greedy", "uniform", "--pairs", ENDLESS],
    ["compare", "greedy", "uniform", "--max-pairs", ENDLESS, "--elo0", "0", "--elo1", "0.1"],
]
HANG_UP = 129, -1  # -1 before a run has begun: a shell says 129 then, too


def start(folder: Path, moment: int, *, controlling: bool) -> tuple[Console, int]:
    """Start a run, and return it with the games that it has stored at a random moment."""
    words = COMMANDS[moment % len(COMMANDS)]
    console = Console(folder, *words, "--out", "out", "--workers", "1", controlling=controlling)
    until(lambda: (folder / "out").exists() or console.process.poll() is not None)
    time.sleep(Random(moment).uniform(0, 4))
    return console, count_games(folder / "out")


@pytest.mark.slow
@pytest.mark.parametrize("moment", few(range(20), 2, 4))
def test_a_run_ends_when_its_terminal_goes_away(tmp_path: Path, moment: int) -> None:
    """As after SIGHUP, whether the kernel sends one or not; its games are kept."""
    console, games = start(tmp_path, moment, controlling=bool(moment // 2 % 2))
    try:
        console.close()
        until(lambda: console.process.poll() is not None)
    finally:
        console.kill()
    assert console.process.returncode in HANG_UP
    assert count_games(tmp_path / "out") >= games


@pytest.mark.slow
def test_under_nohup_a_run_goes_on_without_its_terminal(tmp_path: Path) -> None:
    """It writes all its files."""
    words = ["play", "greedy", "uniform", "--pairs", "100", "--out", "out", "-v"]
    console = Console(tmp_path, *words, hears_hang_up=False)
    try:
        until((tmp_path / "out").exists)
        console.close()
        until(lambda: console.process.poll() is not None)
    finally:
        console.kill()
    assert console.process.returncode == 0
    assert count_games(tmp_path / "out") == 200
    assert (tmp_path / "out" / "standings.csv").exists()


CUP = """\
pairs: 1
limits: {decision: 0.5, backstop: 1.0, start: 20}
bots:
  - ./works.py
  - {bot: ./works.py, label: inproc, lane: inproc}
"""
WORKS = """\
    def choose(self, view, /):
        import time
        end = time.process_time() + 0.01
        while time.process_time() < end:
            pass
        return view.legal[0]"""
BUSY_LOOPS = 8
PAUSE = 1.6  # seconds: more than the backstop


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """Return the folder of a cup whose bots work 10 ms for each decision."""
    write(tmp_path, "works", WORKS)
    (tmp_path / "cup.yaml").write_text(CUP)
    return tmp_path


def faults(folder: Path, out: str) -> list[dict[str, str]]:
    """Return the faults of a finished run."""
    return csv_rows(folder / out / "faults.csv")


@pytest.mark.slow
def test_a_pause_of_the_whole_run_costs_nobody_a_game(cup: Path, arena: Arena) -> None:
    """All its processes are stopped in the middle of a decision, and go on later."""
    words = [sys.executable, "-m", "arena", "run", "cup.yaml", "--quiet", "--out", "paused"]
    with subprocess.Popen([*words, "--workers", "2"], cwd=cup) as run:
        until(lambda: is_playing(run))
        with stopped(psutil.Process(run.pid)):
            time.sleep(PAUSE)
        assert run.wait(PATIENCE) == 0
    arena("run", "cup.yaml", "--quiet", "--out", "undisturbed", "--workers", "1")
    assert faults(cup, "paused") == faults(cup, "undisturbed") == []
    games = [(cup / out / "games.csv").read_bytes() for out in ("paused", "undisturbed")]
    assert games[0] == games[1]


def is_playing(run: subprocess.Popen[bytes]) -> bool:
    """Return whether bots are running, or the run has ended."""
    if run.poll() is not None:
        return True
    below = psutil.Process(run.pid).children(recursive=True)
    with suppress(psutil.Error):
        return any("lanes.host" in " ".join(process.cmdline()) for process in below)
    return False


@contextmanager
def stopped(parent: psutil.Process) -> Iterator[None]:
    """Stop a process and all below it, from the top, until the end."""
    family = [parent, *parent.children(recursive=True)]
    for process in family:
        with suppress(psutil.Error):
            process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in family:
            with suppress(psutil.Error):
                process.send_signal(signal.SIGCONT)


@pytest.mark.study
def test_a_busy_machine_takes_no_game_from_anybody(tmp_path: Path) -> None:
    """Champion, ismcts and a bot that uses numpy, with 0.2 s and eight busy loops beside them."""
    pytest.importorskip("numpy")
    body = (
        "    def choose(self, view, /):\n"
        "        import numpy\n"
        "        values = numpy.linalg.svd(numpy.arange(14400.0).reshape(120, 120) % 7)[1]\n"
        "        return view.legal[int(values.sum()) % len(view.legal)]"
    )
    write(tmp_path, "counts", body)
    (tmp_path / "cup.yaml").write_text(
        "pairs: 3\nlimits: {decision: 0.2}\nlane: process\n"
        "bots: [champion, 'ismcts(iterations=40)', ./counts.py]\n"
    )
    run_command(tmp_path, "run", "cup.yaml", "--quiet", "--out", "idle")
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_LOOPS)
    ]
    try:
        run_command(tmp_path, "run", "cup.yaml", "--quiet", "--out", "busy")
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert faults(tmp_path, "idle") == []
    for name in ("games.csv", "faults.csv"):
        assert (tmp_path / "busy" / name).read_bytes() == (tmp_path / "idle" / name).read_bytes()
