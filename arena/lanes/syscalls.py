"""Syscalls: the filters that leave a jailed bot the system calls that honest bots need.

A filter is a program of classic BPF, as man 2 seccomp describes it. A call that is refused
fails with an error, and the bot goes on.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from arena.lanes.allowed import ALLOWED

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_*
_O_DIRECT = {"x86_64": 0o40000, "aarch64": 0o200000}

DECIDED: Final = {
    # call: its numbers on x86_64 and aarch64, None where it does not exist
    "openat": (257, 56),
    "open": (2, None),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "clone": (56, 220),
    "ioctl": (16, 29),
    "mmap": (9, 222),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "fcntl": (72, 25),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "personality": (135, 92),
}
"""The calls whose arguments decide."""

_AF_UNIX = 1
_NEW_NAMESPACES = 0x7E020000  # the flags CLONE_NEW* of clone
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20
_UNCOUNTED = 0x40100  # MAP_GROWSDOWN and MAP_HUGETLB: memory that no limit counts
_MREMAP_DONTUNMAP = 0x4
_DUPFD, _GETFD, _SETFD, _GETFL, _SETFL, _DUPFD_CLOEXEC, _GETPIPE_SZ = 0, 1, 2, 3, 4, 1030, 1032
_OF_TERMINALS_AND_FILES = (0x5401, 0x5413, 0x540F, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIONCLEX and FIOCLEX."""
_ADVICE = (0, 1, 2, 4, 8, 10, 11, 14, 15, 16, 17, 18, 19)
"""Of memory, from MADV_NORMAL to MADV_KEEPONFORK; not WILLNEED, REMOVE, COLD or PAGEOUT."""
_OPTIONS = (1, 2, 3, 15, 16, 23, 29, 30, 36, 37, 38, 39, 41, 42, 54, 55, 56, 0x53564D41)
"""Of prctl: names of threads, signals at the parent's end and so on; not PR_SET_DUMPABLE."""
_PERSONALITIES = (0, 0xFFFFFFFF)  # the usual one, and the question which one it is

_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # places in struct seccomp_data
_LOAD, _RETURN, _AND = 0x20, 0x06, 0x54
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45
_ALLOW = 0x7FFF0000
_ASK = 0x7FC00000  # SECCOMP_RET_USER_NOTIF
_ERROR = 0x00050000


class _Step(NamedTuple):
    """One instruction; the jumps are numbers of instructions to leave out."""

    code: int
    value: int
    then: int = 0
    otherwise: int = 0


_allowed = _Step(_RETURN, _ALLOW)


def make_filter(machine: str = "") -> bytes:
    """Return the filter for a machine (this one), empty where there is none for it.

    >>> len(make_filter("x86_64")) % 8, make_filter("sparc")
    (0, b'')
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        return b""
    column = [*_ARCHITECTURES].index(machine)
    rules = _rules(_O_DIRECT[machine])
    steps = [
        _Step(_LOAD, _ARCHITECTURE),
        *_unless([_ARCHITECTURES[machine]], errno.ENOSYS),
        _Step(_LOAD, _NUMBER),
    ]
    for name, numbers in DECIDED.items():
        if (number := numbers[column]) is not None:
            steps += [_Step(_EQUAL, number, 0, len(rules[name])), *rules[name]]
    decided = {numbers[column] for numbers in DECIDED.values()}
    calls = {numbers[column] for numbers in ALLOWED.values()} - decided
    for first, last in _ranges(call for call in calls if call is not None):
        steps += [_Step(_AT_LEAST, first, 0, 2), _Step(_AT_LEAST, last + 1, 1, 0), _allowed]
    return _packed([*steps, _refuse(errno.ENOSYS)])


def make_watch(machine: str = "") -> bytes:
    """Return the filter by which process 1 of a jail is asked for each pair of sockets."""
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        return b""
    number = DECIDED["socketpair"][[*_ARCHITECTURES].index(machine)]
    assert number is not None
    ask = _Step(_RETURN, _ASK)
    return _packed([_Step(_LOAD, _NUMBER), _Step(_EQUAL, number, 0, 1), ask, _allowed])


def _ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last number of each row of numbers without a gap.

    >>> [*_ranges([7, 1, 2, 3])]
    [(1, 3), (7, 7)]
    """
    rest = sorted(numbers)
    while rest:
        first = last = rest.pop(0)
        while rest and rest[0] == last + 1:
            last = rest.pop(0)
        yield first, last


def _packed(steps: list[_Step]) -> bytes:
    return b"".join(
        struct.pack("=HBBI", step.code, step.then, step.otherwise, step.value) for step in steps
    )


def _rules(o_direct: int) -> dict[str, list[_Step]]:
    """Return what is done about the calls whose arguments decide; each ends in a return.

    A bot has no network. `o_direct` is the flag with which a file is read past the page cache.
    """
    eperm = _refuse(errno.EPERM)
    shared = _MAP_SHARED | _MAP_ANONYMOUS  # without a file: memory that no limit counts
    now = [_argument(5), *_unless([0], errno.EOPNOTSUPP), _allowed]
    return {
        "openat": [_argument(2), _Step(_ANY_BIT, o_direct, 0, 1), eperm, _allowed],
        "open": [_argument(1), _Step(_ANY_BIT, o_direct, 0, 1), eperm, _allowed],
        "socket": [_refuse(errno.EAFNOSUPPORT)],
        "socketpair": [_argument(0), *_unless([_AF_UNIX], errno.EAFNOSUPPORT), _allowed],
        "clone": [_argument(0), _Step(_ANY_BIT, _NEW_NAMESPACES, 0, 1), eperm, _allowed],
        "ioctl": [_argument(1), *_unless(_OF_TERMINALS_AND_FILES, errno.ENOTTY), _allowed],
        "mmap": [
            _argument(3),
            _Step(_ANY_BIT, _UNCOUNTED, 3, 0),
            _Step(_AND, shared),
            _Step(_EQUAL, shared, 1, 0),
            _allowed,
            eperm,
        ],
        "mremap": [_argument(3), _Step(_ANY_BIT, _MREMAP_DONTUNMAP, 0, 1), eperm, _allowed],
        "madvise": [_argument(2), *_unless(_ADVICE, errno.EINVAL), _allowed],
        "preadv2": now,  # with RWF_NOWAIT it would say what is in the page cache
        "pwritev2": now,
        "fcntl": [
            _argument(1),
            _Step(_EQUAL, _SETFL, 0, 4),
            _argument(2),
            _Step(_ANY_BIT, o_direct, 0, 1),
            eperm,
            _allowed,
            *_unless([_DUPFD, _GETFD, _SETFD, _GETFL, _DUPFD_CLOEXEC, _GETPIPE_SZ], errno.EPERM),
            _allowed,
        ],
        "prctl": [_argument(0), *_unless(_OPTIONS, errno.EINVAL), _allowed],
        "prlimit64": [_argument(0), *_unless([0], errno.EPERM), _allowed],
        "personality": [_argument(0), *_unless(_PERSONALITIES, errno.EPERM), _allowed],
    }


def _argument(index: int) -> _Step:
    """Return what loads the lower half of an argument, all that the kernel reads of these."""
    return _Step(_LOAD, _ARGUMENTS + 8 * index)


def _unless(values: Iterable[int], error: int) -> list[_Step]:
    """Return what refuses a call with an error unless one of the values is loaded."""
    rest = [*values]
    jumps = [_Step(_EQUAL, value, len(rest) - place) for place, value in enumerate(rest)]
    return [*jumps, _refuse(error)]


def _refuse(error: int) -> _Step:
    return _Step(_RETURN, _ERROR | error)
