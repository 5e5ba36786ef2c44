"""Modules of a bot import one another from memory; a stranger's source and zip cost us little."""

from __future__ import annotations

import ast
import gc
import io
import itertools
import os
import stat
import struct
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from arena.entries import spec, zipped
from arena.entries.archive import MOST_DATA, MOST_FILES, _load
from arena.entries.spec import parse_source
from arena.entries.zipped import open_zip
from arena.errors import ArenaError, InputError
from tests.kit import run_python

_numbers = itertools.count()
_OFTEN = 50  # new objects between two collections


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
    """Absolute and relative, whole and by name, from above and below, late and early; once."""
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


def test_only_the_bots_own_modules_see_them(load: Callable[..., ModuleType]) -> None:
    """A module that all share, and other code, get what they always get."""
    bot = load("import json, string\nfrom json import NAME", {"json.py": "NAME = 'mine'"})
    assert (bot.NAME, bot.json.NAME) == ("mine", "mine")
    assert sys.modules["json"] is not bot.json
    assert bot.string is sys.modules["string"]
    assert not hasattr(sys.modules["json"], "NAME")
    with pytest.raises(ModuleNotFoundError, match=r"json\.none"):
        load("import json.none", {"json/x.py": "", "json/__init__.py": ""})
    bot = load("import json", {"json/a.json": "{}"})  # a folder of data hides no module
    assert bot.json is sys.modules["json"]


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("import nothing_of_this_name", ModuleNotFoundError),
        ("from . import nothing", ImportError),
        ("from a import nothing", ImportError),
        ("import broken", SyntaxError),
    ],
)
def test_a_module_that_is_missing_or_broken_says_so(
    load: Callable[..., ModuleType], source: str, error: type[Exception]
) -> None:
    """With the error that Python gives."""
    with pytest.raises(error):
        load(source, {"a.py": "", "broken.py": "def"})


def test_a_hyphen_may_stand_in_the_bots_name(load: Callable[..., ModuleType]) -> None:
    """As it may in the name of a bot that is one file."""
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
def test_a_reader_that_is_broken_is_not_the_bots_fault(
    monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Neither what it says nor that it is killed counts against a source; nothing is left."""
    monkeypatch.setattr(zipped, "_READER", BROKEN[how])
    monkeypatch.setattr(zipped, "_PATIENCE", 0.1 if how == "hangs" else 100)
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
    monkeypatch.setattr(zipped, "MEGABYTES", 40)
    open_zip(make_zip(("bot.py", b"bot = 1\n")))
    with pytest.raises(InputError, match="the zip has more than 1,000 files"):
        open_zip(make_crowded(100_000))


NESTED = "\n".join(f"x{n} = [a + b * (c - {n}) for a in (1, 2, (3, 4))]" for n in range(50))


@contextmanager
def changing_places() -> Iterator[None]:
    """Let another thread go on wherever Python collects garbage, which it does often meanwhile.

    In a long-lived process objects that are collected call code of their own there.
    """

    def give_way(_phase: str, _info: dict[str, int]) -> None:
        time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(_OFTEN)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(give_way)


@pytest.mark.slow
def test_threads_that_parse_do_not_disturb_each_other() -> None:
    """Python 3.11 ends in a SystemError where two threads are in `ast.parse` at once."""
    with changing_places(), ThreadPoolExecutor(8) as pool:
        assert len([*pool.map(parse_source, 40 * [NESTED])]) == 40


def test_a_forked_process_waits_for_no_thread_of_its_parent() -> None:
    """The thread that held the lock is not in the child."""
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
