"""Frame messages between two processes: each is sent as its length, its kind and its data."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

from arena.errors import ArenaError

MOST = 1 << 30
"""Bytes of the longest frame, between processes of the arena."""

_HEAD = struct.Struct("<QB")
_READ = 1 << 20


class Garbled(ArenaError):
    """A process has sent invalid or unexpected data."""


class Frames:
    """Collects bytes as they arrive, and returns complete frames of at most `most` bytes.

    >>> frames = Frames(most=10)
    >>> frames.add(pack(1, b"whole") + pack(2, b"half")[:-1])
    >>> [*frames.take()]
    [(1, b'whole')]
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        """Add bytes that have arrived."""
        self._data += data

    def take(self) -> Iterator[tuple[int, bytes]]:
        """Yield the kind and the data of each complete frame; raises Garbled for one too long."""
        while len(self._data) >= _HEAD.size:
            size, kind = _HEAD.unpack_from(self._data)
            if size > self.most:
                raise Garbled(f"it sent a message of {size:,} bytes; {self.most:,} are allowed")
            end = _HEAD.size + size
            if len(self._data) < end:
                return
            data = bytes(self._data[_HEAD.size : end])
            del self._data[:end]
            yield kind, data


def pack(kind: int, data: bytes = b"") -> bytes:
    """Return a frame.

    >>> pack(1, b"ab").hex(" ")
    '02 00 00 00 00 00 00 00 01 61 62'
    """
    return _HEAD.pack(len(data), kind) + data


def send(descriptor: int, kind: int, data: bytes = b"") -> None:
    """Write a frame; raises OSError if the other end is closed."""
    rest = memoryview(pack(kind, data))
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def receive(descriptor: int) -> tuple[int, bytes]:
    """Wait for a frame, and return its kind and its data; raises EOFError at the end."""
    size, kind = _HEAD.unpack(_read(descriptor, _HEAD.size))
    if size > MOST:
        raise EOFError
    return kind, _read(descriptor, size)


def _read(descriptor: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(descriptor, min(size, _READ))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
