"""Read a folder that somebody has sent as a zip file: every name and size in it is hostile.

`open_zip` has it unpacked by a program with limits on time and memory, which is `main` here. So
this module imports only the standard library, and what does the same. Nothing is written.
"""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import sys
import threading
import zipfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Final

from arena.entries.loader import MOST_DATA, MOST_FILES
from arena.errors import ArenaError, InputError, blaming_machine

SECONDS: Final = 5
"""Limit of processor time for reading a zip, in s; `SECONDS_OF_MB` more for each MB."""

SECONDS_OF_MB: Final = 2

MEGABYTES: Final = 512
"""Limit of memory for reading a zip, in MB."""

MOST_ANSWER: Final = 2 * MOST_DATA
"""The most bytes of an answer: the files of a zip in base64."""

_TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_READER = f"import sys; sys.path.append({_TOP!r}); from arena.entries.zipped import main; main()"
_PATIENCE = 20  # seconds of wall-clock time for each second of processor time
_NOT_ITS_OWN: Final = (signal.SIGTERM, getattr(signal, "SIGKILL", 0))  # sent by others
_FULL = 3  # the exit status of the reader if the memory does not suffice
_LONGEST = 1000  # characters of a refusal

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


def open_zip(content: bytes) -> dict[str, bytes]:
    """Return the files of a stranger's zip by name, unpacked by a process with limits.

    Raises InputError, whose message is a line, for a zip that `read_zip` refuses or that exceeds
    the limits, and ArenaError if the process fails for another reason.
    """
    seconds = SECONDS + SECONDS_OF_MB * (len(content) >> 20)
    answer, status = _unpack(content, seconds)
    was_killed = status < 0 and -status not in _NOT_ITS_OWN and len(answer) < MOST_ANSWER
    if status == _FULL or was_killed:
        most = f"{seconds} s of a processor or {MEGABYTES} MB of memory"
        raise InputError(f"reading the zip takes more than {most}")
    try:
        damage, files = json.loads(answer)
        for name in files:
            check_name(name)
        found = {name: b64decode(data, validate=True) for name, data in files.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        why = "the process that reads zips was ended, or has not answered; try again"
        raise ArenaError(why) from None
    if damage:
        raise InputError(str(damage))
    return found


def _unpack(content: bytes, seconds: int) -> tuple[bytes, int]:
    """Return the reader's answer, cut just above `MOST_ANSWER` bytes, and its exit status."""
    from subprocess import DEVNULL, PIPE  # here: the reader needs none of these
    from tempfile import TemporaryFile

    from arena.processes import Child

    command = [sys.executable, "-I", "-S", "-B", "-c", _READER, str(seconds)]
    with TemporaryFile() as given, blaming_machine("no process can be started"):
        given.write(content)
        given.seek(0)
        child = Child([*command, str(MEGABYTES)], stdin=given, stdout=PIPE, stderr=DEVNULL)
    assert child.stdout is not None
    end = threading.Timer(seconds * _PATIENCE, child.kill)
    end.daemon = True
    try:
        end.start()
        with child.stdout as pipe:
            answer = pipe.read(MOST_ANSWER + 1)
        return answer, child.wait()  # its pipe is closed: it ends if it writes more
    finally:
        end.cancel()
        child.end()


def main() -> None:
    """Unpack the zip on standard input within limits: the arguments, in seconds and MB.

    The answer is JSON: why the zip is refused, "" if it is not, and its files in base64 by name.
    """
    _limit(*map(int, sys.argv[1:]))
    try:
        damage, files = "", {}
        try:
            files = read_zip(sys.stdin.buffer.read())
        except ValueError as error:
            damage = str(error)[:_LONGEST]
        found = {name: b64encode(data).decode() for name, data in files.items()}
        sys.stdout.write(json.dumps([damage, found]))
        sys.stdout.flush()
    except MemoryError:
        os._exit(_FULL)


def _limit(seconds: int, megabytes: int) -> None:
    """Limit this process's processor time and writable memory, and forbid it to write files."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {"CPU": seconds, "DATA": megabytes << 20, "CORE": 0, "FSIZE": 0}
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (soft, hard))


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
