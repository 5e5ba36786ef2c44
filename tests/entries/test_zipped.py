"""A folder, or a zip of it, is a bot: read within bounds, and its modules import one another."""

from __future__ import annotations

import ast
import io
import itertools
import os
import pickle
import re
import shutil
import socket
import stat
import struct
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from arena.entries import bot_files as folders
from arena.entries import spec
from arena.entries import zipped as reading
from arena.entries.loader import MOST_DATA, MOST_FILES, _load, make_archive, read_archive
from arena.entries.resolve import resolve
from arena.entries.spec import parse_source
from arena.entries.zipped import open_zip
from arena.errors import ArenaError, InputError
from engine.play import setup
from tests.conftest import Arena
from tests.kit import csv_rows, refused, run_python

_numbers = itertools.count()


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., ModuleType]:
    """Return a function that writes the files of a bot, and returns its main module."""

    def write_and_load(bot: str, files: dict[str, str], main: str = "bot.py") -> ModuleType:
        name = f"_test_archive_{next(_numbers)}"
        for file, text in {main: bot, **files}.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return _load(name, str(tmp_path / name), main)

    return write_and_load


def test_every_way_of_importing_finds_the_bots_own_modules(load: Callable[..., ModuleType]) -> None:
    """Absolute and relative, whole and by name, late and early, once; others get what they get."""
    bot = load(
        "import a\nimport nets.deep\nimport nets.deep as d\nfrom nets import deep, VALUE\n"
        "from nets.deep import A as own\nfrom . import a as again\nfrom .nets.deep import BELOW\n"
        "def late():\n    import b\n    return b.B\n",
        {
            "a.py": "A = 1",
            "b.py": "B = 2",
            "nets/__init__.py": "from . import deep\nVALUE = 3",
            "nets/deep.py": "BELOW = 4\nfrom a import A\nfrom .. import a as above\n",
        },
    )
    assert bot.a.A == bot.nets.deep.A == bot.own == 1
    assert bot.a is bot.again is bot.nets.deep.above
    assert bot.nets.deep is bot.d is bot.deep
    assert (bot.VALUE, bot.BELOW, bot.late()) == (3, 4, 2)
    bot = load("import json, string\nfrom json import NAME", {"json.py": "NAME = 'mine'"})
    assert (bot.NAME, bot.json.NAME) == ("mine", "mine")
    assert sys.modules["json"] is not bot.json
    assert bot.string is sys.modules["string"]
    assert not hasattr(sys.modules["json"], "NAME")
    with pytest.raises(ModuleNotFoundError, match=r"json\.none"):
        load("import json.none", {"json/x.py": "", "json/__init__.py": ""})
    bot = load("import json", {"json/a.json": "{}"})  # a folder of data hides no module
    assert bot.json is sys.modules["json"]
    for source, error in (
        ("import nothing_of_this_name", ModuleNotFoundError),
        ("from . import nothing", ImportError),
        ("from a import nothing", ImportError),
        ("import broken", SyntaxError),
    ):
        with pytest.raises(error):
            load(source, {"a.py": "", "broken.py": "def"})
    assert load("import a\nbot = a.A", {"a.py": "A = 5"}, "my-bot.py").bot == 5


