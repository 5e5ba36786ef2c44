"""Read what somebody wrote without running it: a source of our own, an expression, a zip.

A stranger's source is never parsed by the arena: parsing 1 MB can take a gigabyte, or minutes. A
stranger's zip is unpacked by a small program with limits (`unzip_program.py`).
"""

from __future__ import annotations

import ast
import base64
import json
import os
import signal
import sys
import threading
import warnings
from tempfile import TemporaryFile
from typing import Final

from arena.entries import unzip_program
from arena.entries.loader import MOST_DATA
from arena.entries.unzip_program import FULL
from arena.errors import ArenaError, InputError, blaming_machine

SECONDS: Final = 5
"""Limit of processor time for reading a zip, in s; `SECONDS_OF_MB` more for each MB."""

SECONDS_OF_MB: Final = 2

MEGABYTES: Final = 512
"""Limit of memory for reading a zip, in MB."""

MOST_ANSWER: Final = 2 * MOST_DATA
"""The most bytes of an answer: the files of a zip in base64."""

_PATIENCE = 20  # seconds of wall-clock time for each second of processor time
_NOT_ITS_OWN: Final = (signal.SIGTERM, getattr(signal, "SIGKILL", 0))  # sent by others

_lock = threading.RLock()


def parse_source(source: str | bytes) -> ast.Module:
    """Return the syntax tree of a source of our own; raises what `ast.parse` raises.

    A lock admits one thread at a time: in Python 3.11 parsing in two threads can raise SystemError
    (github.com/python/cpython/pull/113035). Warnings are suppressed, and their filters are shared
    by all threads, too.
    """
    with _lock, warnings.catch_warnings(action="ignore"):
        return ast.parse(source)


def parse_expression(text: str) -> ast.expr:
    """Return the syntax tree of an expression, as `parse_source` does.

    >>> ast.dump(parse_expression("3"))
    'Constant(value=3)'
    """
    with _lock, warnings.catch_warnings(action="ignore"):
        return ast.parse(text, mode="eval").body


def open_zip(content: bytes) -> dict[str, bytes]:
    """Return the files of a stranger's zip by name, unpacked by a process with limits.

    Raises InputError, whose message is a line, for a zip that `read_zip` refuses or that exceeds
    the limits, and ArenaError if the process fails for another reason.
    """
    from arena.entries.zipped import check_name  # here: zipfile takes 10 ms

    seconds = SECONDS + SECONDS_OF_MB * (len(content) >> 20)
    answer, status = _unpack(content, seconds)
    if status == FULL or (status < 0 and -status not in _NOT_ITS_OWN and len(answer) < MOST_ANSWER):
        most = f"{seconds} s of a processor or {MEGABYTES} MB of memory"
        raise InputError(f"reading the zip takes more than {most}")
    try:
        damage, files = json.loads(answer)
        for name in files:
            check_name(name)
        found = {name: base64.b64decode(data, validate=True) for name, data in files.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        why = "the process that reads zips was ended, or has not answered; try again"
        raise ArenaError(why) from None
    if damage:
        raise InputError(str(damage))
    return found


def _unpack(content: bytes, seconds: int) -> tuple[bytes, int]:
    """Return the reader's answer, cut just above `MOST_ANSWER` bytes, and its exit status."""
    from subprocess import DEVNULL, PIPE  # here: it takes 10 ms, and few bots need it

    from arena.processes import Child

    command = [sys.executable, "-I", "-S", "-B", unzip_program.__file__, str(seconds)]
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


def _renew_lock() -> None:
    """Replace the lock in a forked process: a thread of the parent may hold the old one."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew_lock)
