"""Every command works where no extra is installed, and where the libraries of one are missing."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement

from arena.cli.doctor import EXTRAS
from tests import ROOT
from tests.console import COMMANDS
from tests.packaging import wheel
from tests.packaging.wheel import PROJECT

FILES = {
    "broken.py": "1 / 0\n",
    "duel.yaml": "bots: [greedy, uniform]\npairs: 1\nworkers: 1\n",
    "swiss.yaml": "bots: [greedy, uniform]\nformat: swiss\npairs: 1\n",
}
READING = (
    *("bots", "new mine", "docs --path", "view run -o view.html"),
    *("export run -o games.jsonl", "replay games.jsonl", "report run"),
)
"""What commands do that only read and write: their status is 0."""

PLAYING = (
    *("run duel.yaml", "play greedy uniform --pairs 1 --workers 1", "game greedy uniform"),
    *("compare greedy uniform --max-pairs 1 --workers 1", "verify run --workers 1"),
    *("ablate duel.yaml --rule set_bonus=0", "human greedy", "league new club"),
    *("plan 2 --gap 400", "rate run", "show run", "doctor"),
)
"""What commands do that start processes or compute: their status is 0.

That of `doctor` is 1 on a machine that lacks something.
"""

REFUSING = (
    *(
        "check broken.py",
        "probe ./broken.py",
        "tune ./broken.py --param enough=0,1 --against uniform",
    ),
    "analyse run --by ./broken.py",
)
"""What commands that take long do at once: they start a bot, and say why that fails."""

LONG = (
    *("check greedy --games 4 --lane process", "probe greedy --pairs 1 --workers 1"),
    "tune greedy --param patience=0,1 --against uniform --budget 112 --proof 1 --workers 1",
    "analyse run --games 2 --worlds 4 --worst 0 --workers 1 --by greedy",
)
"""The same commands at work."""

NEEDING = {
    "run swiss.yaml": "swiss",
    "table": "table",
    "serve-bot greedy": "remote",
    "play http://127.0.0.1:9 greedy": "remote",
    "play greedy uniform --executor dask": "dask",
    "play greedy uniform --executor mpi": "mpi",
}
"""What cannot be done without an extra, and which: one line says so, with status 2."""

NAMES = """
import arena, arena.rl
from arena import addons
for name in arena.__all__:
    getattr(arena, name)
for name in {name for one in addons.ADDONS.values() for name in one.hooks}:
    try:
        addons.hook(name)
    except arena.InputError as error:
        assert "is not installed; pip install 'district-noir-arena[" in str(error), error
"""
"""Imports all names of the library, and all that the core asks of add-ons."""


def helps() -> list[str]:
    """Return what shows the help of the program, of each command, and of those of a group."""
    groups = {name: one for name, one in COMMANDS.items() if isinstance(one, click.Group)}
    below = [f"{name} {word}" for name, group in groups.items() for word in group.commands]
    return ["", *(f"{words} --help" for words in ("", *COMMANDS, *below))]


def asked_by(extra: str) -> set[str]:
    """Return the names of the libraries that an extra asks for."""
    return {Requirement(one).name for one in PROJECT["optional-dependencies"][extra]}


def use(
    environment: Path, duel: Path, folder: Path, commands: Sequence[str], names: str = NAMES
) -> None:
    """Use commands in an environment: each does what it is for, or says in one line what it lacks.

    The line names the extra that installs it.
    """
    shutil.copytree(duel, folder / "run")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    words = [one.split() for one in commands]
    code = f"from tests.answering import answer\nanswer({words}, 'quit\\n')\n{names}"
    out = wheel.run([environment / "bin" / "python", "-c", code], folder, PYTHONPATH=str(ROOT))
    for command, line in zip(commands, out.splitlines(), strict=True):
        status, text = json.loads(line)
        if command in NEEDING:
            assert (status, text.count("\n")) == (2, 1), (command, status, text)
            assert f"pip install 'district-noir-arena[{NEEDING[command]}]'" in text
        elif command in REFUSING:
            assert status in (1, 2), (command, status, text)
            assert "ZeroDivisionError" in text, (command, text)
        else:
            allowed = (0, 1) if command.startswith("doctor") else (0,)
            assert status in allowed, (command, status, text)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment that has nothing of any extra."""
    folder = tmp_path_factory.mktemp("bare") / "here"
    wheel.borrow(folder, wheel.find_paths(wheel.libraries([PROJECT["name"]])))
    return folder


def lacking(extra: str, folder: Path) -> Path:
    """Return an environment that has all but the libraries of an extra."""
    gone = [one for name in asked_by(extra) for one in metadata.distributions(name=name)]
    here = wheel.packages(Path(sys.prefix))
    wheel.borrow(folder, {*here.iterdir()} - wheel.find_paths(gone))
    return folder


def test_every_command_is_used() -> None:
    """And every extra is one of users or one of those who change the arena."""
    used = {one.split()[0] for one in (*READING, *PLAYING, *REFUSING, *NEEDING)}
    assert used == COMMANDS.keys()
    assert {one.split()[0] for one in LONG} == {one.split()[0] for one in REFUSING}
    others = {"test", "docs", "bench", "release"}
    asked = {name for name, asked in PROJECT["optional-dependencies"].items() if asked}
    assert asked == {*EXTRAS, *others}


def test_every_command_works_without_extras(bare: Path, duel: Path, tmp_path: Path) -> None:
    """Its help and what it is for; so does every name of the library."""
    commands = [*helps(), *READING, *PLAYING, *REFUSING, *NEEDING]
    use(bare, duel, tmp_path, commands)


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_command_answers_without_one_extra(extra: str, duel: Path, tmp_path: Path) -> None:
    """Its help, what it reads, and for what the extra is needed."""
    environment = lacking(extra, tmp_path / "environment")
    needing = [one for one, needed in NEEDING.items() if needed == extra]
    use(environment, duel, tmp_path, [*helps(), *READING, *needing], "")


@pytest.mark.slow
@pytest.mark.parametrize("extra", EXTRAS)
def test_every_command_plays_without_one_extra(extra: str, duel: Path, tmp_path: Path) -> None:
    """Also in its worker processes, and where it refuses a bot."""
    environment = lacking(extra, tmp_path / "environment")
    use(environment, duel, tmp_path, [*PLAYING, *REFUSING])


@pytest.mark.slow
@pytest.mark.parametrize("command", LONG)
def test_what_takes_long_works_without_extras(
    command: str, bare: Path, duel: Path, tmp_path: Path
) -> None:
    """Each is at work to its end."""
    use(bare, duel, tmp_path, [command])
