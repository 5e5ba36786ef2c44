"""What is public is in the lists, what has left says what to use, older folders are opened."""

from __future__ import annotations

import json
import platform
import sqlite3
import zipfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import arena as library
from arena.cli import find_commands
from arena.errors import REMOVED
from arena.store.manifest import manifest_text, read_tournament
from arena.tournament.config import convert, make_tournament
from arena.tournament.versions import engine_sha256, minor, version_here
from tests.conftest import Arena, Done
from tests.kit import forge, refused
from tests.stability import BYTES, FOLDERS, MADE, PUBLIC
from tests.stability.public import public
from tests.stability.sample import COMMANDS, KEPT, hashes, made, make, write_inputs

_GONE = """\
These public facts are gone or have changed: users build on them (docs/stability.md). Keep them for
a minor version with a warning, and name that in CHANGELOG.md. If a type has only become wider, or
this is a major version, `python -m tests.stability` writes the list:
"""
_NEW = """\
These public facts are new, which is right for a minor version, unless they are required: give them
a default. `python -m tests.stability` writes the list; name them in CHANGELOG.md:
"""


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def complain(listed: list[str], now: Iterable[str]) -> str:
    """Return what is wrong with what is public now, nothing if it is what is listed."""
    facts = [*now]
    gone = [line for line in listed if line not in {*facts}]
    new = [line for line in facts if line not in {*listed}]
    return "\n".join([_GONE, *gone] if gone else [_NEW, *new] if new else [])


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


@pytest.mark.parametrize("name", REMOVED)
def test_what_has_left_says_what_to_use(arena: Arena, tmp_path: Path, name: str) -> None:
    """A command, an option of one that is still there, a key with its line, a name."""
    why = f"{name} has left with version 2.0: {REMOVED[name]}"
    kind, _, rest = name.partition(" ")
    if kind == "arena":
        *command, last = rest.split()
        assert command[0] in find_commands() if command else last not in find_commands()
        assert refused(arena(*command, last)) == why
    elif kind == "key":
        (tmp_path / "cup.yaml").write_text(f"bots: [greedy, uniform]\n{rest}: 1\n")
        assert refused(arena("run", "cup.yaml")) == f"cup.yaml: line 2: {why}"
    else:
        with pytest.raises(AttributeError, match=r"has left with version 2\.0: ."):
            getattr(library, name.removeprefix("arena."))


def test_a_manifest_with_a_key_that_has_left_is_read() -> None:
    """As that of a run which says nothing of it: its games are the same."""
    made = make_tournament(convert({"bots": ["greedy", "uniform"], "pairs": 1}, "x"))
    told = made.manifest() | {"halves": "apart"}
    assert read_tournament(manifest_text(told)).manifest() == made.manifest()


RELEASED = sorted(FOLDERS.iterdir())
each_version = pytest.mark.parametrize("version", RELEASED, ids=lambda path: path.name)


def unpack(folder: Path, version: Path, *names: str) -> None:
    for name in names:
        with zipfile.ZipFile(version / f"{name}.zip") as archive:
            archive.extractall(folder)


def check_going_on(done: Done, manifest: dict[str, Any], *, plays: bool) -> None:
    """A run goes on where engine and Python are the same; else the line names what differs."""
    there = manifest["versions"]
    if there["engine"] != engine_sha256():
        assert f"made by version {there['arena']} (pip install" in refused(done)
    elif plays and minor(there["python"]) != minor(platform.python_version()):
        assert f"versions.python: there {minor(there['python'])}, here" in refused(done)
    else:
        assert done.returncode == 0, done.stderr


@each_version
def test_a_run_of_an_earlier_version_is_opened(version: Path, tmp_path: Path, arena: Arena) -> None:
    """By the library and by the commands that read."""
    unpack(tmp_path, version, "run")
    results = library.open(tmp_path / "run")
    assert (results.played, len(results.standings), len(results.faults)) == (36, 4, 18)
    for words in (("show", "run"), ("export", "run", "-o", "again.jsonl")):
        assert arena(*words).returncode == 0


@pytest.mark.slow
@each_version
def test_all_of_an_earlier_version_is_read(version: Path, tmp_path: Path, arena: Arena) -> None:
    """Also by `report`, `replay`, and by a version of the same minor release that verifies it."""
    unpack(tmp_path, version, "run", "games")
    assert arena("report", "run").returncode == 0
    assert "is left out" not in (tmp_path / "run" / "report.md").read_text()
    assert arena("replay", "games.jsonl").returncode == 0
    done = arena("verify", "run", "--sample", "0")
    if minor(version.name) == minor(version_here()):
        manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
        check_going_on(done, manifest, plays=False)
    else:
        assert f"made by version {version.name} (pip install" in refused(done)


