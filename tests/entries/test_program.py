"""A program is a bot: a folder with a bot.toml, one file, or a zip of a folder."""

from __future__ import annotations

import os
import pickle
import shutil
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from arena.addons.cluster.call import find_here
from arena.entries.archive import make_archive
from arena.entries.entry import Entry
from arena.entries.identity import COPY
from arena.entries.program import MANIFEST, read_manifest
from arena.entries.resolve import resolve
from arena.errors import InputError
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


def test_a_folder_with_a_bot_toml_is_a_program(tmp_path: Path) -> None:
    """It travels with all its files, and is hashed with them and the words of its command."""
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


def test_a_label_stands_behind_those_of_spec_and_config(tmp_path: Path) -> None:
    """It names the bot where nothing else does; parameters follow it."""
    folder = write_program(tmp_path / "first", f'{RUN}label = "Anna 1"')
    assert resolve(str(folder)).label == "Anna 1"
    assert resolve(f"{folder}(depth=3)").label == "Anna 1(depth=3)"
    assert resolve(f"mine={folder}").label == "mine"
    assert resolve(str(folder), label="hers").label == "hers"


@pytest.mark.slow
def test_needs_are_those_of_the_folder_and_of_the_config(tmp_path: Path) -> None:
    """One owner checks both; what belongs to everybody is all that a stranger can name."""
    folder = write_program(tmp_path / "first", f'{RUN}needs = ["numpy", "/usr/share"]')
    assert resolve(str(folder)).needs == ("numpy", "/usr/share")
    assert resolve(str(folder), needs=["msgspec"]).needs == ("msgspec", "numpy", "/usr/share")


def test_one_file_is_run_by_the_program_of_its_ending(tmp_path: Path) -> None:
    """Under any name it is the same bot; a file that runs by itself needs no ending."""
    one, other, own = (tmp_path / name for name in ("one.sh", "other.sh", "own"))
    for path in (one, other, own):
        shutil.copy(PLAYS, path)
    own.chmod(0o755)
    entry = resolve(str(one))
    assert (entry.label, entry.command) == ("one", (shutil.which("sh"), f"{COPY}bot.sh"))
    assert resolve(str(other)).sha256 == entry.sha256
    assert resolve(str(own)).command == (f"{COPY}bot",)


def test_a_zip_of_a_program_is_the_same_bot(tmp_path: Path) -> None:
    """Also where its folder has gone; a zip with a bot.toml that is wrong names that."""
    folder = write_program(tmp_path / "first")
    path = shutil.make_archive(str(tmp_path / "mine"), "zip", tmp_path, "first")
    assert resolve(path).sha256 == resolve(str(folder)).sha256
    (folder / MANIFEST).write_text("#" * 9000)
    path = shutil.make_archive(str(tmp_path / "mine"), "zip", tmp_path, "first")
    with pytest.raises(InputError, match=r"bot\.toml: larger than 8,192 bytes"):
        resolve(path)


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
        ('run = ["sh", 1]', r"run\[1\]: expected `str`, got `int`"),
        (f"{RUN}color = 1", "unknown key 'color'; the keys are run, build, needs, label"),
        ("run = [", "not TOML: "),
        ("run = " + 4000 * "[", "nested too deep"),
        (f"{RUN}# {9000 * '#'}", "larger than 8,192 bytes"),
        (f"label = {8000 * '1'}", "not TOML: "),
        ('run = ["/bin/sh", "first.sh"]', "run: '/bin/sh': an absolute path; name a file of "),
        ('run = ["sh", "/etc/passwd"]', "run: '/etc/passwd': an absolute path; "),
        ('run = ["sh", "x/../../first.sh"]', "run: .*: a path that leads out of the folder"),
        ('run = ["./nets"]', "run: './nets': no such file in the folder"),
        ('run = ["./none"]', "run: './none': no such file in the folder"),
        ('run = ["."]', r"run: '\.': "),
        ('run = ["first.sh"]', r"'first.sh': no such program is installed here; ./first.sh is in"),
        ('run = ["no-such-program"]', "'no-such-program': no such program is installed here$"),
        ('run = ["sh", "a\\u0007"]', r"run: 'a\\x07': a character that cannot be printed"),
        (f'{RUN}build = ["/bin/sh"]', "build: '/bin/sh': an absolute path"),
        (f'{RUN}build = ["no-such-program"]', "build: 'no-such-program': no such program is"),
        (f'{RUN}build = ["./none"]', "build: './none': no such file in the folder"),
        (f'{RUN}label = "{61 * "x"}"', "the label 'x*' must be 1 to 60 printable characters"),
        (f'{RUN}label = "a\\u001b[2J"', r"the label 'a\\x1b\[2J' must be 1 to 60 printable"),
        (f'{RUN}needs = ["/etc"]', "needs: '/etc': neither an installed package, nor below /usr"),
        (f'{RUN}needs = ["/usr/../etc"]', "needs: '/usr/../etc': neither an installed package"),
        (f'{RUN}needs = ["first"]', "needs: 'first': neither an installed package"),
        (f'{RUN}needs = ["~/.ssh"]', "needs: '~/.ssh': neither an installed package"),
        (f'{RUN}needs = ["a\\u0000"]', r"needs: 'a\\x00': neither an installed package"),
        (f'{RUN}needs = ["/usr/none"]', "needs: '/usr/none': no such file or folder"),
    ],
)
def test_what_is_wrong_in_a_bot_toml_is_one_line(tmp_path: Path, text: str, reason: str) -> None:
    """A stranger's text names the key and the value."""
    folder = write_program(tmp_path / "first", text)
    with pytest.raises(InputError, match=reason) as caught:
        resolve(str(folder))
    assert str(caught.value).startswith(f"bot '{folder}': ")
    assert str(caught.value).isprintable()


