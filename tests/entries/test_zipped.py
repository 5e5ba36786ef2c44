"""Modules of a bot import one another from memory; a stranger's zip leads nowhere else."""

from __future__ import annotations

import io
import itertools
import stat
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from arena.entries.archive import MOST_DATA, MOST_FILES, _load
from arena.entries.syntax import open_zip
from arena.errors import InputError

_numbers = itertools.count()


Loaded = Callable[..., ModuleType]


def lay_out(folder: Path, files: dict[str, str], main: str = "bot.py") -> ModuleType:
    """Write files to a folder, and return the main module."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return _load(f"_test_archive_{next(_numbers)}", str(folder), main)


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    """Return what makes a bot's main module; `nets_deep` stands for `nets/deep.py`."""

    def load(bot: str, **modules: str) -> ModuleType:
        files = {"bot.py": bot}
        for name, text in modules.items():
            files[name.replace("_", "/").replace("init", "__init__") + ".py"] = text
        return lay_out(tmp_path / f"{next(_numbers)}", files)

    return load


def test_every_way_of_importing_finds_the_bots_own_modules(loaded: Loaded) -> None:
    """Absolute and relative, whole and by name, from above and below, late and early."""
    bot = loaded(
        bot="import a\nimport nets.deep\nimport nets.deep as d\nfrom nets import deep, VALUE\n"
        "from nets.deep import *\nfrom . import a as again\nfrom .nets.deep import BELOW\n"
        "def late():\n    import b\n    return b.B\n",
        a="A = 1",
        b="B = 2",
        nets_init="from . import deep\nVALUE = 3",
        nets_deep="BELOW = 4\nfrom a import A\nfrom .. import a as above\n",
    )
    assert bot.a.A == bot.again.A == bot.nets.deep.A == 1
    assert bot.nets.deep is bot.d is bot.deep
    assert (bot.VALUE, bot.BELOW, bot.late()) == (3, 4, 2)
    assert bot.nets.deep.above is bot.a


def test_only_the_bots_own_modules_see_them(loaded: Loaded) -> None:
    """A module that all share, and other code, get what they always get."""
    bot = loaded(bot="import json, string\nfrom json import NAME", json="NAME = 'mine'")
    assert (bot.NAME, bot.json.NAME) == ("mine", "mine")
    assert sys.modules["json"] is not bot.json
    assert bot.string is sys.modules["string"]
    import json

    assert not hasattr(json, "NAME")
    with pytest.raises(ModuleNotFoundError, match=r"json\.none"):
        loaded(bot="import json.none", json_x="", json_init="")


def test_a_folder_of_data_hides_no_module(tmp_path: Path) -> None:
    """Only a folder with Python files is a package of the bot's."""
    bot = lay_out(tmp_path, {"bot.py": "import json", "json/a.json": "{}"})
    assert bot.json is sys.modules["json"]


def test_a_module_is_loaded_once(loaded: Loaded) -> None:
    """By whichever name it is imported."""
    bot = loaded(bot="import a\nfrom . import a as b\nimport c", a="", c="import a")
    assert bot.a is bot.b is bot.c.a


def test_a_module_that_is_missing_or_broken_says_so(loaded: Loaded) -> None:
    """With the error that Python gives."""
    for source, error in (
        ("import nothing_of_this_name", ModuleNotFoundError),
        ("from . import nothing", ImportError),
        ("from a import nothing", ImportError),
        ("import broken", SyntaxError),
    ):
        with pytest.raises(error):
            loaded(bot=source, a="", broken="def")


def test_a_hyphen_may_stand_in_the_bots_name(tmp_path: Path) -> None:
    """As it may in the name of a bot that is one file."""
    files = {"my-bot.py": "import a\nbot = a.A", "a.py": "A = 5"}
    assert lay_out(tmp_path, files, "my-bot.py").bot == 5


MAKERS = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}


def make_zip(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip of files, whatever their names are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files:
            archive.writestr(_item(name, method), content)
    return buffer.getvalue()


def _item(name: str, method: int, mode: int = 0o644) -> zipfile.ZipInfo:
    item = zipfile.ZipInfo("x")
    item.filename = item.orig_filename = name  # a NUL would be cut off
    item.compress_type = method
    item.create_system = 3
    item.external_attr = mode << 16
    return item


def link() -> bytes:
    """Return a zip with a link to a file of the system."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(_item("bot.py", zipfile.ZIP_STORED, stat.S_IFLNK | 0o777), "/etc/passwd")
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
    "a link": (link, "a link or device"),
    "an encrypted file": (encrypted, "encrypted"),
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


@pytest.mark.parametrize("method", MAKERS.values(), ids=MAKERS)
def test_the_files_of_a_zip(method: int) -> None:
    """With their paths and bytes, in any of the usual ways to pack."""
    files = ("bot.py", b"bot = 1\n"), ("data/w.bin", bytes(range(256))), ("\u00e4.txt", b"")
    found = open_zip(make_zip(*files, method=method))
    assert found == dict(files)


def test_a_folder_that_holds_all_files_is_left_out() -> None:
    """As systems pack a folder, with files of their own beside it."""
    packed = make_zip(
        ("mine/bot.py", b"1"),
        ("mine/more/a.py", b"2"),
        ("mine/.DS_Store", b"3"),
        ("__MACOSX/mine/._bot.py", b"4"),
    )
    assert open_zip(packed) == {"bot.py": b"1", "more/a.py": b"2"}
