"""Parse a Python source without running it: its docstring, its imports, its syntax error."""

from __future__ import annotations

import ast
import hashlib
import os
import threading
import warnings
from typing import NamedTuple

_MOST_KEPT = 512  # sources
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)

_lock = threading.RLock()
_kept: dict[bytes, Outline] = {}


class Outline(NamedTuple):
    """The first line of a source's docstring, and the modules that its imports name.

    An import of a name counts twice: `from a import b` names a and a.b. A source that does not
    compile imports nothing, and its summary is why it does not.
    """

    summary: str
    imports: tuple[str, ...]


def parse_source(source: str | bytes) -> ast.Module:
    """Return the syntax tree of a source; raises what `ast.parse` raises.

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


def find_syntax_error(source: bytes) -> str:
    """Return what is wrong with a source that cannot be compiled, nothing for any other.

    >>> find_syntax_error(b"def (")
    'line 1: SyntaxError: invalid syntax'
    """
    try:
        with _lock, warnings.catch_warnings(action="ignore"):
            compile(source, "bot", "exec", dont_inherit=True)
    except _UNREADABLE as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        why = error.msg if isinstance(error, SyntaxError) else str(error)
        return f"{line}{type(error).__name__}: {why}"
    return ""


def read_outline(source: bytes) -> Outline:
    """Return the outline of a source, which is parsed once in this process.

    >>> read_outline(b"'Plays well.'; from bots.greedy import bot")
    Outline(summary='Plays well.', imports=('bots.greedy', 'bots.greedy.bot'))
    """
    key = hashlib.sha256(source).digest()
    with _lock:  # threads that ask for the same source wait for the first of them
        if key not in _kept:
            if len(_kept) >= _MOST_KEPT:
                _kept.clear()
            _kept[key] = _make_outline(source)
        return _kept[key]


def _make_outline(source: bytes) -> Outline:
    try:
        tree = parse_source(source)
    except _UNREADABLE as error:
        return Outline(f"(cannot be read: {error})", ())
    modules: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    summary = (ast.get_docstring(tree) or "").partition("\n")[0]
    return Outline(summary, tuple(modules))


def _renew_lock() -> None:
    """Have a lock in a forked process that no thread of its parent holds."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew_lock)
