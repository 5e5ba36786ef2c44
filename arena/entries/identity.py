"""Identity: the hash of a bot's source, and of the bots that it builds on."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

_BOTS = "bots."


def identity(source: bytes, folder: Path) -> str:
    """Return the sha256 of a source; of all, where it imports bots of this folder.

    An edit to a bot so changes the identity of those that build on it. A name that is only
    made at run time is not seen.
    """
    built_on: dict[str, bytes] = {}
    _collect(source, folder, built_on)
    digest = hashlib.sha256(source)
    for name in sorted(built_on):
        digest.update(f"\0{name}\0".encode() + built_on[name])
    return digest.hexdigest()


def _collect(source: bytes, folder: Path, found: dict[str, bytes]) -> None:
    for name in _imported(source):
        path = folder / f"{name}.py"
        if name not in found and path.is_file():
            found[name] = path.read_bytes()
            _collect(found[name], folder, found)


def _imported(source: bytes) -> Iterator[str]:
    """Yield the names of bots that a source imports, as in `from bots.greedy import bot`."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # what does not compile builds on nothing
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in modules if name.startswith(_BOTS))
