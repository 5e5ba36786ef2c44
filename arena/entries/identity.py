"""Identity: the hash of a bot's source, and of the bots that it imports."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

_BOTS = "bots."


def hash_source(source: bytes, folder: Path) -> str:
    """Return the sha256 of a source together with the bots of this folder that it imports.

    So an edit to a bot also changes the identity of every bot that imports it. An import by
    a name that is made at run time is not seen.
    """
    imported: dict[str, bytes] = {}
    _collect(source, folder, imported)
    digest = hashlib.sha256(source)
    for name in sorted(imported):
        digest.update(f"\0{name}\0".encode() + imported[name])
    return digest.hexdigest()


def _collect(source: bytes, folder: Path, imported: dict[str, bytes]) -> None:
    for name in _names(source):
        path = folder / f"{name}.py"
        if name not in imported and path.is_file():
            imported[name] = path.read_bytes()
            _collect(imported[name], folder, imported)


def _names(source: bytes) -> Iterator[str]:
    """Yield the names of the bots that a source imports, as in `from bots.greedy import bot`."""
    if b"bots" not in source:
        return  # most sources: nothing of them has to be parsed here
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # a source that does not compile imports nothing
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in modules if name.startswith(_BOTS))
