"""Analyse strangers' sources in a program with its own limits on time and memory.

Usage: `python source_reader.py QUESTION SECONDS MEGABYTES`. The first line of standard input holds
the size of each source in bytes; the sources follow. The answer has a line for each source, of
words separated by tabs. No source is run. `arena.entries.syntax` starts this program, and accepts
only answers of the right form. It imports only what its question needs: an outline takes 20 ms.
"""

from __future__ import annotations

import _ast
import os
import sys
import warnings
from collections.abc import Iterator
from itertools import chain

FULL = 3
"""The exit status if the memory or the parser's stack does not suffice."""

UNREADABLE = (SyntaxError, ValueError, RecursionError)
"""The errors of Python for a source that it cannot compile, besides MemoryError (see `FULL`)."""

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_LONGEST = 1000  # characters of a summary
_BOTS = "bots."


def make_outline(source: bytes) -> list[str]:
    """Return the first line of a source's docstring, and the names of the bots that it imports.

    For a source that does not compile, the summary is the error, and no names follow.

    >>> make_outline(b"'Plays well.'; from bots import greedy; import bots.denier")
    ['Plays well.', 'denier', 'greedy']
    """
    try:
        tree = compile(source, "<unknown>", "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
    except UNREADABLE as error:
        return [f"(cannot be read: {error})"[:_LONGEST]]
    imported = {name.split(".")[1] for name in _imports(tree) if name.startswith(_BOTS)}
    return [_summary(tree)[:_LONGEST], *sorted(imported - {"*"})]


def _summary(tree: _ast.AST) -> str:
    first = next(iter(getattr(tree, "body", [])), None)
    text = first.value if isinstance(first, _ast.Expr) else None
    words = text.value if isinstance(text, _ast.Constant) else None
    return words.expandtabs().strip().partition("\n")[0].rstrip() if isinstance(words, str) else ""


def _imports(tree: _ast.AST) -> Iterator[str]:
    """Yield the modules that a syntax tree imports; `from a import b` may import a.b."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for block in _BLOCKS:
            waiting += getattr(node, block, ())
        if isinstance(node, _ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, _ast.ImportFrom) and node.module and not node.level:
            below = node.module == _BOTS[:-1]
            yield from (f"{_BOTS}{alias.name}" for alias in node.names) if below else (node.module,)


def open_zip(content: bytes) -> list[str]:
    """Return why a zip is refused; else an empty text, and name and content of each of its files.

    A content is written in base64.
    """
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
    from base64 import b64encode

    from arena.entries.zipped import read_zip

    try:
        files = read_zip(content)
    except ValueError as error:
        return [str(error)[:_LONGEST]]
    parts = ((name, b64encode(data).decode()) for name, data in files.items())
    return ["", *chain.from_iterable(parts)]


QUESTIONS = {"outline": make_outline, "zip": open_zip}


def limit(seconds: int, megabytes: int) -> None:
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


def main() -> None:
    """Answer for each source; exit with status `FULL` if the memory does not suffice."""
    question = QUESTIONS[sys.argv[1]]
    limit(*map(int, sys.argv[2:]))
    warnings.simplefilter("ignore")
    try:
        for size in sys.stdin.buffer.readline().split():
            words = question(sys.stdin.buffer.read(int(size)))
            line = b"\t".join(word.encode("unicode_escape") for word in words)
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()
    except MemoryError:
        os._exit(FULL)


if __name__ == "__main__":
    main()
