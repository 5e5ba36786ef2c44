"""A run that is killed, interrupted or paused goes on, and ends with the same bytes."""

from __future__ import annotations

import json
import math
import os
import shutil
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

from arena.entries.resolve import resolve
from arena.errors import WorkerDied
from arena.executors.log import QUIET, RunLog
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.conftest import Arena, Once, run_command, run_here, start_command
from tests.console import Console
from tests.kit import HERE, Stops, assert_none_is_left, count_games, csv_rows, refused, same_files
from tests.rogues import write
from tests.runs.test_rogues import NO_JAIL
from tests.waiting import PATIENCE, until

CUP = "pairs: 200\nseed: 3\nbots: [uniform, greedy, ./mine.py]\n"
MINE = "from bots.majority import bot\n"


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """Return the folder of a cup with a bot in a process of its own."""
    (tmp_path / "cup.yaml").write_text(CUP)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path / "results" / "cup"


@pytest.fixture
def played(cup: Path, once: Once, tmp_path: Path) -> Path:
    """Return the folder of that cup, in which its first five pairs were played."""

    def play(folder: Path) -> None:
        for name, text in (("cup.yaml", CUP), ("mine.py", MINE)):
            (folder / name).write_text(text)
        assert run_here(folder, "run", "cup.yaml", "--pairs", "5").returncode == 0

    shutil.copytree(once("resumed", play), tmp_path, dirs_exist_ok=True)
    return cup


