"""Parse a Python source without running it: its docstring, its imports, its syntax error.

Sources of the arena and of `bots/` are parsed in this process. Strangers' sources are parsed by a
small program with limits (`source_reader.py`): parsing 1 MB can take a gigabyte, or minutes.
"""

from __future__ import annotations

import ast
import base64
import os
import signal
import sys
import threading
import warnings
from collections.abc import Mapping
from functools import lru_cache
from tempfile import TemporaryFile
from typing import Final, NamedTuple

from arena.entries import source_reader
from arena.entries.archive import MOST_DATA
from arena.entries.source_reader import FULL, make_outline
from arena.errors import ArenaError, InputError, blaming_machine

SECONDS: Final = 5
"""Limit of processor time for reading sources, in s; `SECONDS_OF_MB` more for each MB."""

SECONDS_OF_MB: Final = 2

MEGABYTES: Final = 512
"""Limit of memory for reading sources, in MB."""

_MOST_KEPT = 64  # sources
_MOST_ANSWER = 2 * MOST_DATA  # bytes; it may have the files of a zip
_PATIENCE = 20  # seconds of wall-clock time for each second of processor time
_NOT_ITS_OWN: Final = (signal.SIGTERM, getattr(signal, "SIGKILL", 0))  # sent by others

_lock = threading.RLock()


class Outline(NamedTuple):
    """The first line of a source's docstring, and the names of the bots that it imports.

    For a source that does not compile, the summary is the error, and no names are given.
    """

    summary: str
    bots: tuple[str, ...]


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


@lru_cache(_MOST_KEPT)
def read_outline(source: bytes) -> Outline:
    """Return the outline of a source of our own; this process parses each source once.

    >>> read_outline(b"'Plays well.'; from bots.greedy import bot")
    Outline(summary='Plays well.', bots=('greedy',))
    """
    with _lock, warnings.catch_warnings(action="ignore"):
        summary, *names = make_outline(source)
    return Outline(summary, tuple(names))


def read_outlines(sources: Mapping[str, bytes]) -> list[Outline]:
    """Return the outlines of strangers' sources, given by name; raises what `ask` raises.

    >>> read_outlines({"mine.py": b"import bots.greedy"})
    [Outline(summary='', bots=('greedy',))]
    """
    outlines = [Outline(summary, tuple(names)) for summary, *names in ask("outline", sources)]
    if not all(name.isidentifier() for outline in outlines for name in outline.bots):
        raise _broken()  # the names are used as file names
    return outlines


def open_zip(content: bytes) -> dict[str, bytes]:
    """Return the files of a stranger's zip by name.

    Raises InputError, whose message is a line, for a zip that `read_zip` refuses.
    """
    from arena.entries.zipped import check_name  # here: zipfile takes 10 ms

    ((damage, *parts),) = ask("zip", {"": content})
    if damage:
        raise InputError(damage)
    try:
        for name in parts[::2]:
            check_name(name)
        files = zip(parts[::2], parts[1::2], strict=True)
        return {name: base64.b64decode(data) for name, data in files}
    except ValueError:
        raise _broken() from None


def ask(question: str, sources: Mapping[str, bytes]) -> list[list[str]]:
    """Return the answers to a question about strangers' sources, from a process with limits.

    Raises InputError, which names the source, if reading it exceeds the limits, and ArenaError if
    the process fails for another reason.
    """
    if not sources:
        return []
    seconds = SECONDS + SECONDS_OF_MB * (sum(map(len, sources.values())) >> 20)
    answer, status = _run([question, str(seconds), str(MEGABYTES)], sources, seconds * _PATIENCE)
    lines = answer.split(b"\n")[:-1]
    failed = status == FULL or (status < 0 and -status not in _NOT_ITS_OWN)
    if failed and len(lines) < len(sources) and len(answer) <= _MOST_ANSWER:
        name = [*sources][len(lines)]
        raise InputError(
            f"{name and f'{name}: '}reading the source takes more than {seconds} s of a "
            f"processor or {MEGABYTES} MB of memory, or it is nested too deep"
        )
    try:
        return [
            [word.decode("unicode_escape") for word in line.split(b"\t")]
            for _, line in zip(sources, lines, strict=True)
        ]
    except ValueError:
        raise _broken() from None


def _broken() -> ArenaError:
    return ArenaError("the process that reads sources was ended, or has not answered; try again")


def _run(words: list[str], sources: Mapping[str, bytes], patience: float) -> tuple[bytes, int]:
    """Return the reader's answer, cut just above `_MOST_ANSWER` bytes, and its exit status."""
    from subprocess import DEVNULL, PIPE  # here: it takes 10 ms, and few bots need it

    from arena.processes import Child

    command = [sys.executable, "-I", "-S", "-B", source_reader.__file__, *words]
    with TemporaryFile() as given, blaming_machine("no process can be started"):
        given.write(b"%b\n" % b" ".join(b"%d" % len(source) for source in sources.values()))
        given.writelines(sources.values())
        given.seek(0)
        child = Child(command, stdin=given, stdout=PIPE, stderr=DEVNULL)
    assert child.stdout is not None
    end = threading.Timer(patience, child.kill)
    end.daemon = True
    try:
        end.start()
        with child.stdout as pipe:
            answer = pipe.read(_MOST_ANSWER + 1)
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
