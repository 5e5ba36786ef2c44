"""A folder, or a zip of it, is a bot: read within bounds, hashed whole, and played from memory."""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import socket
import sys
import zipfile
from pathlib import Path

import pytest

from arena.entries import file as folders
from arena.entries.loader import make_archive, read_archive
from arena.entries.resolve import resolve
from arena.errors import InputError
from engine.play import setup
from tests.conftest import Arena
from tests.kit import csv_rows, refused

BOT = '''"""Plays the action that stands first in its data."""

import pkgutil

import helper
from nets import deep


class Learned:
    def __init__(self, setup, fail: bool = False):
        self.order = pkgutil.get_data(__name__, "order.txt")
        self.deep = deep.ORDER
        self.fail = fail

    def choose(self, view, /):
        if self.fail:
            helper.fail()
        return min(view.legal, key=self.order.index)


bot = Learned
'''
HELPER = "def fail():\n    raise ValueError('helpless')\n"
DEEP = 'import pkgutil\n\nORDER = pkgutil.get_data(__name__, "order.txt")\n'
ORDER = bytes(range(12))
DEEP_ORDER = ORDER[::-1]


@pytest.fixture
def learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder `learned` of a bot, in the working folder."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "learned"
    (folder / "nets").mkdir(parents=True)
    (folder / "bot.py").write_text(BOT)
    (folder / "helper.py").write_text(HELPER)
    (folder / "order.txt").write_bytes(ORDER)
    (folder / "nets" / "deep.py").write_text(DEEP)
    (folder / "nets" / "order.txt").write_bytes(DEEP_ORDER)
    return folder


def zipped(folder: Path) -> str:
    """Zip a folder as systems do, and return the path of the zip."""
    return shutil.make_archive(str(folder), "zip", folder.parent, folder.name)


@pytest.mark.parametrize("is_zip", [False, True])
def test_a_folder_travels_with_all_its_files(learned: Path, is_zip: bool) -> None:
    """Every worker plays what was hashed, even if it has gone meanwhile; a zip is the same bot."""
    folder = resolve(f"{learned}/")
    path = zipped(learned) if is_zip else str(learned)
    entry = pickle.loads(pickle.dumps(resolve(path)))
    shutil.rmtree(learned)
    Path(path).unlink(missing_ok=True)
    assert (entry.label, entry.lane, entry.path) == ("learned", "process", ())
    assert (entry.sha256, entry.source) == (folder.sha256, folder.source)
    strategy = entry.create(setup(0, 0))
    assert (strategy.order, strategy.deep) == (ORDER, DEEP_ORDER)


def test_a_folder_is_named_by_its_path(learned: Path) -> None:
    """A bare name is one in bots/; the label does not end at a dot, as a file's does."""
    with pytest.raises(InputError, match=r"no bot 'learned' in bots/; did you mean \./learned/\?"):
        resolve("learned")
    assert resolve("./learned").label == "learned"
    entry = resolve(f"./{learned.rename('v1.2')}")
    assert entry.label == "v1.2"
    assert entry.create(setup(0, 0)).order == ORDER


def test_bot_py_is_preferred_to_the_package_itself(learned: Path) -> None:
    """Without `bot.py`, `__init__.py` binds `bot`, and can import with and without a dot."""
    (learned / "__init__.py").write_text("bot = lambda setup: 'the package'\n")
    assert resolve(str(learned)).create(setup(0, 0)).order == ORDER
    (learned / "bot.py").rename(learned / "main.py")
    assert resolve(str(learned)).create(setup(0, 0)) == "the package"
    (learned / "__init__.py").write_text("from .main import bot\nfrom main import bot as same\n")
    assert resolve(str(learned)).create(setup(0, 0)).order == ORDER


