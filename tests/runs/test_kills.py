"""Kills at random moments, of the parent, of workers and of bots, change no byte of a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random

import psutil
import pytest

from arena.store.folder import locate
from tests.conftest import run_command
from tests.runs.test_resume import FILES, left_over, runs_in, workers_of
from tests.runs.test_rogues import NO_JAIL
from tests.waiting import until

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
