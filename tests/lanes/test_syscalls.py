"""The filter of system calls, run by a small machine of BPF, for every processor that it knows."""

from __future__ import annotations

import errno
import mmap
import os
import re
import struct
import termios

import pytest

from arena.lanes.syscalls import ALLOWED, DECIDED, make_filter, make_watch

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
ALLOW, ASK, ERROR = 0x7FFF0000, 0x7FC00000, 0x00050000
LOAD, RETURN, AND, EQUAL, AT_LEAST, ANY_BIT = 0x20, 0x06, 0x54, 0x15, 0x35, 0x45

REFUSED = {
    # call: its numbers on x86_64 and aarch64
    "ptrace": (101, 117),
    "mount": (165, 40),
    "bpf": (321, 280),
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    "mincore": (27, 232),
    "cachestat": (451, 451),
    "memfd_create": (319, 279),
    "io_uring_setup": (425, 425),
    "sysinfo": (99, 179),
    "sendmsg": (46, 211),
    "connect": (42, 203),
    "setuid": (105, 146),
    "flock": (73, 32),
    "clone3": (435, 435),
    "splice": (275, 76),
    "the newest": (5000, 5000),
    "the ABI x32": (0x40000000, 0x40000000),
}
BY_ARGUMENTS = [
    # call, its first arguments, and what comes of it
    ("socket", (1, 1), errno.EAFNOSUPPORT),
    ("socketpair", (1, 1), 0),
    ("socketpair", (2, 1), errno.EAFNOSUPPORT),
    ("preadv2", (3, 0, 1, 0, 0, 0), 0),
    ("preadv2", (3, 0, 1, 0, 0, 8), errno.EOPNOTSUPP),
    ("pwritev2", (3, 0, 1, 0, 0, 2), errno.EOPNOTSUPP),
    ("fcntl", (1, 1031), errno.EPERM),
    ("fcntl", (1, 6), errno.EPERM),
    ("fcntl", (1, 1030), 0),
    ("fcntl", (1, 4, 0o4000), 0),
    ("mmap", (0, 4096, 3, 0x22), 0),
    ("mmap", (0, 4096, 3, 0x21), errno.EPERM),
    ("mmap", (0, 4096, 3, 0x4021), errno.EPERM),
    ("mmap", (0, 4096, 3, 0x40022), errno.EPERM),
    ("mmap", (0, 4096, 1, 0x01), 0),
    ("mremap", (0, 0, 0, 1), 0),
    ("mremap", (0, 0, 0, 5), errno.EPERM),
    ("clone", (17,), 0),
    ("clone", (0x10000000,), errno.EPERM),
    ("prlimit64", (0, 7), 0),
    ("prlimit64", (1, 7), errno.EPERM),
    ("personality", (0xFFFFFFFF,), 0),
    ("personality", (0x40000,), errno.EPERM),
]


def run(program: bytes, number: int, architecture: int, arguments: tuple[int, ...] = ()) -> int:
    """Return what a filter says of a call."""
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number, architecture, 0, *padded)
    steps = [*struct.iter_unpack("=HBBI", program)]
    place = loaded = 0
    while True:
        code, then, otherwise, value = steps[place]
        if code == RETURN:
            return int(value)
        if code == LOAD:
            loaded = struct.unpack_from("=I", data, value)[0]
        elif code == AND:
            loaded &= value
        else:
            found = {EQUAL: loaded == value, AT_LEAST: loaded >= value, ANY_BIT: loaded & value}
            place += then if found[code] else otherwise
        place += 1


def verdict(error: int) -> int:
    """Return what a filter answers where a call ends with this error, 0 for none."""
    return ERROR | error if error else ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_only_the_list_is_allowed_and_process_1_is_asked_for_pairs_of_sockets(machine: str) -> None:
    """Of all numbers of system calls, those of the list and those whose arguments decide."""
    column, architecture = MACHINES[machine]
    program = make_filter(machine)
    decided = {numbers[column] for numbers in DECIDED.values()}
    allowed = {numbers[column] for numbers in ALLOWED.values()} - decided
    found = {number for number in range(1024) if run(program, number, architecture) == ALLOW}
    assert found - decided == allowed - {None}
    for name, numbers in REFUSED.items():
        assert run(program, numbers[column], architecture) == verdict(errno.ENOSYS), name
    assert run(program, 0, 0x40000003) == verdict(errno.ENOSYS)  # of another processor
    column, architecture = MACHINES[machine]
    asked = {
        number for number in range(600) if run(make_watch(machine), number, architecture) == ASK
    }
    assert asked == {DECIDED["socketpair"][column]}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "arguments", "error"), BY_ARGUMENTS)