@pytest.mark.slow
@each_version
@pytest.mark.parametrize("name", ["run", "comparison", "ablation"])
def test_a_run_of_an_earlier_version_goes_on(
    name: str, version: Path, tmp_path: Path, arena: Arena
) -> None:
    """The command that made it plays nothing again; where bots have changed since, it says so."""
    unpack(tmp_path, version, name)
    write_inputs(tmp_path)
    done = arena(*COMMANDS[name])
    if "changed since" in done.stderr:
        return
    manifest = json.loads(next(tmp_path.rglob("manifest.json")).read_text())
    check_going_on(done, manifest, plays=True)
    if done.returncode == 0:
        assert json.loads(done.stdout).get("played", 0) == 0


@each_version
def test_a_league_of_1_x_is_refused(version: Path, tmp_path: Path, arena: Arena) -> None:
    """Its games are in other folders; the line names the version that goes on with it."""
    unpack(tmp_path, version, "league")
    for words in (("league", "show", "league"), ("league", "host", "league"), ("report", "league")):
        line = refused(arena(*words))
        assert f"made by version {version.name} (pip install" in line
        assert "and this arena reads 6; another league needs a new folder" in line


def test_a_bot_that_was_packed_is_refused(tmp_path: Path, arena: Arena) -> None:
    """With what to give in its place."""
    assert {path.stem for path in RELEASED[0].iterdir()} == {*KEPT, "packed"}
    unpack(tmp_path, RELEASED[0], "packed")
    line = refused(arena("play", "./packed.py", "uniform", "--pairs", "1"))
    assert "bot './packed.py': written by `arena pack`, which has left" in line


def of_run(folder: Path, version: object) -> None:
    """Let a version have made a run, in its store and beside it."""
    manifest = json.loads((folder / "run" / "manifest.json").read_text())
    manifest["versions"]["arena"] = version
    text = json.dumps(manifest)
    (folder / "run" / "manifest.json").write_text(text)
    forge(folder / "run" / "run.sqlite", "UPDATE run SET value = ?", text)


def test_what_a_later_version_has_made_is_refused(tmp_path: Path, arena: Arena) -> None:
    """Of a later minor or major release, and what is no version; another patch release is not."""
    unpack(tmp_path, RELEASED[-1], "run")
    write_inputs(tmp_path)
    texts = "abc", "", "1" * 50, "9" * 5000 + ".0", "1.x"
    for version in (*texts, -1, 10**30, None, ["1.0.0"], {}, True):
        of_run(tmp_path, version)
        line = refused(arena("show", "run"))
        assert "its manifest cannot be read: versions: no version" in line
    major, small = minor(version_here()).split(".")
    for later in (f"{major}.{int(small) + 1}.0", f"{int(major) + 1}.0.0.dev3"):
        of_run(tmp_path, later)
        for words in (("show", "run"), ("report", "run"), ("verify", "run"), COMMANDS["run"]):
            line = refused(arena(*words))
            assert f"made by version {later}; this is {version_here()}: update the arena" in line
    of_run(tmp_path, f"{minor(version_here())}.99")
    assert arena("show", "run").returncode == 0


def test_another_number_of_a_format_is_refused(tmp_path: Path, arena: Arena) -> None:
    """That of a league, and that of a run; both files stay."""
    unpack(tmp_path, RELEASED[-1], "league", "run")
    for number, reason in {
        7: ", in format 7; this is",
        0: ", in format 0, and this arena reads",
        -1: "format -1: not the number of a format",
        2**31 - 1: "format 2147483647: not the number of a format",
    }.items():
        for words, place in (
            (("league", "show", "league"), "league/league.sqlite"),
            (("analyse", "run", "--games", "2"), "run/run.sqlite"),
        ):
            with closing(sqlite3.connect(tmp_path / place)) as database, database:
                database.execute(f"PRAGMA user_version = {number}")
            before = (tmp_path / place).read_bytes()
            line = refused(arena(*words))
            assert f"{place}: " in line
            assert reason in line
            assert (tmp_path / place).read_bytes() == before


def test_a_record_of_another_format_is_refused(tmp_path: Path, arena: Arena) -> None:
    """Without a number it is the first; with another one it is no record that is known here."""
    unpack(tmp_path, RELEASED[-1], "games")
    record = json.loads((tmp_path / "games.jsonl").read_text().splitlines()[0])
    others = 0, 2, -1, 10**30, None, "abc", "1", 1.0, True, [], {}
    lines = [json.dumps(record | {"format": number}) for number in (*others, 1)]
    (tmp_path / "all.jsonl").write_text("\n".join([*lines, ""]))
    done = arena("replay", "all.jsonl", "--json")
    *answers, known = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, len(answers), known["over"]) == (1, len(others), True)
    for answer in answers:
        assert answer["error"] == "bad-json"
        assert answer["message"].startswith("a record of format ")
        assert answer["message"].endswith("; this version reads 1")
