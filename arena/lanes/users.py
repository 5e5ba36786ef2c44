"""Reserve for each jail a user id that no other jail on this machine uses.

The kernel counts processes by user, so two jails with the same user id would share one limit.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.errors import InputError

_EVERY_USER = (0, 1 << 32)
_UIDS = 0x70000000  # no system assigns ids from here on
_MOST_UIDS = 1 << 28
_TRIES = 100_000  # a container may have few ids, all in use
_NAME = "\0noir-arena-user-{}"


def _mapped_users() -> tuple[int, int]:
    """Return the first user id and the number of user ids mapped into this container."""
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return _EVERY_USER
    ranges = [(int(line.split()[0]), int(line.split()[2])) for line in lines] or [_EVERY_USER]
    return max(ranges, key=lambda users: users[1])


_USERS = _mapped_users()
IS_ROOT: Final = hasattr(os, "geteuid") and os.geteuid() == 0 and _USERS[1] > 1
"""Whether this user is root, which needs no user namespace and can change to another user."""


class User:
    """A user id that is reserved for this process until it is closed.

    The lock is the name of an abstract socket: the kernel lets one process of the machine bind it,
    whatever folders are mounted, and releases it when that process ends.
    """

    def __init__(self, number: int) -> None:
        """Reserve a user id; raises OSError if another jail uses it."""
        self.number = number
        self._lock: int | None = None
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as lock:
            lock.bind(_NAME.format(number))
            self._lock = lock.detach()

    def close(self) -> None:
        """Release the user id."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __del__(self) -> None:
        self.close()


def free_user(first: int = _USERS[0], count: int = _USERS[1]) -> User:
    """Reserve a user id that no other jail uses, among those of the container.

    Raises InputError if all are in use.
    """
    for number in _numbers(first, count):
        with suppress(OSError):
            return User(number)
    raise InputError("lane jail: no user is free for another jail")


def _numbers(first: int, count: int) -> Iterator[int]:
    """Yield user ids to try, from a random one on; in a container, from its upper half.

    >>> sorted(_numbers(0, 4)), all(1 << 30 < number < 1 << 31 for number in _numbers(0, 1 << 32))
    ([2, 3], True)
    """
    if first <= _UIDS and first + count >= _UIDS + _MOST_UIDS:
        first, count = _UIDS, _MOST_UIDS
    else:
        first, count = first + count // 2, count - count // 2
    begin = int.from_bytes(os.urandom(8), "big")
    for step in range(min(count, _TRIES)):
        yield first + (begin + step) % count