@pytest.mark.parametrize("name", ["bot.py", "helper.py", "order.txt", "nets/order.txt"])
def test_an_edit_of_any_file_is_another_bot(learned: Path, name: str) -> None:
    """So is a file that is renamed, and the same bytes in other files."""
    seen = {resolve(str(learned)).sha256}
    path = learned / name
    path.write_bytes(path.read_bytes() + b"\n")
    seen.add(resolve(str(learned)).sha256)
    for first, second in (("a", "bc"), ("ab", "c")):
        (learned / "x").write_text(first)
        (learned / "y").write_text(second)
        seen.add(resolve(str(learned)).sha256)
    (learned / "y").rename(learned / "z")
    seen.add(resolve(str(learned)).sha256)
    assert len(seen) == 5


def test_what_python_and_editors_leave_is_no_part_of_it(learned: Path) -> None:
    """Hidden files and `__pycache__` change nothing, and are not read; so it is in a zip."""
    before = resolve(str(learned))
    (learned / "nets" / "__pycache__").mkdir()
    (learned / "nets" / "__pycache__" / "deep.pyc").write_text("x")
    (learned / ".git").mkdir()
    (learned / ".git" / "config").touch()
    assert resolve(zipped(learned)).sha256 == before.sha256
    os.mkfifo(learned / ".git" / "pipe")
    (learned / ".hidden").symlink_to("/nowhere")
    assert resolve(str(learned)) == before


