"""A run goes on, is played again or is extended: the same bytes, or what has changed."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import psutil
import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.errors import ChangedBots, InputError, WorkerDied
from arena.executors.log import QUIET, RunLog, logger
from arena.library import keywords
from arena.runs import rerun, stored_run
from arena.runs.run import Interrupted, play_games, run
from arena.store.folder import RunFolder, locate
from arena.store.manifest import manifest_text
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from arena.tournament.versions import version_here
from engine import STANDARD
from tests import rogues
from tests.conftest import Arena, Done, Once, run_command, run_here, start_command
from tests.console import Console
from tests.kit import (
    HERE,
    Stops,
    assert_none_is_left,
    content,
    count_games,
    csv_rows,
    refused,
    same_files,
)
from tests.rogues import write
from tests.runs.test_rogues import NO_JAIL
from tests.tiers import few
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
def five(cup: Path, once: Once, tmp_path: Path) -> Path:
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


def test_a_finished_run_is_not_played_again(arena: Arena, five: Path) -> None:
    """Its files are written again from the store, without which they are not overwritten."""
    before = same_files(five), (five / "timings.csv").read_bytes()
    (five / "standings.csv").unlink()
    done = arena("run", "cup.yaml", "--pairs", "5")
    assert "nothing was left to play: all 30 games were played before" in done.stdout
    (five / "run.sqlite").unlink()
    said = refused(arena("run", "cup.yaml", "--pairs", "5"))
    assert "results/cup: results, but no run.sqlite to go on from" in said
    assert (same_files(five), (five / "timings.csv").read_bytes()) == before


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
def test_another_run_or_an_edited_bot_is_refused(arena: Arena, five: Path) -> None:
    """The one line names the difference, and nothing is lost; --fresh starts over."""
    folder, before = five.parent.parent, same_files(five)
    words = ("run", "cup.yaml", "--pairs", "5")
    said = refused(arena(*words, "--seed", "4"))
    assert said.startswith("results/cup: holds another run: seed: there 3, here 4; --fresh")
    assert "greedy: lane: there inproc, here process" in refused(arena(*words, "--lane", "process"))
    (folder / "mine.py").write_text(f"{MINE}# better\n")
    assert "mine: sha256: there " in refused(arena(*words))
    assert same_files(five) == before
    fresh = arena(*words, "--seed", "4", "--fresh")
    assert fresh.returncode == 0
    assert "removed from results/cup/: run.sqlite, manifest.json, " in fresh.stderr
    assert "games.csv" in fresh.stderr
    assert same_files(five) != before


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


BOTS = ["uniform", "greedy", "g=greedy(patience=1.5)", {"bot": "./mine.py", "label": "my own"}]
CONFIGS: dict[str, dict[str, Any]] = {
    "rules": {"rules": {"set_bonus": 0}, "max_faults": 2, "anchor": "greedy=9", "lane": "inproc"},
    "gauntlet": {"format": "gauntlet", "panel": ["denier", "majority"], "limits": {"game": 60.0}},
    "lanes": {"lane": "process"},
    "swiss": {"format": "swiss", "rounds": 2},
    "until": {"until": "resolved", "max_pairs": 12},
}
COMMANDS = {
    **{name: f"run {name}.yaml" for name in CONFIGS},
    "compare": "compare denier greedy --max-pairs 2 --seed 3",
    "against": "compare denier greedy --against uniform,./mine.py --max-pairs 12",
    "play": "play uniform ./mine.py --against greedy --pairs 2 --out results/play",
    "ablate": "ablate rules.yaml --rule set_bonus=5 --out results/ablate",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a bot that fails, and with configs."""
    folder = tmp_path_factory.mktemp("again")
    write(folder, "mine", "raise ValueError('boom')")
    for name, more in CONFIGS.items():
        config = {"pairs": 2, "seed": 5, "bots": BOTS} | more
        (folder / f"{name}.yaml").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize("kind", few(COMMANDS, 0, 2))
