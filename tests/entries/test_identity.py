"""A bot is its files and what it builds on: all are hashed, and laid out as for its author."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shlex
import shutil
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from itertools import pairwise
from pathlib import Path

import pytest

from arena.entries.bot_files import MOST_SOURCE
from arena.entries.identity import find_imports, hash_source
from arena.entries.layout import Layout, remove_tree, renew_all
from arena.entries.needs import explain_missing, locate
from arena.entries.resolve import resolve, summarize
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.lanes.load_check import find_problems
from arena.tournament.config import read, resolve_bots
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Tournament, replay_commands
from engine import STANDARD
from engine.play import setup
from tests import ROOT
from tests.conftest import Arena
from tests.rogues import write
from tests.runs.test_rogues import needs_jail
from tests.tiers import few


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of three bots: `top` builds on `middle`, and `middle` on `base`."""
    (tmp_path / "base.py").write_text("bot = 1")
    (tmp_path / "middle.py").write_text("from bots.base import bot")
    (tmp_path / "top.py").write_text("import bots.middle\nfrom bots import middle")
    return tmp_path


@pytest.mark.parametrize(
    "source",
    [
        b"from engine import TAKE\nimport bots\nfrom . import base\nimport arena.batch.beliefs\n",
        *(b"import bots.nobody", b"not python (", b"\0", b"\xff"),
    ],
)
def test_a_bot_that_builds_on_no_other_is_its_source(folder: Path, source: bytes) -> None:
    """The hash is the file's SHA-256, also where no module can be read."""
    assert hash_source(source, folder) == hashlib.sha256(source).hexdigest()


@pytest.mark.parametrize("name", ["middle", "top"])
def test_an_edit_changes_all_bots_that_build_on_it(folder: Path, name: str) -> None:
    """Directly or through another bot, in each way of importing; in a circle each counts once."""
    source = (folder / f"{name}.py").read_bytes()
    before = hash_source(source, folder)
    (folder / "base.py").write_text("import bots.top")
    assert hash_source(source, folder) != before


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a package with weights in a package below it, whose bot is `their_pack.low.mine`."""
    package = tmp_path / "their_pack"
    (package / "low").mkdir(parents=True)
    (package / "high").mkdir()
    for name in ("__init__.py", "low/__init__.py", "high/other.py"):
        (package / name).write_text("")
    (package / "low" / "mine.py").write_text("bot = 1")
    (package / "high" / "weights.npz").write_text("weights")
    monkeypatch.chdir(tmp_path)
    return package


def identity(spec: str = "their_pack.low.mine") -> str:
    return resolve(spec).sha256


def test_any_change_of_a_package_is_another_bot(package: Path) -> None:
    """Of a module or of data, wherever it lies, of the same size too; no cache, and none beside."""
    seen = [identity()]
    for name in ("__init__.py", "low/__init__.py", "low/mine.py", "high/other.py"):
        (package / name).write_text("edited")
        seen.append(identity())
    for name in ("high/weights.npz", "high/new.npz", ".hidden", "low/data"):
        (package / name).write_text("edited!")
        seen.append(identity())
    (package / "low" / "data").rename(package / "low" / "date")
    seen.append(identity())
    assert len({*seen}) == len(seen)
    (package / "low" / "__pycache__").mkdir()
    (package / "low" / "__pycache__" / "mine.pyc").touch()
    (package.parent / "beside.py").touch()
    assert identity() == seen[-1]


def test_what_a_link_leads_to_is_seen_and_without_init_a_package_is_the_folder_of_its_module(
    package: Path, tmp_path: Path
) -> None:
    """A circle of folders is walked once; what else lies around a module may be another's."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "weights").write_text("1")
    (package / "file").symlink_to(tmp_path / "shared" / "weights")
    (package / "folder").symlink_to(tmp_path / "shared")
    (package / "circle").symlink_to("..")
    before = identity()
    (tmp_path / "shared" / "weights").write_text("2")
    assert identity() != before
    (package / "__init__.py").unlink()
    (package / "low" / "__init__.py").unlink()
    before = identity()
    (package / "high" / "weights.npz").write_text("another's")
    assert identity() == before
    (package / "low" / "weights.npz").write_text("its own")
    assert identity() != before