def test_arguments_decide(machine: str, name: str, arguments: tuple[int, ...], error: int) -> None:
    """Where a call does what bots need, and with other arguments what they may not."""
    column, architecture = MACHINES[machine]
    number = DECIDED[name][column]
    assert run(make_filter(machine), number, architecture, arguments) == verdict(error)


LISTED = {
    # of prctl the deaths of parents, dumping (only to ask), names, slack, subreapers, privileges
    "prctl": (0, errno.EINVAL, {1, 2, 3, 15, 16, 23, 29, 30, *range(36, 40), 41, 42, 54, 55, 56}),
    "madvise": (
        *(2, errno.EINVAL),
        {
            *(mmap.MADV_NORMAL, mmap.MADV_RANDOM, mmap.MADV_SEQUENTIAL, mmap.MADV_DONTNEED),
            *(mmap.MADV_FREE, mmap.MADV_DONTFORK, mmap.MADV_DOFORK, mmap.MADV_HUGEPAGE),
            *(mmap.MADV_NOHUGEPAGE, mmap.MADV_DONTDUMP, mmap.MADV_DODUMP),
            *(18, 19),  # MADV_WIPEONFORK, MADV_KEEPONFORK
        },
    ),
    "ioctl": (
        *(1, errno.ENOTTY),
        {
            *(termios.TCGETS, termios.TIOCGWINSZ, termios.TIOCGPGRP, termios.FIONREAD),
            *(termios.FIONBIO, termios.FIONCLEX, termios.FIOCLEX),
        },
    ),
}
"""By call: which argument decides, the error of others, and its values that are allowed."""


@pytest.mark.parametrize("name", LISTED)
def test_of_an_argument_only_the_listed_values_are_allowed(name: str) -> None:
    """Of prctl also the name of a range of memory, PR_SET_VMA, whose number is far beyond."""
    place, error, listed = LISTED[name]
    column, architecture = MACHINES["x86_64"]
    number = DECIDED[name][column]
    program = make_filter("x86_64")
    base = 0x5400 if name == "ioctl" else 0
    for value in range(base, base + 128):
        found = run(program, number, architecture, (*(0,) * place, value))
        assert found == verdict(0 if value in listed else error), value
    if name == "prctl":
        assert run(program, number, architecture, (0x53564D41,)) == ALLOW


@pytest.mark.parametrize(("machine", "flag"), [("x86_64", 0o40000), ("aarch64", 0o200000)])
def test_no_file_is_read_past_the_page_cache(machine: str, flag: int) -> None:
    """With O_DIRECT, which is not the same on all processors."""
    column, architecture = MACHINES[machine]
    for name, place in (("openat", 2), ("open", 1), ("fcntl", 2)):
        number = DECIDED[name][column]
        for flags, error in ((0, 0), (flag, errno.EPERM)):
            arguments = [0, 4 if name == "fcntl" else 0, 0]
            arguments[place] = flags
            if number is not None:
                found = run(make_filter(machine), number, architecture, (*arguments,))
                assert found == verdict(error)


HEADERS = (
    "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "/usr/include/asm-generic/unistd.h",
)


@pytest.mark.parametrize("column", [0, 1], ids=[*MACHINES])
def test_the_numbers_of_the_calls_are_those_of_linux(column: int) -> None:
    """By its own headers, where they are installed."""
    if not os.path.exists(HEADERS[column]):
        pytest.skip("the headers of Linux are not installed")
    with open(HEADERS[column], encoding="utf-8") as file:
        found = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", file.read(), re.MULTILINE)
    known = {name: int(number) for name, number in found}
    for name, numbers in (ALLOWED | DECIDED).items():
        if name in known:
            assert numbers[column] == known[name], name
    assert len({*known} & {*ALLOWED, *DECIDED}) > 150
