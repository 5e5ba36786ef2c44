"""What has left with version 2.0 is answered by one line that says what to use instead."""

from __future__ import annotations

from pathlib import Path

import pytest

import arena as library
from arena.cli import find_commands
from arena.removed import REMOVED
from arena.store.manifest import manifest_text, read_tournament
from arena.tournament.config import convert, make_tournament
from tests.conftest import Arena

COMMANDS = [name for name in REMOVED if name.startswith("arena ")]
KEYS = [name.removeprefix("key ") for name in REMOVED if name.startswith("key ")]
NAMES = [name for name in REMOVED if name.startswith("arena.")]


def test_every_name_is_a_command_an_option_a_key_or_a_name_of_the_library() -> None:
    """No other kind of name is asked for."""
    assert {*REMOVED} == {*COMMANDS, *(f"key {key}" for key in KEYS), *NAMES}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_or_an_option_says_what_to_use(arena: Arena, name: str) -> None:
    """In one line, with exit status 2; an option of a command that is still there."""
    *command, last = name.split()[1:]
    assert not command or command[0] in find_commands()
    assert last not in find_commands()
    done = arena(*command, last)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {name} has left with version 2.0: {REMOVED[name]}\n"


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_a_config_says_what_to_use(arena: Arena, tmp_path: Path, key: str) -> None:
    """With its line."""
    (tmp_path / "cup.yaml").write_text(f"bots: [greedy, uniform]\n{key}: 1\n")
    done = arena("run", "cup.yaml")
    assert done.returncode == 2
    assert done.stderr == (
        f"error: cup.yaml: line 2: key {key} has left with version 2.0: {REMOVED[f'key {key}']}\n"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_library_says_what_to_use(name: str) -> None:
    """As the message of the AttributeError."""
    with pytest.raises(AttributeError, match=r"has left with version 2\.0: ."):
        getattr(library, name.removeprefix("arena."))


def test_a_manifest_with_a_key_that_has_left_is_read() -> None:
    """As that of a run which says nothing of it: its games are the same."""
    made = make_tournament(convert({"bots": ["greedy", "uniform"], "pairs": 1}, "x"))
    told = made.manifest() | {"halves": "apart"}
    assert read_tournament(manifest_text(told)).manifest() == made.manifest()
