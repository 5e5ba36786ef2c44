"""A command is hashed with the folder of its file, and runs from a copy of that."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from arena.addons.cluster.call import find_here
from arena.entries.archive import MOST_DATA
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Limits
from arena.runs.rerun import describe_note
from tests.conftest import Arena
from tests.runs.test_rogues import needs_jail

SCRIPT = '#!/bin/sh\ncat "$(dirname "$0")/lib/word" "$@"\n'


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a program, in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot" / "lib").mkdir(parents=True)
    (tmp_path / "bot" / "run.sh").write_text(SCRIPT)
    (tmp_path / "bot" / "run.sh").chmod(0o755)
    (tmp_path / "bot" / "lib" / "word").write_text("one")
    return tmp_path / "bot"


def said(entry: Entry, folder: Path) -> str:
    """Return what a command prints in its lane."""
    (folder / "own").mkdir(exist_ok=True)
    process = plan_launch(entry, Limits(), folder / "own").popen()
    out, errors = process.communicate()
    return (out + errors).decode()


@pytest.mark.parametrize("spec", ["cmd:sh bot/run.sh", "cmd:./bot/run.sh"])
@pytest.mark.parametrize("lane", ["process", pytest.param("jail", marks=needs_jail)])
def test_a_command_runs_as_it_was_hashed(bot: Path, spec: str, lane: str) -> None:
    """Whatever is edited or removed afterwards; with the edit it is another bot."""
    entry = resolve(spec, lane=lane)
    (bot / "lib" / "word").write_text("two")
    assert said(entry, bot.parent) == "one"
    edited = resolve(spec, lane=lane)
    shutil.rmtree(bot)
    assert said(edited, bot.parent) == "two"
    assert said(entry, bot.parent) == "one"
    assert edited.sha256 != entry.sha256


def test_what_is_no_part_of_a_program_is_left_out(bot: Path) -> None:
    """Caches and what is hidden, as of any bot; with a link only what is named is copied."""
    before = resolve("cmd:sh bot/run.sh")
    for name in (".git", "__pycache__", ".venv", "lib/.cache"):
        (bot / name).mkdir()
        (bot / name / "x").touch()
    assert resolve("cmd:sh bot/run.sh").sha256 == before.sha256
    assert {*before.files()} == {"run.sh", "lib/word"}
    (bot / "elsewhere").symlink_to("/etc/passwd")
    entry = resolve("cmd:sh bot/run.sh")
    assert ({*entry.files()}, entry.note) == (
        {"run.sh"},
        "elsewhere: a link; copy what it leads to",
    )


def test_a_folder_of_some_megabytes_is_copied_whole(bot: Path) -> None:
    """As a bot with a table or a network has; nothing is to be noted."""
    (bot / "table").write_bytes(bytes(3 << 20))
    entry = resolve("cmd:sh bot/run.sh")
    assert ({*entry.files()}, entry.note) == ({"run.sh", "lib/word", "table"}, "")


@pytest.mark.parametrize("place", ["working", "home", "temporary", "many", "large"])
def test_of_a_folder_that_is_no_bots_only_a_part_is_copied(
    bot: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """What the command names or needs; a note says so."""
    if place == "working":
        monkeypatch.chdir(bot)
    if place == "home":
        monkeypatch.setenv("HOME", str(bot))
    if place == "temporary":
        monkeypatch.setattr("tempfile.tempdir", str(bot))
    if place == "many":
        monkeypatch.setattr("arena.entries.file.MOST_FILES", 2)
    (bot / "other").touch()
    os.truncate(bot / "other", MOST_DATA + 1 if place == "large" else 1)
    reasons = {
        "working": "it is the working folder",
        "home": "it is a home",
        "temporary": "it is the folder for temporary files",
        "many": "more than 2 files and folders",
        "large": "at most 47,185,920 bytes in all",
    }
    spec = f"cmd:sh {bot}/run.sh"
    assert {*resolve(spec).files()} == {"run.sh"}
    entry = resolve(spec, needs=[str(bot / "lib")])
    assert {*entry.files()} == {"run.sh", "lib/word"}
    assert reasons[place] in entry.note
    assert f"only the files that it names or needs: are copied: {bot}" in describe_note(entry)
    assert said(entry, bot.parent) == "one"


def test_a_note_is_told_as_a_run_begins(
    arena: Arena, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One line, which the terminal shows unless a program does otherwise with its log."""
    (tmp_path / "bot.sh").write_text("exit 3")
    arena("play", "cmd:sh bot.sh", "uniform", "--pairs", "1", "--strict")
    assert caplog.messages == [
        "warning: bot 'cmd:sh bot.sh': only the files that it names or needs: are copied: "
        f"{tmp_path}: it is the working folder; give it a folder of its own"
    ]


def test_a_file_of_another_folder_stays_where_it_is(bot: Path) -> None:
    """It is hashed there."""
    (bot.parent / "book").mkdir()
    book = bot.parent / "book" / "a.bin"
    book.write_text("page")
    entry = resolve("cmd:sh bot/run.sh book/a.bin")
    assert entry.command[2] == str(book)
    assert said(entry, bot.parent) == "onepage"
    book.write_text("other")
    assert resolve("cmd:sh bot/run.sh book/a.bin").sha256 != entry.sha256


def test_what_runs_a_program_is_no_part_of_it(bot: Path) -> None:
    """It stays where it is, and its version is kept; a word is a path only if it is there."""
    (bot / "bot.py").touch()
    entry = resolve(f"cmd:{shlex.quote(sys.executable)} bot/bot.py bot none")
    python, *words = entry.at("/copy").command
    assert (python, words) == (sys.executable, ["/copy/bot.py", "/copy/", "none"])
    assert entry.program.endswith(f": Python {sys.version.split()[0]}")
    assert entry.describe()["program"] == entry.program
    (bot / "run.sh").write_text("#!/usr/bin/env python3\n")
    assert ": Python 3." in resolve("cmd:./bot/run.sh").program
    assert resolve("cmd:sh bot/run.sh").program == ""
    assert resolve("cmd:true").source is None


def test_a_program_that_is_no_interpreter_is_not_asked(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a bot, which runs nowhere but in its lane."""
    (bot / "bin").mkdir()
    (bot / "bin" / "mybot").write_text(f"#!/bin/sh\ntouch {bot}/was-run\n")
    (bot / "bin" / "mybot").chmod(0o755)
    (bot / "node").write_text(f"#!/bin/sh\ntouch {bot}/was-run\n")
    (bot / "node").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bot}/bin:/usr/bin:/bin")
    assert [resolve(f"cmd:{one}").program for one in ("mybot", "./bot/node")] == ["", ""]
    assert not (bot / "was-run").exists()


def test_a_command_travels_with_its_files(bot: Path) -> None:
    """On another machine the program has to be there, in the same version."""
    entry = resolve(f"cmd:{shlex.quote(sys.executable)} bot/run.sh")
    shutil.rmtree(bot)
    assert find_here(entry, "").command == entry.command
    with pytest.raises(InputError, match="its program: there python"):
        find_here(replace(entry, program="python3: Python 2"), "")
    with pytest.raises(InputError, match="nodejs18: no such program"):
        find_here(replace(entry, target="cmd:nodejs18 bot/run.sh"), "")
