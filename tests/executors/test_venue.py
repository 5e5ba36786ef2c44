"""Every command and call plays at a `Venue` that is opened, with the workers that are asked for."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.cli import cli
from arena.errors import InputError
from arena.executors.local import open_executor
from arena.threads import count_cores
from arena.tournament.config import Config
from arena.tournament.config_keys import ExecutorChoice, Venue, choose_venue
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


class Opened(Exception):
    """So many workers were asked for; the games are not played."""

    def __init__(self, workers: int) -> None:
        self.workers = workers


def _stop(workers: int) -> None:
    raise Opened(workers)


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
    monkeypatch.setattr("arena.executors.local.LocalExecutor", _stop)
    return folder


def parameters(command: str) -> set[str]:
    """Return the parameters of a command."""
    return {str(one.name) for one in find_command(command).params}


@pytest.mark.parametrize("name", [*COMMANDS, *CALLS])
def test_what_plays_has_the_options_of_a_venue(name: str) -> None:
    """Those that it does without are named above, so a new field is an option of all others."""
    if name in COMMANDS:
        without, found = COMMANDS[name][0], parameters(name)
        assert ("scheduler" in found) == (not without)
    else:
        function, without, _ = CALLS[name]
        found = {*inspect.signature(function).parameters}
    assert found & FIELDS == FIELDS - without


def open_by(command: str, *words: str) -> int:
    """Return the number of workers that a command asks for."""
    with pytest.raises(Opened) as found:
        cli.main([*command.split(), *COMMANDS[command][1], *words], standalone_mode=False)
    return found.value.workers


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_opens_its_venue(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the workers that are asked for; but not alone on a rank of MPI."""
    without, _ = COMMANDS[command]
    if without == ONE_PROCESS:
        assert open_by(command) == 1
    else:
        assert open_by(command, "--workers", "3") == 3
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


@pytest.mark.usefixtures("folder")
def test_options_come_before_a_config_and_a_config_before_the_cores() -> None:
    """As everywhere."""
    assert open_by("run", "--workers", "2") == 2
    assert open_by("run") == 5
    assert open_by("play") == count_cores()


def test_an_executor_of_the_caller_plays() -> None:
    """One of the arena's own as it is, others with the workers of a call, and nothing else."""
    with open_executor(Venue(executor=HERE)) as executor:
        assert executor is HERE
    with ThreadPoolExecutor() as pool, open_executor(Venue(workers=3, executor=pool)) as executor:
        assert (executor.executor, executor.workers) == (pool, 3)  # of each call
    with pytest.raises(InputError, match="executor: 5 is neither a name"):
        arena.run(["greedy", "uniform"], executor=5)


def test_a_config_is_a_venue_and_the_rest_of_it_does_not_travel() -> None:
    """Its keys are the fields."""
    config = Config([], 1, workers=4, executor="mpi")
    assert choose_venue({}, config) == Venue(workers=4, executor=ExecutorChoice("mpi"))
    assert {*Config.__struct_fields__} >= FIELDS