def test_every_kind_of_run_is_played_again_with_the_same_bytes(folder: Path, kind: str) -> None:
    """By its manifest alone, which lies elsewhere."""
    before = {*folder.glob("results/*/")}
    assert run_here(folder, *COMMANDS[kind].split()).returncode == 0
    (out,) = {*folder.glob("results/*/")} - before
    out = out / "set_bonus=5" if kind == "ablate" else out
    manifest = folder / f"{kind}.json"
    manifest.write_bytes((out / "manifest.json").read_bytes())
    again = folder / "again" / kind
    done = run_here(folder, "run", manifest.name, "--out", str(again), "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert same_files(again) == same_files(out)
    assert len(same_files(again)) >= 12
    if "compare" in COMMANDS[kind]:
        assert "repeat with: arena compare denier" in done.stdout


MADE_HERE = (
    f"a manifest made by version {version_here()} "
    f"(pip install 'district-noir-arena=={version_here()}')"
)
CHANGED: list[tuple[Callable[[Any], object], str]] = [
    (
        lambda data: data["bots"][0].update(bot="python:Mine"),
        "bots are not those of the manifest: uniform: bot 'python:Mine': a class or function of a "
        "Python program, which only a program can pass to the arena",
    ),
    (
        lambda data: data["versions"].update(engine="1f" * 32),
        f"{MADE_HERE}, whose games may differ: versions.engine: there 1f1f1f1f1f1f..., ",
    ),
    (
        lambda data: data["versions"].update(arena="0.0.9"),
        "a manifest made by a development version before 1.0, whose games may differ: "
        "versions.arena: there 0.0, here ",
    ),
    (
        lambda data: data["versions"].update(python="3.9.1"),
        f"{MADE_HERE}, whose games may differ: versions.python: there 3.9, here ",
    ),
    (
        lambda data: data.update(versions=None),
        "a manifest made by an unknown version, whose games may differ: "
        "versions.arena: there None, here ",
    ),
    (lambda data: data.update(name="../x"), "name: '../x' cannot name a folder; use"),
    (lambda data: data.update(seed="x"), "its manifest cannot be read: Expected `int`, got `str`"),
]


def test_what_is_not_as_it_was_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bots = [resolve("uniform")]
    for name in ("mine", "other"):
        bots.append(resolve(f"./{write(tmp_path, name, 'pass').name}"))
    manifest = manifest_text(Tournament("cup", 0, 1, bots, STANDARD).manifest())
    assert rerun.play_as(json.loads(manifest)).labels == ["uniform", "mine", "other"]
    for change, message in CHANGED:
        change(data := json.loads(manifest))
        with pytest.raises(InputError, match=f"^{re.escape(message)}"):
            rerun.play_as(data)
    (tmp_path / "mine.py").unlink()
    (tmp_path / "other.py").write_text(MINE)
    gone = "mine: bot './mine.py': No such file or directory; other: its source has changed"
    with pytest.raises(InputError, match=f"^bots are not those of the manifest: {gone}$"):
        rerun.play_as(json.loads(manifest))


def test_a_manifest_is_played_as_it_is(arena: Arena, tmp_path: Path) -> None:
    """What would change the run is refused; a config can be changed."""
    (tmp_path / "manifest.json").write_text('{"versions": {}}')
    options = ["--pairs 3", "--bot greedy", "--against greedy", "--seed 1", "--lane process"]
    for option in [*options, "--replace"]:
        said = refused(arena("run", "manifest.json", *option.split()))
        assert said == f"{option.split()[0]}: a manifest is played as it is"


def test_a_manifest_is_played_where_the_call_says() -> None:
    manifest = Tournament("cup", 1, 1, [resolve("greedy"), resolve("uniform")], STANDARD).manifest()
    again, settings = keywords._repeat(manifest, {"workers": 3, "executor": None})
    assert again.manifest() == manifest
    assert (settings.workers, settings.executor) == (3, None)


def test_an_opponent_of_a_person_has_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the jail; what does not load, or has the person's name, is refused."""
    problems: list[str] = []
    monkeypatch.setattr(rerun, "find_problems", lambda *_: problems)
    assert rerun.find_opponent("Ann", "greedy").lane == "process"
    assert rerun.find_opponent("Ann", "greedy", "jail").lane == "jail"
    problems.append("bot 'greedy': no")
    for person, lane, why in (
        ("Ann", "inproc", "--lane inproc: against a person a bot plays in a process or a jail"),
        ("greedy", None, "bot 'greedy': has the person's label 'greedy'; name one of them"),
        ("Ann", None, "bot 'greedy': no"),
    ):
        with pytest.raises(InputError, match=f"^{why}"):
            rerun.find_opponent(person, "greedy", lane)


def test_a_league_has_its_bots_beside_it_wherever_one_stands(tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    write(tmp_path / "bots", "mine", "raise ValueError('boom')")
    entry = resolve(str(tmp_path / "bots" / "mine.py"))
    stored = replace(entry, target="./bots/mine.py")
    assert rerun.resolve_same(stored, tmp_path).sha256 == entry.sha256
    with pytest.raises(InputError, match=r"bots/mine\.py"):
        rerun.resolve_same(stored)


JOINING: list[Any] = [
    "uniform",
    {"bot": rogues.spec("raises_boom"), "label": "m"},
    "city_hunter",
    "a=uniform",
    "z=greedy",
    "b=greedy(patience=2.0)",
]
"""The last ones have labels between those of the first, and one is out after three faults."""


def write_config(folder: Path, bots: Sequence[Any], **changes: Any) -> None:
    """Write cup.yaml with these bots."""
    config = {"pairs": 3, "seed": 3, "max_faults": 3, "bots": list(bots)} | changes
    (folder / "cup.yaml").write_text(json.dumps(config))


def tables(folder: Path) -> dict[str, bytes]:
    """Return the tables of a run that do not depend on how often one has looked."""
    names = ("games", "head_to_head", "win_types", "faults")
    return {name: locate(folder, f"{name}.csv").read_bytes() for name in names}


def rows(folder: Path) -> list[list[tuple[Any, ...]]]:
    """Return all rows of a store but those with its manifest."""
    return [table for table in content(folder) if not any("manifest" in row for row in table)]


def played(done: Done) -> int:
    """Return how many games a command has played."""
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("nothing was left to play"):
        return 0
    return int(done.stdout.split(" games in ")[0].replace(",", ""))


THREE = ["uniform", "greedy", "majority"]
STEPS: dict[str, list[tuple[list[Any], int, int]]] = {
    # bots, pairs, and how many games are new: some of them may be forfeits by rule
    "bots join": [(JOINING[::3], 3, 6), ([*JOINING[:2], *JOINING[3::2]], 3, 30), (JOINING, 3, 54)],
    "more pairs and fewer": [(THREE, 4, 24), (THREE, 7, 18), (THREE, 2, 0), (THREE, 7, 0)],
    "a bot is left out": [(THREE, 3, 18), (THREE[1:], 3, 0), (THREE, 3, 0)],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", STEPS)
def test_a_run_that_changes_plays_only_what_is_new(
    arena: Arena, cup: Path, tmp_path: Path, kind: str
) -> None:
    """The tables are always those of a run at once, and in the end the store is, too."""
    for bots, pairs, new in STEPS[kind]:
        write_config(tmp_path, bots, pairs=pairs)
        assert played(arena("run", "cup.yaml", "--workers", "1", "-v")) <= new
        assert arena("run", "cup.yaml", "--out", "once", "--fresh").returncode == 0
        assert tables(cup) == tables(tmp_path / "once")
    assert rows(cup) == rows(tmp_path / "once")
    assert played(arena("run", "cup.yaml")) == 0
    assert arena("verify", "results/cup").returncode == 0


@pytest.mark.slow
def test_a_run_that_is_extended_pays_for_looking_again(tmp_path: Path) -> None:
    """Its leads are those of a run at once, with wider intervals; its manifest says so."""

    def play(pairs: int, place: str) -> Any:
        how: dict[str, Any] = {"pairs": pairs, "workers": 1, "progress": False}
        return library.run(["greedy", "denier", "majority"], **how, out=tmp_path / place).verdicts

    play(2, "cup")
    extended, once = play(20, "cup"), play(20, "once")
    assert (extended["lead"] == once["lead"]).all()
    assert (extended["lead_high"] > once["lead_high"]).all()
    for place, is_extended in (("cup", True), ("once", False)):
        text = (tmp_path / place / "manifest.json").read_text()
        assert ('"extended": true' in text) == is_extended


def test_bots_that_join_change_or_leave_are_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(logger, "info", lambda text, *words: lines.append(text % words))
    stored_run._log_bots(["a", "b"], ["b", "c"], ["b"])
    assert lines == [
        "c: a new bot",
        "b: replaced: its games are played again",
        "a: left out: its games stay in the store",
    ]


@pytest.mark.slow
def test_no_bot_is_started_to_find_that_one_has_changed(tmp_path: Path) -> None:
    """So the answer comes at once, however many bots there are, and however slowly they start."""
    mine, slow = tmp_path / "mine.py", tmp_path / "slow.py"
    mark, out = tmp_path / "started", tmp_path / "out"
    mine.write_text(MINE)
    library.run(["uniform", str(mine)], pairs=1, out=out, progress=False)
    mine.write_text("# better\n" + MINE)
    slow.write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n{MINE}")
    with pytest.raises(ChangedBots) as caught:
        library.run(["uniform", str(mine), str(slow)], pairs=1, out=out, progress=False)
    assert caught.value.labels == ["mine"]
    assert not mark.exists()


def test_what_is_replaced_is_there_until_the_new_games_are(tmp_path: Path) -> None:
    """A replacement that was stopped is undone by the bot of before; nothing is played again."""
    folder, here = RunFolder(tmp_path / "out"), HERE

    def cup(text: str) -> Tournament:
        (tmp_path / "mine.py").write_text(text)
        mine = resolve(str(tmp_path / "mine.py"), lane="inproc")
        bots = resolve("uniform"), resolve("majority"), mine
        return Tournament("cup", 3, 2, bots, STANDARD)

    before, better = cup(MINE), cup("# better\n" + MINE)
    assert play_games(before, here, folder, QUIET) == (12, 0)
    (*_, games) = rows(folder.path)
    for _ in range(2):
        with pytest.raises(Interrupted):
            run(better, Stops(0), folder, QUIET, replace=True)
        assert (count_games(folder.path), folder.replaced.exists()) == (4, True)
    assert play_games(before, here, folder, QUIET) == (0, 12)
    assert (rows(folder.path)[-1], folder.replaced.exists()) == (games, False)
    run(other := cup("from bots.uniform import bot\n"), here, folder, QUIET, replace=True)
    run(other, here, once := RunFolder(tmp_path / "once"), QUIET)
    assert tables(folder.path) == tables(once.path)
    assert not folder.replaced.exists()
    wanted = "mine: sha256: .*; --replace plays the games of mine again and keeps those of before"
    with pytest.raises(ChangedBots, match=wanted):
        play_games(before, here, folder, QUIET)