def workers_of(run: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the run's worker processes, without their bots."""
    with suppress(psutil.Error):
        return [
            child
            for child in psutil.Process(run.pid).children()
            if "arena.executors.worker_process" in " ".join(child.cmdline())
        ]
    return []


def runs_in(place: Path) -> list[Path]:
    """Return the folders of runs in a folder for temporary files."""
    return [*place.glob("noir-arena-*/run-*")]


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_with_the_same_bytes(
    arena: Arena, cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent is killed; no stored game is played again, and no process is left.

    Half of the kills are while it starts, the others after it has stored games.
    """
    folder = cup.parent.parent
    words = ("run", "cup.yaml", "--workers", "2", "--pairs", "16")
    assert arena(*words, "--out", "unbroken").returncode == 0
    monkeypatch.setenv("TMPDIR", str(folder))  # only now: this process has a fork server
    rng = Random(7)
    kept = 0
    for number in range(2):  # `make study` kills 500 times
        run = start_command(folder, *words)
        if number % 2:
            until(lambda run=run, kept=kept: count_games(cup) > kept or run.poll() is not None)
        time.sleep(rng.uniform(0.0, 0.3))
        run.kill()
        run.communicate()
        before, kept = kept, count_games(cup)
        assert kept >= before
    assert kept > 0
    done = run_command(folder, *words, "--json")
    document = json.loads(done.stdout)
    assert (document["played"], document["kept"]) == (6 * 16 - kept, kept)
    assert same_files(cup) == same_files(folder / "unbroken")
    assert_none_is_left(str(folder))
    assert runs_in(folder) == []  # the last run removes the others' folders


@pytest.mark.slow
def test_ctrl_c_keeps_the_finished_games(arena: Arena, cup: Path) -> None:
    """The status is 130, and the next run resumes; until then another one there is refused.

    Four workers wait with the cup's own bot for a file, and the fifth plays the other two.
    """
    folder, asked, gate = cup.parents[1], cup.parents[1] / "asked", cup.parents[1] / "gate"
    body = f"""\
        import os, time
        open({str(asked)!r}, "w").close()
        while not os.path.exists({str(gate)!r}): time.sleep(0.02)
        return view.legal[0]"""
    write(folder, "mine", body)
    (folder / "cup.yaml").write_text(f"{CUP}limits: {{decision: 600}}\n")
    run = start_command(folder, "run", "cup.yaml", "--pairs", "5", "--workers", "5")
    until(lambda: asked.exists() and count_games(cup))
    for words in ((), ("--fresh",)):
        second = arena("run", "cup.yaml", *words)
        assert second.returncode == 2
        assert second.stderr.endswith("error: results/cup: another run is writing there\n")
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130
    assert "interrupted" in errors
    gate.touch()
    assert "kept from before" in arena("run", "cup.yaml", "--pairs", "5").stdout


def test_a_finished_run_is_not_played_again(arena: Arena, played: Path) -> None:
    """Its files are written again from the store, without which they are not overwritten."""
    before = same_files(played), (played / "timings.csv").read_bytes()
    (played / "standings.csv").unlink()
    done = arena("run", "cup.yaml", "--pairs", "5")
    assert "nothing was left to play: all 30 games were played before" in done.stdout
    (played / "run.sqlite").unlink()
    said = refused(arena("run", "cup.yaml", "--pairs", "5"))
    assert "results/cup: results, but no run.sqlite to go on from" in said
    assert (same_files(played), (played / "timings.csv").read_bytes()) == before


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "waiting"), [(1.0, 0), (math.nan, 0), (0.4, 2), (0.01, 99)])
def test_a_second_of_play_is_stored_before_more_is_asked_for(
    small: Tournament, tmp_path: Path, seconds: float, waiting: int
) -> None:
    """Another process sees it, so a run that is killed in a long chunk keeps those before."""
    run(small, OneByOne(tmp_path, seconds, waiting), RunFolder(tmp_path), QUIET)
    assert count_games(tmp_path) == small.games == 12


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, WorkerDied])
def test_what_waits_is_stored_when_a_run_is_stopped(
    small: Tournament, tmp_path: Path, error: type[BaseException]
) -> None:
    """By Ctrl-C, a signal to end or a failure: only `kill -9` loses it."""
    stops = Stops(3, OneByOne(tmp_path, 0.01, 99), error("stopped"))
    with pytest.raises(error):
        run(small, stops, RunFolder(tmp_path), QUIET)
    assert count_games(tmp_path) == 6


@pytest.mark.slow
def test_another_run_or_an_edited_bot_is_refused(arena: Arena, played: Path) -> None:
    """The one line names the difference, and nothing is lost; --fresh starts over."""
    folder, before = played.parent.parent, same_files(played)
    words = ("run", "cup.yaml", "--pairs", "5")
    said = refused(arena(*words, "--seed", "4"))
    assert said.startswith("results/cup: holds another run: seed: there 3, here 4; --fresh")
    assert "greedy: lane: there inproc, here process" in refused(arena(*words, "--lane", "process"))
    (folder / "mine.py").write_text(f"{MINE}# better\n")
    assert "mine: sha256: there " in refused(arena(*words))
    assert same_files(played) == before
    fresh = arena(*words, "--seed", "4", "--fresh")
    assert fresh.returncode == 0
    assert "removed from results/cup/: run.sqlite, manifest.json, " in fresh.stderr
    assert "games.csv" in fresh.stderr
    assert same_files(played) != before


class OneByOne:
    """Looks into the store after each chunk, which is said to take so long."""

    def __init__(self, store: Path, seconds: float, waiting: int) -> None:
        self.store = store
        self.seconds = seconds
        self.waiting = waiting  # chunks that need not be stored

    def play(self, plan: Plan, tournament: Tournament, log: RunLog) -> Iterator[Played]:
        played = 0
        for chunk in HERE.play(plan, tournament, log):
            yield chunk._replace(seconds=self.seconds)
            played += 2
            assert 0 <= played - count_games(self.store) <= 2 * self.waiting


@pytest.fixture
def small() -> Tournament:
    """Return a cup of twelve games, each pair of which is a chunk."""
    bots = [resolve(name) for name in ("uniform", "greedy", "majority")]
    return Tournament("cup", 3, 2, bots, STANDARD)


KILLS = int(os.environ.get("ARENA_KILLS", "500"))
LANES = ["inproc", "process"] if NO_JAIL else ["inproc", "process", "jail"]
PARENT, WORKER, BOT = range(3)


def kill_one(run: subprocess.Popen[bytes], what: int, rng: Random) -> bool:
    """Kill the parent, a worker or a bot of a run; return whether there was one."""
    if what == PARENT:
        run.kill()
        return True
    processes = workers_of(run)  # type: ignore[arg-type]
    with suppress(psutil.Error, IndexError):
        if what == BOT:
            processes = [bot for one in processes for bot in one.children(recursive=True)]
        rng.choice(processes).kill()
        return True
    return False


@pytest.mark.study
def test_hundreds_of_kills_end_in_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is killed and resumed until it has finished, again and again; ARENA_KILLS of them."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    bots = ["uniform", *({"bot": f"{lane}=greedy", "lane": lane} for lane in LANES)]
    config = {"pairs": 200, "seed": 5, "max_faults": 1000, "bots": bots}
    (tmp_path / "cup.yaml").write_text(json.dumps(config))
    assert run_command(tmp_path, "run", "cup.yaml", "--out", "unbroken").returncode == 0
    unbroken, rng = same_files(tmp_path / "unbroken"), Random(11)
    kills = runs = 0
    words = [sys.executable, "-m", "arena", "run", "cup.yaml", "--quiet", "--workers", "2"]
    while kills < KILLS:
        run = subprocess.Popen([*words, "--out", f"out-{runs}"], cwd=tmp_path)
        while run.poll() is None:
            time.sleep(rng.uniform(0.0, 0.4))
            kills += kill_one(run, rng.choice((PARENT, WORKER, WORKER, BOT, BOT, BOT)), rng)
        if run.returncode == 0:
            assert same_files(tmp_path / f"out-{runs}") == unbroken
            runs += 1
        else:
            assert run.returncode == -9
    assert_none_is_left(str(tmp_path))
    assert runs_in(tmp_path) == []


HANG_UP = 129, -1  # -1 before a run has begun: a shell says 129 then, too


@pytest.mark.slow
@pytest.mark.parametrize(("pairs", "statuses"), [(100_000, HANG_UP), (100, (0,))])
def test_a_run_ends_when_its_terminal_goes_away_but_for_nohup(
    tmp_path: Path, pairs: int, statuses: tuple[int, ...]
) -> None:
    """As after SIGHUP, at a random moment, though the kernel sends none; its games are kept."""
    words = ["play", "greedy", "uniform", "--pairs", f"{pairs}", "--out", "out", "--workers", "1"]
    how = {"controlling": False} if statuses == HANG_UP else {"hears_hang_up": False}
    console = Console(tmp_path, *words, **how)
    try:
        until(lambda: (tmp_path / "out").exists() or console.process.poll() is not None)
        time.sleep(Random("play").uniform(0, 4) if statuses == HANG_UP else 0)
        games = count_games(tmp_path / "out")
        console.close()
        until(lambda: console.process.poll() is not None)
    finally:
        console.kill()
    assert console.process.returncode in statuses
    assert count_games(tmp_path / "out") >= games
    assert (tmp_path / "out" / "standings.csv").exists() == (statuses == (0,))


PAUSE = 1.6  # seconds: more than the backstop


@pytest.mark.slow
def test_a_pause_of_the_whole_run_costs_nobody_a_game(tmp_path: Path, arena: Arena) -> None:
    """All its processes are stopped in the middle of a decision, and go on later."""
    write(tmp_path, "works", WORKS)
    (tmp_path / "cup.yaml").write_text(CUP_OF_WORK)
    words = [sys.executable, "-m", "arena", "run", "cup.yaml", "--quiet", "--out", "paused"]
    with subprocess.Popen([*words, "--workers", "2"], cwd=tmp_path) as run:
        until(lambda: is_playing(run))
        with stopped(psutil.Process(run.pid)):
            time.sleep(PAUSE)
        assert run.wait(PATIENCE) == 0
    arena("run", "cup.yaml", "--quiet", "--out", "undisturbed", "--workers", "1")
    assert same_files(tmp_path / "paused") == same_files(tmp_path / "undisturbed")
    assert csv_rows(tmp_path / "paused" / "faults.csv") == []


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


CUP_OF_WORK = """\
pairs: 1
limits: {decision: 0.5, backstop: 1.0, start: 20}
bots:
  - ./works.py
  - {bot: ./works.py, label: inproc, lane: inproc}
"""


WORKS = """\
import time
end = time.process_time() + 0.01
while time.process_time() < end:
    pass
return view.legal[0]"""