@pytest.mark.slow
def test_its_fault_is_told_alike_in_every_lane(arena: Arena, learned: Path) -> None:
    """The traceback has the bot's own files, by their names in its folder and no others."""
    told = set()
    for lane in ("inproc", "process", "jail"):
        done = arena("game", f"./{learned.name}/(fail=True)", "uniform", "--lane", lane)
        assert "forfeits (exception at ply 0): ValueError: helpless" in done.stderr
        told.add(done.stderr)
    (text,) = told
    assert re.findall(r'File "(.+)", line (\d+), in (\w+)', text) == [
        ("learned/bot.py", "17", "choose"),
        ("learned/helper.py", "2", "fail"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["process", "inproc"])
def test_an_import_that_fails_names_the_bots_own_line(
    arena: Arena, learned: Path, lane: str
) -> None:
    """And none of the frames through which one module imports another."""
    (learned / "helper.py").write_text("import nothing_of_this_name\n")
    words = ["--lane", lane, "--pairs", "1", "--out", "out"]
    assert arena("play", "./learned/", "uniform", *words).returncode == 0
    fault = csv_rows(learned.parent / "out" / "faults.csv")[0]
    assert fault["kind"] == "import"
    assert fault["message"].endswith("'nothing_of_this_name' (line 1 of helper.py)")
    assert "archive.py" not in fault["traceback"]
    assert "importlib" not in fault["traceback"]


@pytest.mark.slow
def test_two_folders_with_the_same_helper_play_in_one_process(arena: Arena, learned: Path) -> None:
    """Each has its own, and code outside has neither."""
    other = learned.parent / "other"
    shutil.copytree(learned, other)
    (other / "order.txt").write_bytes(DEEP_ORDER)
    first, second = (resolve(str(path)).create(setup(0, 0)) for path in (learned, other))
    assert (first.order, second.order) == (ORDER, DEEP_ORDER)
    assert "helper" not in sys.modules
    words = ["--lane", "inproc", "--workers", "1", "--pairs", "1"]
    done = arena("play", "./learned/", "./other/", *words)
    assert (done.returncode, "forfeits" in done.stdout) == (0, False)


def why_refused(spec: str = "./learned/") -> str:
    """Return why a folder is refused."""
    with pytest.raises(InputError) as caught:
        resolve(spec)
    return str(caught.value).removeprefix(f"bot '{spec}': ")


def test_what_leads_elsewhere_or_is_waited_for_is_refused(learned: Path) -> None:
    """Links to files, folders, nowhere and in a circle; pipes and sockets."""
    for target in ("/etc/passwd", "..", "/nowhere", "link", "helper.py"):
        (learned / "link").symlink_to(target)
        assert why_refused() == "link: a link; copy what it leads to"
        (learned / "link").unlink()
    os.mkfifo("learned/pipe")
    assert why_refused() == "pipe: not a regular file"
    (learned / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("learned/socket")
        assert why_refused().startswith("socket: ")


def test_a_name_that_is_no_text_is_refused(learned: Path) -> None:
    """The error shows it escaped; a line break in a name is only escaped."""
    path = os.fsencode(learned) + b"/\xff.txt"
    with open(path, "wb"):
        pass
    assert why_refused() == r"'\udcff.txt': the name is not UTF-8"
    os.unlink(path)
    (learned / "two\nlines").write_text("")
    assert resolve(str(learned)).label == "learned"


def test_too_many_files_are_refused(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty folders count as files do."""
    monkeypatch.setattr(folders, "MOST_FILES", 20)
    for number in range((20 - 6) // 2):
        (learned / f"empty{number}").mkdir()
        (learned / str(number)).touch()
    assert resolve(str(learned)).create(setup(0, 0)).order == ORDER
    (learned / "one more").mkdir()
    assert why_refused() == "more than 20 files and folders"


@pytest.mark.slow
def test_too_many_bytes_are_refused(learned: Path) -> None:
    """All files count together; the disk holds none of these."""
    used = sum(path.stat().st_size for path in learned.rglob("*.*"))
    (learned / "weights.npz").touch()
    os.truncate("learned/weights.npz", 45 * (1 << 20) - used)
    assert len(resolve(str(learned)).source or b"") > 45 * (1 << 20)
    (learned / "x").write_text("x")
    assert why_refused() == "x: a bot has at most 47,185,920 bytes in all its files"
    (learned / "a huge one").touch()
    os.truncate("learned/a huge one", 1 << 40)
    assert why_refused().startswith("a huge one: a bot has at most")


def test_a_folder_that_holds_runs_is_refused(learned: Path) -> None:
    """Also where the whole working folder is named."""
    (learned / "results").mkdir()
    (learned / "results" / "run.sqlite").touch()
    message = "results/run.sqlite: a run; a bot's folder holds only the bot"
    assert why_refused() == message
    shutil.copy(learned / "bot.py", "bot.py")
    assert why_refused("./") == f"learned/{message}"


@pytest.mark.slow
def test_a_very_deep_folder_is_refused(learned: Path) -> None:
    """There is no recursion that could end the arena."""
    here = os.open(learned, os.O_RDONLY)
    for _ in range(900):
        os.mkdir("deeper", dir_fd=here)
        here, before = os.open("deeper", os.O_RDONLY, dir_fd=here), here
        os.close(before)
    os.close(here)
    assert "File name too long" in why_refused()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "the zip is damaged: File is not a zip file"),
        ("../bot.py", "the zip has the name '../bot.py', which leads elsewhere"),
        ("main.py", "a bot's folder has a bot.py or a __init__.py, and this one has neither"),
    ],
)
def test_a_zip_that_is_no_bot_is_refused_in_one_line(
    arena: Arena, tmp_path: Path, name: str, reason: str
) -> None:
    """Before any of it is played; a link to one, too."""
    path = tmp_path / "mine.zip"
    path.touch()
    if name:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, "bot = 1")
    line = refused(arena("play", "./mine.zip", "uniform", "--pairs", "1"))
    assert line == f"bot './mine.zip': {reason}"
    (tmp_path / "link.zip").symlink_to(path)
    with pytest.raises(InputError, match="a link; give what it leads to"):
        resolve(f"{tmp_path}/link.zip")


@pytest.mark.slow
def test_a_zip_plays_and_is_checked(arena: Arena, learned: Path) -> None:
    """In the jail it can be read as anywhere."""
    zipped(learned)
    done = arena("check", "learned.zip", "--games", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    words = ["--pairs", "1", "--lane", "jail"]
    assert "forfeits" not in arena("play", "./learned.zip", "uniform", *words).stdout


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
