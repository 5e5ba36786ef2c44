"""Parse a Python source without running it: its docstring, its imports, its syntax error.

Sources of this program and of `bots/` are parsed here. Those of strangers are read by a small
program with limits (`source_reader.py`): a text of 1 MB can take a gigabyte, or minutes.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from arena.entries import source_reader
from arena.entries.source_reader import FULL, make_outline
from arena.errors import ArenaError, InputError

SECONDS: Final = 5
"""Seconds of a processor in which a source is read, and `SECONDS_OF_MB` more for each MB."""

SECONDS_OF_MB: Final = 2

MEGABYTES: Final = 512
"""MB of memory in which a source is read."""

_MOST_KEPT = 512  # sources
_MOST_ANSWER = 4 << 20  # bytes
_PATIENCE = 20  # seconds for each second of a processor
_NOT_ITS_OWN: Final = (signal.SIGTERM, getattr(signal, "SIGKILL", 0))  # the system's, or a person's

_lock = threading.RLock()
_kept: dict[bytes, Outline] = {}


class Outline(NamedTuple):
    """The first line of a source's docstring, and the names of the bots that it imports.

    A source that does not compile imports nothing, and its summary is why it does not.
    """

    summary: str
    bots: tuple[str, ...]


def parse_source(source: str | bytes) -> ast.Module:
    """Return the syntax tree of a source of our own; raises what `ast.parse` raises.

    One thread at a time: in Python 3.11 two that parse disturb each other, and one ends in a
    SystemError. It warns of nothing, and the filters of warnings belong to all threads, too.
    Source: github.com/python/cpython/pull/113035.
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


def read_outline(source: bytes) -> Outline:
    """Return the outline of a source of our own, which is parsed once in this process.

    >>> read_outline(b"'Plays well.'; from bots.greedy import bot")
    Outline(summary='Plays well.', bots=('greedy',))
    """
    key = hashlib.sha256(source).digest()
    with _lock:  # threads that ask for the same source wait for the first of them
        if key not in _kept:
            if len(_kept) >= _MOST_KEPT:
                _kept.clear()
            with warnings.catch_warnings(action="ignore"):
                summary, *names = make_outline(source)
            _kept[key] = Outline(summary, tuple(names))
        return _kept[key]


def read_outlines(sources: Mapping[str, bytes]) -> list[Outline]:
    """Return the outlines of strangers' sources, which have names; raises what `ask` raises.

    >>> read_outlines({"mine.py": b"import bots.greedy"})
    [Outline(summary='', bots=('greedy',))]
    """
    outlines = [Outline(summary, tuple(names)) for summary, *names in ask("outline", sources)]
    if not all(name.isidentifier() for outline in outlines for name in outline.bots):
        raise _broken()  # the names become those of files
    return outlines


def find_syntax_errors(sources: Mapping[str, bytes]) -> dict[str, str]:
    """Return what is wrong with each of the sources that cannot be compiled, by its name.

    >>> find_syntax_errors({"mine.py": b"def (", "other.py": b"x = 1"})
    {'mine.py': 'line 1: SyntaxError: invalid syntax'}
    """
    answers = zip(sources, ask("error", sources), strict=True)
    return {name: words[0] for name, words in answers if words[0]}


def find_shape(source: bytes) -> str:
    """Return the hash of a program without comments, docstrings and layout.

    Nothing is returned for a source that does not compile. That of a packed bot has its files.

    >>> find_shape(b"x = 1  # one\\n") == find_shape(b'"A text."\\nx = 1')
    True
    """
    ((shape, *_),) = ask("shape", {"": source})
    if not re.fullmatch(r"(?:[0-9a-f]{64})?", shape):
        raise _broken()
    return shape


def check_archive(archive: bytes) -> None:
    """Raise InputError for an archive that `read_archive` refuses, or that takes too much."""
    ((damage, *_),) = ask("damage", {"": archive})
    if damage:
        raise InputError(damage)


def ask(question: str, sources: Mapping[str, bytes]) -> list[list[str]]:
    """Return the answers to a question about strangers' sources, from a process with limits.

    Raises InputError, which names the source, where reading it takes too much, and ArenaError
    where that is not the source's doing.
    """
    if not sources:
        return []
    seconds = SECONDS + SECONDS_OF_MB * (sum(map(len, sources.values())) >> 20)
    answer, status = _run([question, str(seconds), str(MEGABYTES)], sources, seconds * _PATIENCE)
    lines = answer.split(b"\n")[:-1]
    if len(lines) < len(sources) and len(answer) <= _MOST_ANSWER:
        if status == FULL or (status < 0 and -status not in _NOT_ITS_OWN):
            name = [*sources][len(lines)]
            raise InputError(
                f"{name and f'{name}: '}reading the source takes more than {seconds} s of a "
                f"processor or {MEGABYTES} MB of memory, or it is nested too deep"
            )
        raise _broken()
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
    """Return what a reader answers, cut to a little more than the most, and its exit status."""
    from subprocess import DEVNULL, PIPE, Popen  # 10 ms, needed for few bots

    command = [sys.executable, "-I", "-S", "-B", source_reader.__file__, *words]
    try:
        process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True)
    except OSError as error:
        raise ArenaError(f"no process can be started: {error.strerror or error}") from None
    assert process.stdin is not None
    assert process.stdout is not None
    end = threading.Timer(patience, process.kill)
    end.daemon = True
    end.start()
    try:
        with suppress(BrokenPipeError), process.stdin as pipe:  # it may end before it has read all
            pipe.write(b"%b\n" % b" ".join(b"%d" % len(source) for source in sources.values()))
            for source in sources.values():
                pipe.write(source)
        with process.stdout as pipe:
            answer = pipe.read(_MOST_ANSWER + 1)
        return answer, process.wait()  # one that goes on has no pipe any more
    finally:
        end.cancel()
        process.kill()
        process.wait()


def _renew_lock() -> None:
    """Have a lock in a forked process that no thread of its parent holds."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew_lock)