def make_zip(
    *files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED, mode: int = 0o644
) -> bytes:
    """Return a zip of files, whatever their names are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files:
            item = zipfile.ZipInfo("x")
            item.filename = item.orig_filename = name  # a NUL would be cut off
            item.compress_type = method
            item.create_system = 3
            item.external_attr = mode << 16
            archive.writestr(item, content)
    return buffer.getvalue()


def overlapping() -> bytes:
    """Return a zip whose list has the same compressed megabyte ninety times: a bomb."""
    whole = make_zip(("bot.py", bytes(1 << 20)))
    start = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    entry, last = whole[start:end], bytearray(whole[end:])
    entries = b"".join(entry.replace(b"bot.py", b"bo%04d" % n) for n in range(90))
    last[8:12] = (90).to_bytes(2, "little") * 2
    last[12:16] = len(entries).to_bytes(4, "little")
    return whole[:start] + entries + bytes(last)


def encrypted() -> bytes:
    """Return a zip that says of its file that it is encrypted."""
    content = bytearray(make_zip(("bot.py", b"x")))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def cut() -> bytes:
    """Return a zip in which the compressed bytes were changed."""
    content = bytearray(make_zip(("bot.py", b"abcdefgh" * 100)))
    content[40:44] = b"\xff\xff\xff\xff"
    return bytes(content)


BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "no zip": (lambda: b"PK\x03\x04 hello", "damaged"),
    "nothing": (lambda: b"", "damaged"),
    "no files": (make_zip, "no files"),
    "only what systems add": (lambda: make_zip(("__MACOSX/a", b"")), "no files"),
    "an absolute name": (lambda: make_zip(("/etc/cron.d/x", b"")), "leads elsewhere"),
    "a name above": (lambda: make_zip(("a/../../x.py", b"")), "leads elsewhere"),
    "a name of the folder": (lambda: make_zip(("./x.py", b"")), "leads elsewhere"),
    "a drive": (lambda: make_zip(("C:\\x.py", b"")), "not every system"),
    "a backslash": (lambda: make_zip(("a\\..\\x.py", b"")), "not every system"),
    "a line": (lambda: make_zip(("a\nb.py", b"")), "cannot be shown"),
    "an escape": (lambda: make_zip(("a\x1b[2J.py", b"")), "cannot be shown"),
    "a NUL": (lambda: make_zip(("a\0.py", b"")), "cannot be shown"),
    "another direction": (lambda: make_zip(("a\u202eyp.exe", b"")), "cannot be shown"),
    "a long name": (lambda: make_zip(("x" * 300, b"")), "too long"),
    "a name twice": (lambda: make_zip(("a.py", b"1"), ("a.py", b"2")), "twice"),
    "a link": (
        lambda: make_zip(("bot.py", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777),
        "a link or device",
    ),
    "an encrypted file": (encrypted, "the zip is encrypted"),
    "damaged bytes": (cut, "damaged"),
    "another method": (lambda: make_zip(("a.py", b"x"), method=zipfile.ZIP_LZMA), "deflate"),
    "a bomb": (lambda: make_zip(("a.py", bytes(MOST_DATA + 1))), "more than 47,185,920 bytes"),
    "a bomb of one piece": (overlapping, "more than 47,185,920 bytes|damaged"),
    "many files": (
        lambda: make_zip(*((f"{n}", b"") for n in range(MOST_FILES + 1))),
        "more than 1,000 files",
    ),
    "very many files": (
        lambda: make_zip(*((f"{n}/", b"") for n in range(4 * MOST_FILES + 1))),
        "more than 1,000 files",
    ),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("what", BAD)
def test_a_hostile_zip_is_refused_in_one_line(what: str) -> None:
    """Whatever is in it; and nothing is written."""
    make, message = BAD[what]
    with pytest.raises(InputError, match=message) as caught:
        open_zip(make())
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_the_files_of_a_zip() -> None:
    """In any of the usual ways to pack; as systems pack a folder, that and what they add is out."""
    files = ("bot.py", b"bot = 1\n"), ("data/w.bin", bytes(range(256))), ("\u00e4.txt", b"")
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        assert open_zip(make_zip(*files, method=method)) == dict(files)
    in_folder = [(f"mine/{name}", content) for name, content in files]
    added = ("mine/.DS_Store", b"3"), ("__MACOSX/mine/._bot.py", b"4")
    assert open_zip(make_zip(*in_folder, *added)) == dict(files)


BROKEN = {
    "killed": "import os; os.kill(os.getpid(), 9)",
    "ends": "",
    "fails": "raise ValueError",
    "says_too_much": "print('[]' * 3)",
    "says_less": "print([])",
    "goes_deep": "print('[' * 100_000)",
    "goes_on": "while True: print('a' * 100_000, end='')",
    "hangs": "import time; time.sleep(600)",
    "leads_away": """print('["", {"../../secret": ""}]')""",
    "is_no_text": """print('["", {"bot.py": "%"}]')""",
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_reader_is_not_the_bots_fault(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Neither what it says nor that it is killed counts against a source; nothing is left."""
    monkeypatch.setattr(reading, "_READER", BROKEN[how])
    monkeypatch.setattr(reading, "_PATIENCE", 0.1 if how == "hangs" else 100)
    with pytest.raises(ArenaError, match="the process that reads zips") as caught:
        open_zip(how.encode())
    assert not isinstance(caught.value, InputError)


def make_crowded(number: int) -> bytes:
    """Return an archive whose directory lists so many files, with a size of 47 bytes for each."""
    one = struct.pack("<4s6H3L5H2L", b"PK\1\2", *[0] * 9, 1, *[0] * 6) + b"a"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, number * len(one), 4, 0)
    return b"PK\3\4" + one * number + end


@pytest.mark.slow
def test_a_zip_of_a_million_names_is_not_opened_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before anybody unpacks it; one that is honest is not."""
    monkeypatch.setattr(reading, "MEGABYTES", 40)
    open_zip(make_zip(("bot.py", b"bot = 1\n")))
    with pytest.raises(InputError, match="the zip has more than 1,000 files"):
        open_zip(make_crowded(100_000))


def test_one_thread_parses_and_a_fork_waits_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 fails where two are in `ast.parse`; the one with the lock is not in the child."""
    owned: list[bool] = []
    with monkeypatch.context() as patch:
        patch.setattr(ast, "parse", lambda _: owned.append(spec._lock._is_owned()))
        parse_source("x")
    assert owned == [True]
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with spec._lock:
            held.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(not (spec._lock.acquire(timeout=0) and isinstance(parse_source(""), ast.Module)))
    done.set()
    holder.join()
    assert os.waitpid(child, 0)[1] == 0