def test_all_that_is_wrong_stands_in_the_line() -> None:
    """Not only the first."""
    with pytest.raises(InputError) as caught:
        read_manifest({MANIFEST: b'run = ["../x"]\nbuild = ["/x"]\nlabel = ""'})
    parts = str(caught.value).removeprefix("bot.toml: ").split("; ")
    assert [part.split(":")[0] for part in parts[:2]] == ["run", "build"]
    assert "the label '' must be" in str(caught.value)


def test_a_link_or_a_pipe_is_refused(tmp_path: Path) -> None:
    """Also in place of the bot.toml: nothing outside the folder is read."""
    folder = write_program(tmp_path / "first")
    os.symlink("/etc/passwd", folder / "more")
    with pytest.raises(InputError, match="more: a link; copy what it leads to"):
        resolve(str(folder))
    (folder / "more").unlink()
    (folder / MANIFEST).rename(tmp_path / MANIFEST)
    os.symlink(tmp_path / MANIFEST, folder / MANIFEST)
    with pytest.raises(InputError, match=r"bot\.toml: a link; copy what it leads to"):
        resolve(str(folder))
    (folder / MANIFEST).unlink()
    os.mkfifo(folder / MANIFEST)
    assert stat.S_ISFIFO((folder / MANIFEST).stat().st_mode)
    with pytest.raises(InputError, match=r"bot\.toml: not a regular file"):
        resolve(str(folder))


def test_a_bot_toml_of_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    """Its size is enough."""
    folder = write_program(tmp_path / "first")
    os.truncate(folder / MANIFEST, 1 << 30)
    with pytest.raises(InputError, match=r"bot\.toml: a bot has at most 47,185,920 bytes"):
        resolve(str(folder))


def test_a_program_outside_of_folders_of_programs_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name on the PATH could otherwise show a jail the folder in which it lies."""
    folder = write_program(tmp_path / "first", 'run = ["tool"]')
    (tmp_path / "private").mkdir()
    shutil.copy(PLAYS, tmp_path / "private" / "tool")
    (tmp_path / "private" / "tool").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'private'}:{os.environ['PATH']}")
    with pytest.raises(InputError, match="is not in a folder of installed programs"):
        resolve(str(folder))


def test_python3_is_the_one_of_the_arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a bot finds the packages that it needs, and no shim of pyenv is in the way."""
    folder = write_program(tmp_path / "first", 'run = ["python3"]')
    (tmp_path / "shims").mkdir()
    shutil.copy(PLAYS, tmp_path / "shims" / "python3")
    (tmp_path / "shims" / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'shims'}:/usr/bin:/bin")
    first, *_ = resolve(str(folder)).command
    assert Path(first).parent == Path(sys.executable).parent


def test_a_package_is_not_a_file_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's `needs` cannot name what lies where the league is played."""
    monkeypatch.chdir(tmp_path)
    folder = write_program(tmp_path / "first", f'{RUN}needs = ["numpy"]')
    (tmp_path / "numpy").mkdir()
    with pytest.raises(InputError, match="needs: 'numpy': neither an installed package"):
        resolve(str(folder))


@pytest.mark.slow
def test_a_built_file_of_a_stranger_is_checked(tmp_path: Path) -> None:
    """It holds what a league writes, and no file outside of its folder starts."""
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


def test_a_program_travels_to_another_machine(tmp_path: Path) -> None:
    """With its files; its interpreter is the one of that machine."""
    entry = resolve(str(write_program(tmp_path / "first")))
    shutil.rmtree(tmp_path / "first")
    assert find_here(entry, "") == entry
    moved = replace(entry, command=("/elsewhere/bin/sh", *entry.command[1:]))
    assert find_here(moved, "").command == entry.command
    with pytest.raises(InputError, match="no-such-program: no such program"):
        find_here(replace(entry, command=("/usr/bin/no-such-program",)), "")


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
