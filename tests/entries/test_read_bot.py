"""A program is a bot: a folder with a bot.toml, a zip of it, one file, or a command."""

from __future__ import annotations

import os
import pickle
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arena.addons.cluster.call import find_here
from arena.entries.entry import Entry
from arena.entries.identity import COPY
from arena.entries.loader import MOST_DATA, make_archive
from arena.entries.read_bot import MANIFEST
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Limits
from arena.runs.rerun import describe_note
from tests import ROOT
from tests.conftest import Arena
from tests.runs.test_rogues import needs_jail

RUN = 'run = ["sh", "first.sh"]\n'
PLAYS = ROOT / "tests" / "rogues" / "builds" / "plays.sh"


def write_program(folder: Path, text: str = RUN) -> Path:
    """Write a program that plays the first legal action."""
    folder.mkdir()
    shutil.copy(PLAYS, folder / "first.sh")
    (folder / "nets").mkdir()
    (folder / "nets" / "deep").write_bytes(b"\0\1")
    (folder / MANIFEST).write_text(text)
    return folder


def test_a_folder_with_a_bot_toml_and_one_file_are_programs(tmp_path: Path) -> None:
    """Hashed with all files and words; labels of spec and config come first; no name counts."""
    folder = write_program(tmp_path / "first")
    entry: Entry = pickle.loads(pickle.dumps(resolve(f"{folder}/")))
    assert (entry.label, entry.lane, entry.module) == ("first", "process", "")
    assert entry.command == (shutil.which("sh"), f"{COPY}first.sh")
    paths = [path for path in folder.rglob("*") if path.is_file()]
    assert entry.files() == {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    assert resolve(str(folder)).sha256 == entry.sha256
    (folder / "weights").write_text("1")
    assert resolve(str(folder)).sha256 != entry.sha256
    assert resolve(f"{folder}/(depth=3)").params == {"depth": 3}
    folder = write_program(tmp_path / "labelled", f'{RUN}label = "Anna 1"')
    assert resolve(str(folder)).label == "Anna 1"
    assert resolve(f"{folder}(depth=3)").label == "Anna 1(depth=3)"
    assert resolve(f"mine={folder}").label == "mine"
    assert resolve(str(folder), label="hers").label == "hers"
    one, other, own = (tmp_path / name for name in ("one.sh", "other.sh", "own"))
    for path in (one, other, own):
        shutil.copy(PLAYS, path)
    own.chmod(0o755)
    one_entry = resolve(str(one))
    assert (one_entry.label, one_entry.command) == ("one", (shutil.which("sh"), f"{COPY}bot.sh"))
    assert resolve(str(other)).sha256 == one_entry.sha256
    assert resolve(str(own)).command == (f"{COPY}bot",)


@pytest.mark.slow
def test_needs_are_those_of_folder_and_config_and_a_built_file_is_checked(tmp_path: Path) -> None:
    """A stranger names only what belongs to everybody, and no file outside of its folder starts."""
    folder = write_program(tmp_path / "first", f'{RUN}needs = ["numpy", "/usr/share"]')
    assert resolve(str(folder)).needs == ("numpy", "/usr/share")
    assert resolve(str(folder), needs=["msgspec"]).needs == ("msgspec", "numpy", "/usr/share")
    path = tmp_path / "mine.bot"
    for content, reason in [
        (b"no archive", "damaged"),
        (make_archive({"first.sh": b""}, "first.sh"), "a .bot file has a bot.toml"),
        (make_archive({MANIFEST: b"#" * 9000}, MANIFEST), "bot.toml: larger than 8,192 bytes"),
        (make_archive({MANIFEST: b"run = [1]"}, MANIFEST), r"bot\.toml: run\[0\]: expected"),
        (make_archive({MANIFEST: RUN.encode(), "../x": b""}, MANIFEST), "leads elsewhere"),
    ]:
        path.write_bytes(content)
        with pytest.raises(InputError, match=reason):
            resolve(str(path))


def test_a_zip_of_a_program_is_the_same_bot_and_a_bot_toml_is_a_file(tmp_path: Path) -> None:
    """Nothing outside the folder is read, and no pipe is waited for."""
    folder = write_program(tmp_path / "first")
    path = shutil.make_archive(str(tmp_path / "mine"), "zip", tmp_path, "first")
    assert resolve(path).sha256 == resolve(str(folder)).sha256
    (folder / MANIFEST).write_text("#" * 9000)
    path = shutil.make_archive(str(tmp_path / "mine"), "zip", tmp_path, "first")
    with pytest.raises(InputError, match=r"bot\.toml: larger than 8,192 bytes"):
        resolve(path)
    folder = write_program(tmp_path / "second")
    (folder / MANIFEST).rename(tmp_path / MANIFEST)
    (folder / MANIFEST).symlink_to(tmp_path / MANIFEST)
    with pytest.raises(InputError, match=r"bot\.toml: a link; copy what it leads to"):
        resolve(str(folder))
    (folder / MANIFEST).unlink()
    os.mkfifo(folder / MANIFEST)
    with pytest.raises(InputError, match=r"bot\.toml: not a regular file"):
        resolve(str(folder))


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["./first/", "./first.zip", "./first/first.sh"])
def test_it_plays(tmp_path: Path, arena: Arena, spec: str) -> None:
    """In each form, without a forfeit."""
    shutil.make_archive(str(tmp_path / "first"), "zip", write_program(tmp_path / "first"))
    done = arena("play", spec, "uniform", "--pairs", "1", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "forfeit" not in (tmp_path / "out" / "games.csv").read_text()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "run is missing: the words of its command, as in "),
        ("run = []", r"run: expected `array` of length >= 1"),
        ('run = "sh first.sh"', "run: expected `array`, got `str`"),
        (f"{RUN}color = 1", "unknown key 'color'; the keys are run, build, needs, label"),
        ("run = [", "not TOML: "),
        ("run = " + 4000 * "[", "nested too deep"),
        (f"{RUN}# {9000 * '#'}", "larger than 8,192 bytes"),
        (f"label = {8000 * '1'}", "not TOML: "),
        ('run = ["/bin/sh", "first.sh"]', "run: '/bin/sh': an absolute path; name a file of "),
        ('run = ["sh", "x/../../first.sh"]', "run: .*: a path that leads out of the folder"),
        ('run = ["./nets"]', "run: './nets': no such file in the folder"),
        ('run = ["."]', r"run: '\.': "),
        ('run = ["first.sh"]', r"'first.sh': no such program is installed here; ./first.sh is in"),
        ('run = ["no-such-program"]', "'no-such-program': no such program is installed here$"),
        ('run = ["sh", "a\\u0007"]', r"run: 'a\\x07': a character that cannot be printed"),
        (f'{RUN}build = ["/bin/sh"]', "build: '/bin/sh': an absolute path"),
        (f'{RUN}build = ["./none"]', "build: './none': no such file in the folder"),
        (f'{RUN}label = "{61 * "x"}"', "the label 'x*' must be 1 to 60 printable characters"),
        (f'{RUN}needs = ["/etc"]', "needs: '/etc': neither an installed package, nor below /usr"),
        (f'{RUN}needs = ["/usr/../etc"]', "needs: '/usr/../etc': neither an installed package"),
        (f'{RUN}needs = ["first"]', "needs: 'first': neither an installed package"),
        (f'{RUN}needs = ["a\\u0000"]', r"needs: 'a\\x00': neither an installed package"),
        (f'{RUN}needs = ["/usr/none"]', "needs: '/usr/none': no such file or folder"),
        ('run = ["../x"]\nbuild = ["/x"]\nlabel = ""', "run: .*; build: .*; the label '' must"),
    ],
)
def test_what_is_wrong_in_a_bot_toml_is_one_line(tmp_path: Path, text: str, reason: str) -> None:
    """A stranger's text names the key and the value of all that is wrong."""
    folder = write_program(tmp_path / "first", text)
    with pytest.raises(InputError, match=reason) as caught:
        resolve(str(folder))
    assert str(caught.value).startswith(f"bot '{folder}': ")
    assert str(caught.value).isprintable()