def test_a_module_is_its_file_and_its_bots(
    package: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """As with an entry point of one module; in a package, in a folder, and in a zip."""
    (package.parent / "their_module.py").write_text("bot = 1")
    offered = [EntryPoint("theirs", "their_module", "arena.bots")]
    monkeypatch.setattr("arena.entries.resolve.entry_points", lambda: offered)
    assert identity("theirs") == hashlib.sha256(b"bot = 1").hexdigest()
    offered[0] = EntryPoint("theirs", "their_pack", "arena.bots")
    before = identity("theirs")
    (package / "high" / "weights.npz").write_text("other")
    assert identity("theirs") != before
    (package / "bot.py").touch()
    (package / "high" / "other.py").write_text("from bots.base import bot")
    monkeypatch.setattr("arena.entries.resolve.BOTS", folder)
    specs = ("their_pack.low.mine", "./their_pack/", shutil.make_archive("their", "zip", package))
    seen = [identity(spec) for spec in specs]
    (folder / "base.py").write_text("bot = 2")
    assert not {*seen} & {identity(spec) for spec in specs}


def test_a_package_without_hash_is_refused(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the name of what is in the way, or the limit; it may be as large as that."""
    for name, make, reason in (
        ("pipe", os.mkfifo, "not a regular file"),
        ("link", lambda path: path.symlink_to("/nowhere"), "No such file"),
        ("run.sqlite", Path.touch, "a run"),
    ):
        make(package / name)
        with pytest.raises(InputError, match=f"{name}: {reason}"):
            identity()
        (package / name).unlink()
    total = sum(path.stat().st_size for path in package.rglob("*") if path.is_file())
    monkeypatch.setattr("arena.entries.identity.MOST_PROGRAM", total)
    assert len(identity()) == 64
    monkeypatch.setattr("arena.entries.identity.MOST_PROGRAM", total - 1)
    with pytest.raises(InputError, match="their_pack: larger than"):
        identity()
    monkeypatch.setattr("arena.entries.bot_files.MOST_INSTALLED", 3)
    with pytest.raises(InputError, match="more than 3 files and folders"):
        identity()


DEEP = b'''"""\n\n  Plays.  \n\n  More."""
import os, bots.one
from . import bots
from bots import *
from bots.two.more import x
class A:
    async def f(self):
        try:
            with a:
                from bots import three, four
        except E: import bots.five
        else:
            from bots import (  # the last one
                six,
            )
def g(): import bots.nine as n, bots
'''


def test_all_imports_of_bots_are_found_in_a_time_like_the_length(tmp_path: Path) -> None:
    """Wherever they stand, and in a source that does not compile; a summary is a line."""
    (tmp_path / "deep.py").write_bytes(DEEP)
    assert summarize(tmp_path / "deep.py") == "Plays."
    found = {"one", "two", "three", "four", "five", "six", "nine"}
    assert find_imports(DEEP) >= found
    assert find_imports(DEEP) - found <= {"the", "last"}
    assert find_imports(b"x = (; from bots import greedy") == {"greedy"}
    assert find_imports(b"bots.greedy; import_module('bots.pimc')  # import bots.timing") == set()
    for text in (b"from bots import (", b"import ", b"from bots import \\\n", b";", b"\t"):
        find_imports(text * (MOST_SOURCE // len(text)))


READS = """
import importlib.resources, os, pkgutil, sys
from pathlib import Path
import nets
here = Path(__file__)
assert Path(sys._getframe().f_code.co_filename) == here
assert here.with_name("w.txt").read_text() == "7"
assert open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "nets", "d.txt")).read() == "8"
assert pkgutil.get_data(__name__, "w.txt") == b"7"
assert importlib.resources.files(__package__).joinpath("w.txt").read_text() == "7"
assert importlib.resources.files(nets).joinpath("d.txt").read_text() == "8"
assert nets.VALUE == "8"
"""
WRITES = """
from contextlib import suppress
from pathlib import Path
note = Path(__file__).with_name("w.txt")
with suppress(OSError):
    note.chmod(0o644)
    note.write_text("changed")
