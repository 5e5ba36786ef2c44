"""A run that is paused, and one on a busy machine: nobody loses a game by it."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.conftest import Arena, run_command
from tests.rogues import write
from tests.waiting import PATIENCE, until

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
    with (folder / out / "faults.csv").open() as file:
        return list(csv.DictReader(file))


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
        return any("host.py" in " ".join(process.cmdline()) for process in below)
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
