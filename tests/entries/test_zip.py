"""A folder, or a zip of it, is a bot with what it has learned."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import zipfile
from pathlib import Path

import pytest

from arena.entries.archive import make_archive, read_archive
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.lanes.probe import find_problems
from engine import STANDARD
from engine.play import setup
from tests.conftest import Arena
from tests.entries.learned import DEEP_ORDER, ORDER, write_learned


def zipped(folder: Path) -> str:
    """Zip a folder as systems do, and return the path of the zip."""
    return shutil.make_archive(str(folder), "zip", folder.parent, folder.name)


def test_a_zip_is_the_bot_of_its_folder(tmp_path: Path) -> None:
    """It travels to every worker with all that it holds; hidden files and caches do not count."""
    folder = write_learned(tmp_path / "learned")
    (folder / "nets" / "__pycache__").mkdir()
    (folder / "nets" / "__pycache__" / "deep.pyc").touch()
    (folder / ".git").mkdir()
    (folder / ".git" / "config").touch()
    path, before = zipped(folder), resolve(f"{folder}/")
    shutil.rmtree(folder)
    entry = pickle.loads(pickle.dumps(resolve(path)))
    Path(path).unlink()
    assert (entry.label, entry.lane, entry.sha256) == ("learned", "process", before.sha256)
    assert entry.source == before.source
    strategy = entry.create(setup(0, 0))
    assert (strategy.order, strategy.deep) == (ORDER, DEEP_ORDER)


@pytest.mark.slow
def test_it_plays_and_is_checked(arena: Arena, tmp_path: Path) -> None:
    """In the jail it can be read as anywhere."""
    zipped(write_learned(tmp_path / "learned"))
    done = arena("check", "learned.zip", "--games", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    words = ["--pairs", "1", "--lane", "jail"]
    assert "forfeits" not in arena("play", "./learned.zip", "uniform", *words).stdout


@pytest.mark.slow
def test_an_edit_of_a_bot_that_a_zip_imports_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a bot that is one file; so it is with a folder."""
    bots = tmp_path / "bots"
    (tmp_path / "mine").mkdir()
    bots.mkdir()
    (bots / "first.py").write_text("bot = 1")
    (tmp_path / "mine" / "bot.py").write_text("import helper\nbot = 1")
    (tmp_path / "mine" / "helper.py").write_text("from bots.first import bot")
    monkeypatch.setattr("arena.entries.resolve.BOTS", bots)
    specs = (zipped(tmp_path / "mine"), f"{tmp_path}/mine")
    before = [resolve(spec).sha256 for spec in specs]
    (bots / "first.py").write_text("bot = 2")
    assert not {*before} & {resolve(spec).sha256 for spec in specs}


def test_what_is_no_bot_is_refused_in_one_line(arena: Arena, tmp_path: Path) -> None:
    """Before any of it is played: no zip, one that leads elsewhere, and one without a bot."""
    path = tmp_path / "mine.zip"
    for name, reason in (
        ("", "the zip is damaged: File is not a zip file"),
        ("../bot.py", "the zip has the name '../bot.py', which leads elsewhere"),
        ("main.py", "a bot's folder has a bot.py or a __init__.py, and this one has neither"),
    ):
        path.write_bytes(b"")
        if name:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(name, "bot = 1")
        done = arena("play", "./mine.zip", "uniform", "--pairs", "1")
        assert (done.returncode, done.stderr) == (2, f"error: bot './mine.zip': {reason}\n")
    (tmp_path / "link.zip").symlink_to(path)
    with pytest.raises(InputError, match="a link; give what it leads to"):
        resolve(f"{tmp_path}/link.zip")


@pytest.mark.slow
def test_a_file_of_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    """A zip has at most 64 MB, a Python file 1 MB."""
    for name, most in (("mine.zip", "67,108,864"), ("mine.py", "1,048,576")):
        (tmp_path / name).touch()
        os.truncate(tmp_path / name, 1 << 30)
        with pytest.raises(InputError, match=f"larger than {most} bytes"):
            resolve(f"{tmp_path}/{name}")


def test_a_zip_under_another_name_says_so(tmp_path: Path) -> None:
    """Its bytes are never parsed as those of a bot's own archive."""
    (tmp_path / "mine.py").write_bytes(make_archive({"bot.py": b""}, "bot.py"))
    with pytest.raises(InputError, match=r"a zip, whose name must end in \.zip"):
        resolve(f"{tmp_path}/mine.py")


def test_an_archive_has_no_clock_and_no_order_but_its_own() -> None:
    """The bot comes first, then the others by name."""
    files = {"b.txt": b"2", "a.txt": b"1", "bot.py": b"0"}
    content = make_archive(files, "bot.py")
    assert list(read_archive(content)) == ["bot.py", "a.txt", "b.txt"]
    assert content == make_archive(dict(sorted(files.items())), "bot.py")


@pytest.mark.parametrize("lane", ["inproc", "process"])
@pytest.mark.parametrize(
    "read",
    [
        "pkgutil.get_data(__name__, 'w.npz')",
        "Path(__file__).with_name('w.npz').read_bytes()",
        "open('w.npz')",
    ],
)
def test_a_file_that_stands_alone_says_how_it_gets_its_data(
    tmp_path: Path, lane: str, read: str
) -> None:
    """The message says so, and names the file."""
    path = tmp_path / "b.py"
    path.write_text(f"import pkgutil\nfrom pathlib import Path\n{read}\nbot = 1")
    (tmp_path / "w.npz").touch()
    (problem,) = find_problems([resolve(str(path), lane=lane)], STANDARD, Limits())
    assert "No such file or directory: 'w.npz'" in problem
    assert "a bot's file stands alone: give a folder of both, in which it is bot.py" in problem


@pytest.mark.slow
def test_weights_of_many_megabytes_arrive_whole(arena: Arena, tmp_path: Path) -> None:
    """In a process with little more memory than they need."""
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "weights").write_bytes(bytes(range(256)) * (1 << 16))  # 16 MB
    (tmp_path / "large" / "bot.py").write_text(
        "import hashlib, pkgutil\n"
        "digest = hashlib.sha256(pkgutil.get_data(__name__, 'weights')).hexdigest()\n"
        "class bot:\n"
        "    def __init__(self, setup, expected=''):\n"
        "        assert digest == expected\n"
        "    def choose(self, view, /):\n"
        "        return view.legal[0]\n"
    )
    digest = hashlib.sha256((tmp_path / "large" / "weights").read_bytes()).hexdigest()
    config = "pairs: 1\nlimits: {memory: 128}\nbots:\n- {bot: ./large/, label: large, "
    config += f"params: {{expected: {digest}}}}}\n- uniform\n"
    (tmp_path / "cup.yaml").write_text(config)
    done = arena("run", "cup.yaml")
    assert (done.returncode, "forfeits" in done.stdout) == (0, False)
