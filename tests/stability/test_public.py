"""What is public is in the lists, and nothing leaves unsaid: what has left says what to use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import arena as library
from arena.cli import find_commands
from arena.removed import REMOVED
from arena.store.manifest import manifest_text, read_tournament
from arena.tournament.config import convert, make_tournament
from arena.tournament.versions import minor, version_here
from tests.conftest import Arena
from tests.stability import BYTES, MADE, PUBLIC
from tests.stability.public import public
from tests.stability.sample import hashes, made, make

_GONE = """\
These public facts are gone or have changed. Users build on them: see docs/stability.md. Keep them
for a minor version with a warning, name that in CHANGELOG.md, and take them away after it. If a
type has only become wider, or this is a major version, `python -m tests.stability` writes the list:
"""
_BREAKS = """\
These parameters, keys or options are new and required, so calls and files of before fail: give them
a default (docs/stability.md):
"""
_NEW = """\
These public facts are new, which is right for a minor version. `python -m tests.stability` writes
the list again; name them in CHANGELOG.md:
"""
_REQUIRED = re.compile(
    r"(?P<of>\S+) (argument|keyword|field) [^=*]*"  # of the library
    r"|(?P<key>(config|league) \w+)\.\w+ required .*"
    r"|(?P<command>arena[\w -]*) (argument \w+|-.*) .*required.*"
)


def read(path: Path) -> list[str]:
    """Return the lines of a list."""
    return path.read_text(encoding="utf-8").splitlines()


def complain(listed: Iterable[str], now: Iterable[str]) -> str:
    """Return what is wrong with what is public now, nothing if it is what is listed."""
    listed, now = [*listed], [*now]
    new = [line for line in now if line not in {*listed}]
    parts = (
        (_GONE, [line for line in listed if line not in {*now}]),
        (_BREAKS, [line for line in new if _owner(line) and is_there(_owner(line), listed)]),
        (_NEW, new),
    )
    return next((text + "\n".join(lines) for text, lines in parts if lines), "")


def _owner(line: str) -> str:
    """Return what a required parameter, key or option belongs to, nothing for another line."""
    match = _REQUIRED.fullmatch(line)
    return next(filter(None, match.groupdict().values()), "") if match else ""


def is_there(owner: str, listed: Iterable[str]) -> bool:
    """Return whether a function, a file's part or a command has been listed."""
    return any(line.startswith((f"{owner}:", f"{owner}.")) for line in listed)


@pytest.mark.slow
def test_what_is_public_is_listed() -> None:
    """Names and signatures, keys of config and league, columns, messages, commands and options."""
    assert not (problem := complain(read(PUBLIC), public())), problem


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Return a folder with all that commands make, and what they have printed."""
    folder = tmp_path_factory.mktemp("sample")
    return folder, make(folder)


@pytest.mark.slow
def test_what_commands_print_and_write_is_listed(sample: tuple[Path, dict[str, str]]) -> None:
    """Keys of JSON documents and of records, files of folders, columns of tables."""
    assert not (problem := complain(read(MADE), made(*sample))), problem


@pytest.mark.slow
def test_the_bytes_for_a_seed_are_those_of_the_minor_version(
    sample: tuple[Path, dict[str, str]],
) -> None:
    """Of every table: a round robin, a gauntlet, a Swiss tournament, a comparison and so on."""
    written_by, *listed = read(BYTES)
    again = "`python -m tests.stability` writes tests/stability/bytes.txt again"
    assert written_by == minor(version_here()), f"a new minor version: {again}"
    changed = {*hashes(sample[0])} ^ {*listed}
    files = ", ".join(sorted({line.split()[1] for line in changed}))
    assert not changed, (
        f"other bytes for the same seed: {files}. They change with a minor version, which says so "
        f"in CHANGELOG.md (docs/stability.md): raise it in pyproject.toml, and {again}. If the "
        "deals have changed, raise FORMAT in arena/store/database.py and "
        "arena/addons/league/ledger.py."
    )


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