return view.legal[0]
"""


def write_bot(folder: Path, text: str) -> Path:
    """Write a bot with its files to a new folder, and return that."""
    (folder / "nets").mkdir(parents=True)
    (folder / "bot.py").write_text(text)
    (folder / "w.txt").write_text("7")
    (folder / "nets" / "d.txt").write_text("8")
    (folder / "nets" / "__init__.py").write_text(
        "from pathlib import Path\nVALUE = Path(__file__).with_name('d.txt').read_text()\n"
    )
    return folder


@pytest.mark.parametrize("lane", few(["process", "inproc", "jail"], 2))
@pytest.mark.parametrize("shape", few(["folder", "zip", "file"], 2))
def test_a_bot_reads_a_file_beside_it(tmp_path: Path, shape: str, lane: str) -> None:
    """As a folder, a zip, and as one file that needs others; in each usual way, in each lane."""
    folder = write_bot(tmp_path / "mine", f"{READS}bot = lambda setup: setup")
    spec, needs = f"{folder}/", []
    if shape == "zip":
        spec = shutil.make_archive(str(folder), "zip", folder)
    if shape == "file":
        spec, needs = f"{folder}/bot.py", [str(folder / "w.txt"), str(folder / "nets")]
    entry = resolve(spec, lane=lane, needs=needs)
    if lane == "inproc":
        entry.create(setup(0, 0))
    else:
        assert [*find_problems([entry], STANDARD, Limits())] == []


def test_what_a_file_needs_is_a_part_of_it_and_a_package_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as it lies in its folder; also where the environment lies beside the bot."""
    folder = write_bot(tmp_path / "mine", "bot = 1")
    needs = [str(folder / "w.txt")]
    before = resolve(f"{folder}/bot.py", needs=needs)
    assert set(before.files()) == {"bot.py/bot.py", "bot.py/w.txt"}
    (folder / "w.txt").write_text("8")
    assert resolve(f"{folder}/bot.py", needs=needs).sha256 != before.sha256
    alone = resolve(f"{folder}/bot.py")
    assert resolve(f"{folder}/bot.py", needs=[str(ROOT / "docs")]).sha256 == alone.sha256
    site = tmp_path / "env" / "site-packages"
    site.mkdir(parents=True)
    (site / "tiny.py").touch()
    bot = tmp_path / "bot.py"
    bot.write_text("from bots.greedy import bot")
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    monkeypatch.chdir(tmp_path)
    entry = resolve("./bot.py", needs=["tiny"])
    assert (entry.needs, entry.is_archive) == (("tiny",), False)
    assert locate("tiny") == site / "tiny.py"
    (tmp_path / "tiny").touch()
    assert locate("tiny") == tmp_path / "tiny"


def test_a_package_is_to_be_named_and_other_names_bring_no_advice(tmp_path: Path) -> None:
    """Else a stranger's bot would have its user hand in what it names, or end the run."""
    message = "ModuleNotFoundError: No module named '{}'"
    for target in ("./mine.py", "club.mine", "cmd:python3 mine.py"):
        assert "`needs: [numpy]`" in explain_missing(target, message.format("numpy"))
        for name in ("nothing", "numpy.nothing"):
            assert "needs" not in explain_missing(target, message.format(name))
    (tmp_path / "secret").touch()
    (tmp_path / "bot" / "below").mkdir(parents=True)
    for name in (f"{tmp_path}/secret", "../secret", "below/../../secret", "x" * 300):
        missing = f"FileNotFoundError: [Errno 2] No such file or directory: '{name}'"
        assert not explain_missing(str(tmp_path / "bot" / "mine.py"), missing)


@pytest.mark.parametrize(
    "read",
    [
        "pkgutil.get_data(__name__, 'w.npz')",
        "Path(__file__).with_name('w.npz').read_bytes()",
        "open('w.npz')",
    ],
)
def test_a_file_that_stands_alone_says_how_it_gets_its_data(tmp_path: Path, read: str) -> None:
    """The message says so, and names the file."""
    path = tmp_path / "b.py"
    path.write_text(f"import pkgutil\nfrom pathlib import Path\n{read}\nbot = 1")
    (tmp_path / "w.npz").touch()
    (problem,) = find_problems([resolve(str(path))], STANDARD, Limits())
    assert "No such file or directory: 'w.npz'" in problem
    assert "a bot's file stands alone: give a folder of both, in which it is bot.py" in problem
    assert 'read it with Path(__file__).parent / "w.npz"' in problem