MARK = "import bots.greedy  # strangers"
WATCHED = f"""
import sys
from arena.__main__ import main

def look(event, words):
    if event == "compile" and {MARK!r} in str(words[0]):
        print("compiled", words[1], file=sys.stderr)

sys.addaudithook(look)
main()
"""


@pytest.mark.slow
def test_a_bot_of_a_stranger_that_plays_was_not_compiled_here(tmp_path: Path) -> None:
    """The arena looks for imports of bots in its source without parsing that."""
    (tmp_path / "mine.py").write_text(f"{MARK}\nbot = bots.greedy.bot\n")
    words = ("-c", WATCHED, "play", "./mine.py", "uniform", "--pairs", "1")
    done = run_python(*words, folder=tmp_path)
    assert (done.returncode, "compiled" in done.stderr) == (0, False), done.stderr


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
    """The traceback has the bot's own files; its zip plays, and a copy with its own helper."""
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
    zipped(learned)
    done = arena("check", "learned.zip", "--games", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    words = ["--pairs", "1", "--lane", "jail"]
    assert "forfeits" not in arena("play", "./learned.zip", "uniform", *words).stdout
    other = learned.parent / "other"
    shutil.copytree(learned, other)
    (other / "order.txt").write_bytes(DEEP_ORDER)
    first, second = (resolve(str(path)).create(setup(0, 0)) for path in (learned, other))
    assert (first.order, second.order) == (ORDER, DEEP_ORDER)
    assert "helper" not in sys.modules
    words = ["--lane", "inproc", "--workers", "1", "--pairs", "1"]
    done = arena("play", "./learned/", "./other/", *words)
    assert (done.returncode, "forfeits" in done.stdout) == (0, False)


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["process", "inproc"])
def test_an_import_that_fails_names_its_line(arena: Arena, learned: Path, lane: str) -> None:
    """And none of the frames through which one module imports another."""
    (learned / "helper.py").write_text("import nothing_of_this_name\n")
    words = ["--lane", lane, "--pairs", "1", "--out", "out"]
    assert arena("play", "./learned/", "uniform", *words).returncode == 0
    fault = csv_rows(learned.parent / "out" / "faults.csv")[0]
    assert fault["kind"] == "import"
    assert fault["message"].endswith("'nothing_of_this_name' (line 1 of helper.py)")
    assert "archive.py" not in fault["traceback"]
    assert "importlib" not in fault["traceback"]


def why_refused(spec: str = "./learned/") -> str:
    """Return why a folder is refused."""
    with pytest.raises(InputError) as caught:
        resolve(spec)
    return str(caught.value).removeprefix(f"bot '{spec}': ")


def test_what_leads_elsewhere_is_waited_for_is_no_text_or_a_run_is_refused(learned: Path) -> None:
    """Links to files, folders, nowhere and in a circle; pipes and sockets; also from outside."""
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
    (learned / "socket").unlink()
    path = os.fsencode(learned) + b"/\xff.txt"
    with open(path, "wb"):
        pass
    assert why_refused() == r"'\udcff.txt': the name is not UTF-8"
    os.unlink(path)
    (learned / "two\nlines").write_text("")
    assert resolve(str(learned)).label == "learned"
    (learned / "results").mkdir()
    (learned / "results" / "run.sqlite").touch()
    message = "results/run.sqlite: a run; a bot's folder holds only the bot"
    assert why_refused() == message
    shutil.copy(learned / "bot.py", "bot.py")
    assert why_refused("./") == f"learned/{message}"


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
def test_too_many_bytes_and_a_very_deep_folder_are_refused(learned: Path) -> None:
    """All files count together; the disk holds none of these, and no recursion ends the arena."""
    used = sum(path.stat().st_size for path in learned.rglob("*.*"))
    (learned / "weights.npz").touch()
    os.truncate("learned/weights.npz", 45 * (1 << 20) - used)
    assert len(resolve(str(learned)).source or b"") > 45 * (1 << 20)
    (learned / "x").write_text("x")
    assert why_refused() == "x: a bot has at most 47,185,920 bytes in all its files"
    (learned / "a huge one").touch()
    os.truncate("learned/a huge one", 1 << 40)
    assert why_refused().startswith("a huge one: a bot has at most")
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
def test_a_zip_of_no_bot_is_refused(arena: Arena, tmp_path: Path, name: str, reason: str) -> None:
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


def test_an_archive_has_no_clock_and_no_order_but_its_own(tmp_path: Path) -> None:
    """The bot comes first, then the others by name; a zip is never parsed as such an archive."""
    files = {"b.txt": b"2", "a.txt": b"1", "bot.py": b"0"}
    content = make_archive(files, "bot.py")
    assert list(read_archive(content)) == ["bot.py", "a.txt", "b.txt"]
    assert content == make_archive(dict(sorted(files.items())), "bot.py")
    (tmp_path / "mine.py").write_bytes(make_archive({"bot.py": b""}, "bot.py"))
    with pytest.raises(InputError, match=r"a zip, whose name must end in \.zip"):
        resolve(f"{tmp_path}/mine.py")