def install(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program first on the PATH."""
    folder.mkdir()
    shutil.copy(PLAYS, folder / name)
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_python3_is_the_arenas_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot finds the packages it needs; a name on the PATH could show a jail its folder."""
    install(tmp_path / "shims", "python3", monkeypatch)
    first, *_ = resolve(str(write_program(tmp_path / "first", 'run = ["python3"]'))).command
    assert Path(first).parent == Path(sys.executable).parent
    install(tmp_path / "private", "tool", monkeypatch)
    folder = write_program(tmp_path / "second", 'run = ["tool"]')
    with pytest.raises(InputError, match="is not in a folder of installed programs"):
        resolve(str(folder))


def test_a_package_is_no_file_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's `needs` cannot name what lies where the league is played."""
    monkeypatch.chdir(tmp_path)
    folder = write_program(tmp_path / "first", f'{RUN}needs = ["numpy"]')
    (tmp_path / "numpy").mkdir()
    with pytest.raises(InputError, match="needs: 'numpy': neither an installed package"):
        resolve(str(folder))


@needs_jail
@pytest.mark.slow
def test_a_program_in_python_finds_a_package_in_a_jail(tmp_path: Path, arena: Arena) -> None:
    """As a Python bot does: the name in its files is enough."""
    folder = write_program(tmp_path / "first", 'run = ["python3", "plain.py"]')
    text = (ROOT / "docs" / "examples" / "plain.py").read_text()
    (folder / "plain.py").write_text(text.replace("import json", "import json\n\nimport numpy", 1))
    done = arena("play", "./first/", "uniform", "--pairs", "1", "--lane", "jail", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "forfeit" not in (tmp_path / "out" / "games.csv").read_text()


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


def test_a_command_is_split_as_by_a_shell_and_no_bot_is_asked(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is kept as written, and named by its last file; a bot runs nowhere but in its lane."""
    (bot / "my bot.sh").touch()
    spec = "cmd:sh 'bot/my bot.sh' none --fast"
    entry = resolve(f"{spec} (depth=3)")
    assert (entry.target, entry.params, entry.label) == (spec, {"depth": 3}, "my bot(depth=3)")
    assert entry.home == str(bot)
    words = (shutil.which("sh"), str(bot / "my bot.sh"), "none", "--fast")
    assert entry.at(entry.home).command == words
    word = "x" * 3000  # too long for a file: an argument, as where there is no such file
    assert resolve(f"cmd:true {word}", label="long").command[1:] == (word,)
    (bot / "bin").mkdir()
    (bot / "bin" / "mybot").write_text(f"#!/bin/sh\ntouch {bot}/was-run\n")
    (bot / "bin" / "mybot").chmod(0o755)
    (bot / "node").write_text(f"#!/bin/sh\ntouch {bot}/was-run\n")
    (bot / "node").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bot}/bin:/usr/bin:/bin")
    assert [resolve(f"cmd:{one}").program for one in ("mybot", "./bot/node")] == ["", ""]
    assert not (bot / "was-run").exists()


def test_what_is_no_part_of_a_program_is_left_out(bot: Path) -> None:
    """Caches and what is hidden, as of any bot; with a link only what is named is copied."""
    (bot / "table").write_bytes(bytes(3 << 20))
    before = resolve("cmd:sh bot/run.sh")
    for name in (".git", "__pycache__", ".venv", "lib/.cache"):
        (bot / name).mkdir()
        (bot / name / "x").touch()
    assert resolve("cmd:sh bot/run.sh").sha256 == before.sha256
    assert ({*before.files()}, before.note) == ({"run.sh", "lib/word", "table"}, "")
    (bot / "elsewhere").symlink_to("/etc/passwd")
    entry = resolve("cmd:sh bot/run.sh")
    assert ({*entry.files()}, entry.note) == (
        {"run.sh"},
        "elsewhere: a link; copy what it leads to",
    )


NO_BOTS: dict[str, Callable[[pytest.MonkeyPatch, Path], object]] = {
    "it is the working folder": lambda patch, bot: patch.chdir(bot),
    "it is a home": lambda patch, bot: patch.setenv("HOME", str(bot)),
    "it is the folder for temporary files": lambda patch, bot: patch.setattr(
        "tempfile.tempdir", str(bot)
    ),
    "more than 2 files": lambda patch, _: patch.setattr("arena.entries.bot_files.MOST_FILES", 2),
    "at most 47,185,920 bytes": lambda _, bot: os.truncate(bot / "other", MOST_DATA + 1),
}


@pytest.mark.parametrize("reason", NO_BOTS)
def test_of_others_folders_a_part_is_copied(
    bot: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    """What the command names or needs; a note says so."""
    (bot / "other").touch()
    NO_BOTS[reason](monkeypatch, bot)
    spec = f"cmd:sh {bot}/run.sh"
    assert {*resolve(spec).files()} == {"run.sh"}
    entry = resolve(spec, needs=[str(bot / "lib")])
    assert {*entry.files()} == {"run.sh", "lib/word"}
    assert reason in entry.note
    assert f"only the files that it names or needs: are copied: {bot}" in describe_note(entry)
    assert said(entry, bot.parent) == "one"


def test_a_note_is_told(arena: Arena, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One line, which the terminal shows unless a program does otherwise with its log."""
    (tmp_path / "bot.sh").write_text("exit 3")
    arena("play", "cmd:sh bot.sh", "uniform", "--pairs", "1", "--strict")
    assert caplog.messages == [
        "warning: bot 'cmd:sh bot.sh': only the files that it names or needs: are copied: "
        f"{tmp_path}: it is the working folder; give it a folder of its own"
    ]


def test_what_runs_a_program_and_a_file_of_another_folder_stay_where_they_are(bot: Path) -> None:
    """The file is hashed there; the version is kept; a word is a path only if it is there."""
    (bot.parent / "book").mkdir()
    book = bot.parent / "book" / "a.bin"
    book.write_text("page")
    entry = resolve("cmd:sh bot/run.sh book/a.bin")
    assert entry.command[2] == str(book)
    assert said(entry, bot.parent) == "onepage"
    book.write_text("other")
    assert resolve("cmd:sh bot/run.sh book/a.bin").sha256 != entry.sha256
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


def test_a_program_travels_to_another_machine(bot: Path, tmp_path: Path) -> None:
    """With its files; its interpreter is the one of that machine, in the same version."""
    program = resolve(str(write_program(tmp_path / "first")))
    command = resolve(f"cmd:{shlex.quote(sys.executable)} bot/run.sh")
    shutil.rmtree(tmp_path / "first")
    shutil.rmtree(bot)
    assert find_here(program, "") == program
    moved = replace(program, command=("/elsewhere/bin/sh", *program.command[1:]))
    assert find_here(moved, "").command == program.command
    assert find_here(command, "").command == command.command
    for entry, reason in (
        (replace(program, command=("/usr/bin/no-such-program",)), "no-such-program: no such"),
        (replace(command, program="python3: Python 2"), "its program: there python"),
        (replace(command, target="cmd:nodejs18 bot/run.sh"), "nodejs18: no such program"),
    ):
        with pytest.raises(InputError, match=reason):
            find_here(entry, "")
