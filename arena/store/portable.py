"""Portable: a store as bytes, which need no file any more."""

from __future__ import annotations

import tempfile
from pathlib import Path

from arena.store.store import NAME, Store


def to_bytes(store: Store) -> bytes:
    """Return all that a store keeps; the same content gives the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, NAME)
        store.copy_to(path)
        return path.read_bytes()


def from_bytes(content: bytes) -> Store:
    """Return the store of some bytes, in a temporary file; raises InputError if they changed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, NAME)
        path.write_bytes(content)
        return Store(path, copied=True)