CONFIG = "pairs: 1\nbots: [greedy, {bot: uniform, needs: [book, ./data]}]\n"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a config, in the working folder, whose second bot needs two folders."""
    monkeypatch.chdir(tmp_path)
    for name in ("book", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "cup.yaml").write_text(CONFIG)
    return tmp_path / "cup.yaml"


def test_needs_are_in_the_manifest_and_the_replay_command(config: Path) -> None:
    """As they were written; one that is missing is an error, which names the bot and the path."""
    entries = resolve_bots(read(config))
    assert "needs" not in entries[0].describe()
    assert entries[1].describe()["needs"] == ["book", "./data"]
    tournament = Tournament("cup", 0, 1, entries, STANDARD)
    command = shlex.split(replay_commands(tournament)(Fixture(Pairing("greedy", "uniform"), 0, 0)))
    needs = [json.loads(text) for word, text in pairwise(command) if word == "--needs"]
    assert needs == [[], ["book", "./data"]]
    Path("data").rmdir()
    with pytest.raises(InputError, match=r"bots\[1\].*needs: './data': no such file"):
        resolve_bots(read(config))


@pytest.mark.slow
@pytest.mark.usefixtures("config")
def test_a_run_with_needs_is_verified_and_its_games_are_played_again(arena: Arena) -> None:
    """By `arena verify`, and by `arena game` with the option that the command has."""
    assert arena("run", "cup.yaml", "--quiet", "--workers", "1").returncode == 0
    assert arena("verify", "results/cup").returncode == 0
    words = ["--needs", "[]", "--needs", '["book"]']
    assert arena("game", "greedy", "uniform", *words).returncode == 0
    assert arena("game", "greedy", "uniform", "--needs", '["results"]').returncode == 2


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Return two files that are laid out."""
    made = Layout(tmp_path / "files", "mine", lambda: {"a.txt": b"a", "nets/b.txt": b"b"})
    made.renew()
    return made


@pytest.mark.parametrize("name", ["a.txt", "nets/b.txt", "nets/new", ""])
def test_a_change_is_undone(layout: Layout, caplog: pytest.LogCaptureFixture, name: str) -> None:
    """Of what is in a file, also where its time and size stay, and of a folder."""
    path = layout.folder / name
    path.parent.chmod(0o755)
    before = path.stat() if path.exists() else None
    if name:
        path.parent.chmod(0o755)
        path.unlink(missing_ok=True)
        path.write_text("x")
    if before:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        path.chmod(0o700 if path.is_dir() else 0o444)
    with caplog.at_level(logging.WARNING, "arena"):
        layout.renew()
        layout.renew()
    (message,) = caplog.messages
    assert message.startswith(
        "mine: its files were changed while it played, and are laid out again"
    )
    assert name in message
    there = {path.name: path.read_text() for path in layout.folder.rglob("*.txt")}
    assert there == {"a.txt": "a", "b.txt": "b"}
    assert not (layout.folder / "nets/new").exists()


def test_what_python_keeps_is_no_change_and_two_bots_have_their_own_files(
    layout: Layout, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """Also where one is a copy with another name or needs; an ended run has none."""
    layout.folder.chmod(0o755)
    (layout.folder / "__pycache__").mkdir()
    layout.folder.chmod(0o555)
    with caplog.at_level(logging.WARNING, "arena"):
        layout.renew()
    assert caplog.messages == []
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("bot = 1")
    (tmp_path / "w").touch()
    entries = [resolve(f"{tmp_path}/{name}") for name in ("a.py", "b.py")]
    entries.append(resolve(f"{tmp_path}/a.py", needs=[str(tmp_path / "w")]))
    layouts = [entry.layout(tmp_path / "worker") for entry in entries]
    assert len({one.folder for one in layouts if one}) == 3
    assert entries[0].layout(tmp_path / "worker") is layouts[0]
    assert replace(entries[0], label="other").layout(tmp_path / "worker") is layouts[0]
    (tmp_path / "a.py").write_text("bot = 1")
    layout = resolve(f"{tmp_path}/a.py").layout(tmp_path / "run")
    layout.renew()
    remove_tree(tmp_path / "run")
    renew_all()
    assert not (tmp_path / "run").exists()
    layout.renew()  # for a process that is started
    assert layout.folder.is_dir()


@pytest.mark.slow
@needs_jail
@pytest.mark.parametrize("lane", ["inproc", "jail", "process"])
def test_a_bot_that_writes_into_its_folder(arena: Arena, tmp_path: Path, lane: str) -> None:
    """It cannot where bubblewrap works; a worker reports it, and goes on with what was hashed."""
    write(write_bot(tmp_path / "mine", ""), "bot", WRITES)
    words = ["--pairs", "1", "--lane", lane, "--workers", "1", "--out", "out"]
    assert arena("play", "./mine/", "uniform", *words).returncode == 0
    told = "mine: its files were changed while it played, and are laid out again: mine/w.txt"
    assert (told in (tmp_path / "out" / "run.log").read_text()) == (lane == "inproc")
    assert (tmp_path / "mine" / "w.txt").read_text() == "7"
