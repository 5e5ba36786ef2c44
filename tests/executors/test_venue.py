"""Every command and call plays at a `Venue` that is opened; one more field reaches all of them."""

from __future__ import annotations

import inspect
import pickle
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import arena
from arena.addons.cluster import call
from arena.cli import cli
from arena.errors import InputError
from arena.executors import worker_process
from arena.executors.local import LocalExecutor, open_executor
from arena.tournament.config import Config
from arena.tournament.config_keys import ExecutorChoice, Venue, choose_venue
from arena.tournament.tournament import Tournament
from engine.rules import STANDARD
from tests.addons.league.small import a_league
from tests.console import find_command
from tests.kit import HERE

FIELDS = {*Venue.__struct_fields__}
HERE_ONLY = {"executor"}  # what a command or call is without that plays on this machine only
ONE_PROCESS = {"executor", "workers"}

COMMANDS: dict[str, tuple[set[str], tuple[str, ...]]] = {
    "run": (set(), ("cup.yaml",)),
    "play": (set(), ("greedy", "uniform")),
    "compare": (set(), ("greedy", "uniform")),
    "ablate": (set(), ("cup.yaml", "--rule", "set_bonus=3")),
    "tune": (set(), ("greedy", "--param", "patience=0..5", "--against", "uniform")),
    "analyse": (set(), ("friday",)),
    "league host": ({"scheduler"}, ("club",)),
    "verify": (HERE_ONLY, ("friday",)),
    "probe": (HERE_ONLY, ("greedy", "--out", "best.py")),
    "game": (ONE_PROCESS, ("greedy", "uniform")),
    "check": (ONE_PROCESS, ("greedy", "--lane", "process")),
}
"""The commands that play: which fields of a venue each does without, and what it is given."""

RUN = {"pairs": 1, "progress": False}
CALLS: dict[str, tuple[Callable[..., Any], set[str], Callable[..., Any]]] = {
    "run": (arena.run, set(), lambda **at: arena.run(["greedy", "uniform"], **RUN, **at)),
    "compare": (arena.compare, set(), lambda **at: arena.compare("greedy", "uniform", **at)),
    "tune": (
        arena.tune,
        set(),
        lambda **at: arena.tune("greedy", {"patience": "0..5"}, against="uniform", **at),
    ),
    "analyse": (arena.Results.analyse, set(), lambda **at: arena.open("friday").analyse(**at)),
    "probe": (arena.probe, HERE_ONLY, lambda **at: arena.probe("greedy", out="best.py", **at)),
    "play": (arena.play, ONE_PROCESS, lambda **at: arena.play("greedy", "uniform", **at)),
}
"""The calls that play: which fields of a venue each does without."""


class More(Venue, frozen=True, kw_only=True):
    """A venue with one more field."""

    mark: int = 0


class Opened(Exception):
    """A venue was opened; the games are not played."""

    def __init__(self, venue: Venue, workers: int = 0) -> None:
        self.venue, self.workers = venue, workers


def _stop(venue: Venue, workers: int = 0) -> None:
    raise Opened(venue, workers)


def choose_more(*asked: Any) -> More:
    """Return what `choose_venue` does, with one more field."""
    return More(**msgspec.structs.asdict(choose_venue(*asked)), mark=7)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a config, the folder of a run, and a league."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "cup.yaml").write_text("pairs: 1\nworkers: 5\nbots: [greedy, uniform]\n")
    arena.run(["greedy", "uniform"], pairs=1, workers=1, out=folder / "friday", progress=False)
    with a_league(folder / "club"):
        pass
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of that folder, in which each venue that is opened ends the program."""
    folder = tmp_path / "here"
    shutil.copytree(made, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("arena.processes.adopt_orphans", lambda: None)
    local = "arena.executors.local.LocalExecutor"
    monkeypatch.setattr(local, lambda workers, venue: _stop(venue, workers))
    monkeypatch.setattr("arena.executors.worker.play_here", _stop)
    monkeypatch.setattr("arena.check.inspector.run_check", lambda order, _: _stop(order.venue))
    for place in ("arena.tournament.config_keys", "arena.library.keywords"):
        monkeypatch.setattr(f"{place}.choose_venue", choose_more)
    return folder


def parameters(command: str) -> set[str]:
    """Return the parameters of a command."""
    return {str(one.name) for one in find_command(command).params}


@pytest.mark.parametrize("name", [*COMMANDS, *CALLS])
def test_what_plays_has_the_options_of_a_venue(name: str) -> None:
    """Those that it does without are named above, so one more field is an option of all of them."""
    if name in COMMANDS:
        without, found = COMMANDS[name][0], parameters(name)
        assert ("scheduler" in found) == (not without)
    else:
        function, without, _ = CALLS[name]
        found = {*inspect.signature(function).parameters}
    assert found & FIELDS == FIELDS - without


def open_by(command: str, *words: str) -> Opened:
    """Return what a command has opened."""
    with pytest.raises(Opened) as found:
        cli.main([*command.split(), *COMMANDS[command][1], *words], standalone_mode=False)
    return found.value


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_opens_its_venue(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the workers that are asked for, and one more field; but not alone on a rank of MPI."""
    without, _ = COMMANDS[command]
    opened = open_by(command, *([] if without == ONE_PROCESS else ["--workers", "3"]))
    one = {"game": 1, "check": 0}
    assert opened.workers == one.get(command, 3)
    assert isinstance(opened.venue, More)
    assert opened.venue.mark == 7
    assert opened.venue.executor == (ExecutorChoice() if command == "check" else None)
    if "executor" not in without:
        monkeypatch.setenv("PMI_SIZE", "2")
        monkeypatch.setenv("PMI_RANK", "1")
        with pytest.raises(InputError, match="rank 1 of 2: --executor mpi is missing"):
            open_by(command)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("call", CALLS)
def test_every_call_opens_its_venue(call: str) -> None:
    """As for commands."""
    _, without, play = CALLS[call]
    given = {} if without == ONE_PROCESS else {"workers": 3}
    with pytest.raises(Opened) as found:
        play(**given)
    assert found.value.workers == given.get("workers", 1)
    assert found.value.venue == More(workers=found.value.workers, mark=7)


@pytest.mark.usefixtures("folder")
def test_a_config_is_a_venue_of_which_options_come_before_it() -> None:
    """And it before the cores; the rest of it does not travel."""
    assert open_by("run", "--workers", "2").workers == 2
    assert open_by("run").workers == 5
    assert open_by("play").venue.workers is None
    config = Config([], 1, workers=4, executor="mpi")
    assert choose_venue({}, config) == Venue(workers=4, executor=ExecutorChoice("mpi"))
    assert {*Config.__struct_fields__} >= FIELDS


def test_workers_know_the_venue_here_and_elsewhere() -> None:
    """Each of them enters it; a client or a pool stays where it is."""
    cup, venue = Tournament("cup", 0, 1, [], STANDARD), More(workers=3, mark=7)
    with open_executor(venue) as executor:
        assert executor == LocalExecutor(3, venue)
    assert pickle.loads(worker_process.write_head(cup, venue))[1] == venue
    assert pickle.loads(call.write_head(cup, venue))[1] == venue
    with ThreadPoolExecutor() as pool, open_executor(replace(venue, executor=pool)) as executor:
        assert (executor.executor, executor.venue) == (pool, venue)
    with open_executor(Venue(executor=HERE)) as executor:
        assert executor is HERE
    with pytest.raises(InputError, match="executor: 5 is neither a name"):
        arena.run(["greedy", "uniform"], executor=5)
