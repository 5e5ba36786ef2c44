"""Read a folder that somebody has sent as a zip file: every name and size in it is hostile.

`arena.entries.unzip_program` runs this in a process with limits, so it uses the standard library
only. Nothing is written here.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

from arena.entries.loader import MOST_DATA, MOST_FILES

_ENTRY: Final = b"PK\x01\x02"  # begins each entry of the list of files
_MOST_ENTRIES: Final = 4 * MOST_FILES  # of the list, with folders and what is left out
_MOST_NAME: Final = 200  # characters of a path
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
_KINDS: Final = (0, stat.S_IFREG, stat.S_IFDIR)
_LEFT_OUT: Final = ("__MACOSX", ".DS_Store", "Thumbs.db", "__pycache__")
_DAMAGE: Final = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError),
)


def read_zip(content: bytes) -> dict[str, bytes]:
    """Return the files of a zip by name, without a folder that holds all of them.

    Raises ValueError, whose message is a line, for one that is damaged, encrypted or too large, and
    for links, devices and names that lead elsewhere or cannot be shown.
    """
    if content.count(_ENTRY) > _MOST_ENTRIES:
        raise ValueError(f"the zip has more than {MOST_FILES:,} files")
    files: dict[str, bytes] = {}
    left = MOST_DATA
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as opened:
            for item in _list(opened):
                with opened.open(item) as file:
                    data = file.read(left + 1)
                left -= len(data)
                if left < 0:
                    raise ValueError(f"the zip holds more than {MOST_DATA:,} bytes")
                if item.filename in files:
                    raise ValueError(f"the zip has {item.filename!a} twice")
                files[item.filename] = data
    except _DAMAGE as error:
        raise ValueError(f"the zip is damaged: {error}") from None
    if not files:
        raise ValueError("the zip has no files")
    return _without_top(files)


def _list(opened: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    """Yield the files of a zip but for those that systems add; raises ValueError."""
    number = 0
    for item in opened.infolist():
        check_name(item.orig_filename.removesuffix("/"))
        if stat.S_IFMT(item.external_attr >> 16) not in _KINDS:
            raise ValueError(f"the zip has a link or device {item.filename!a}; send files")
        if item.flag_bits & _ENCRYPTED:
            raise ValueError("the zip is encrypted")
        if item.compress_type not in _METHODS:
            raise ValueError(f"{item.filename!a} in the zip is not compressed by deflate")
        if item.is_dir() or any(part in _LEFT_OUT for part in item.filename.split("/")):
            continue
        number += 1
        if number > MOST_FILES:
            raise ValueError(f"the zip has more than {MOST_FILES:,} files")
        yield item


def check_name(name: str) -> None:
    r"""Raise ValueError unless a name in a zip is a path of visible parts below its folder.

    >>> check_name("bot/main.py")
    >>> check_name("../main.py")
    Traceback (most recent call last):
    ValueError: the zip has the name '../main.py', which leads elsewhere
    """
    shown = ascii(name[:_MOST_NAME])
    if len(name.encode(errors="surrogatepass")) > _MOST_NAME:
        raise ValueError(f"the zip has a name that is too long: {shown}")
    if not name.isprintable() or "\ufffd" in name:
        raise ValueError(f"the zip has the name {shown}, which cannot be shown")
    if any(char in name for char in '\\:*?"<>|'):
        raise ValueError(f"the zip has the name {shown}, which not every system can write")
    if any(part in ("", ".", "..") for part in name.split("/")):
        raise ValueError(f"the zip has the name {shown}, which leads elsewhere")


def _without_top(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return files without the folder that holds all of them, as a folder that is zipped gives."""
    top = next(iter(files)).partition("/")[0] + "/"
    if all(name.startswith(top) for name in files):
        return {name.removeprefix(top): data for name, data in files.items()}
    return files
