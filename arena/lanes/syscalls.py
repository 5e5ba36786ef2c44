"""Build the seccomp filters that allow a jailed bot only the system calls that honest bots need.

A filter is a classic BPF program, as described in man 2 seccomp. A refused call fails with an
error, and the bot continues. A call that is not listed fails with ENOSYS, as on a kernel that
does not have it. Not listed are calls that bots can do without: sockets, file locks, inotify,
access to other processes' memory, memory outside the limits, and calls that read the state of the
page cache, fill it or empty it. Source: the lists of Docker and Flatpak, man 2 syscalls.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

_CALLS = {
    "files": """
        read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68,
        preadv 295 69, pwritev 296 70, open 2 -, openat 257 56, creat 85 -, close 3 57,
        close_range 436 436, lseek 8 62, dup 32 23, dup2 33 -, dup3 292 24, stat 4 -, lstat 6 -,
        fstat 5 80, newfstatat 262 79, statx 332 291, statfs 137 43, fstatfs 138 44,
        access 21 -, faccessat 269 48, faccessat2 439 439, readlink 89 -, readlinkat 267 78,
        getcwd 79 17, chdir 80 49, fchdir 81 50, getdents 78 -, getdents64 217 61, rename 82 -,
        renameat 264 38, renameat2 316 276, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -,
        unlinkat 263 35, link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36, mknod 133 -,
        mknodat 259 33, chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452,
        chown 92 -, lchown 94 -, fchown 93 55, fchownat 260 54, umask 95 166, truncate 76 45,
        ftruncate 77 46, fallocate 285 47, fsync 74 82, fdatasync 75 83, utime 132 -,
        utimes 235 -, futimesat 261 -, utimensat 280 88, getxattr 191 8, lgetxattr 192 9,
        fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13,
        sendfile 40 71
    """,
    "pipes, and waiting": """
        pipe 22 -, pipe2 293 59, poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72,
        epoll_create 213 -, epoll_create1 291 20, epoll_ctl 233 21, epoll_wait 232 -,
        epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -, eventfd2 290 19,
        signalfd 282 -, signalfd4 289 74, timerfd_create 283 85, timerfd_settime 286 86,
        timerfd_gettime 287 87
    """,
    "the two ends of a pair of sockets": """
        sendto 44 206, recvfrom 45 207, recvmsg 47 212, shutdown 48 210, getsockopt 55 209,
        getsockname 51 204, getpeername 52 205
    """,
    "memory": """
        brk 12 214, munmap 11 215, mprotect 10 226, msync 26 227, mlock 149 228, mlock2 325 284,
        munlock 150 229, membarrier 324 283
    """,
    "processes and threads": """
        fork 57 -, vfork 58 -, execve 59 221, exit 60 93, exit_group 231 94, wait4 61 260,
        waitid 247 95, kill 62 129, tkill 200 130, tgkill 234 131, pidfd_open 434 434,
        pidfd_send_signal 424 424, getpid 39 172, getppid 110 173, gettid 186 178,
        getpgid 121 155, getpgrp 111 -, setpgid 109 154, getsid 124 156, setsid 112 157,
        set_tid_address 218 96, set_robust_list 273 99, get_robust_list 274 100, rseq 334 293,
        futex 202 98, futex_waitv 449 449, arch_prctl 158 -, sched_yield 24 124,
        sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120,
        sched_get_priority_max 146 125, sched_get_priority_min 147 126,
        sched_rr_get_interval 148 127, getpriority 140 141, setpriority 141 140, getcpu 309 168,
        getrlimit 97 163, setrlimit 160 164, getrusage 98 165
    """,
    "users": """
        getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148,
        getresgid 120 150, getgroups 115 158, capget 125 90
    """,
    "signals": """
        rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136,
        rt_sigtimedwait 128 137, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240,
        rt_sigsuspend 130 133, sigaltstack 131 132, pause 34 -, restart_syscall 219 128
    """,
    "time": """
        nanosleep 35 101, clock_nanosleep 230 115, clock_gettime 228 113, clock_getres 229 114,
        gettimeofday 96 169, time 201 -, times 100 153, alarm 37 -, getitimer 36 102,
        setitimer 38 103, timer_create 222 107, timer_settime 223 110, timer_gettime 224 108,
        timer_getoverrun 225 109, timer_delete 226 111
    """,
    "the rest": """
        uname 63 160, getrandom 318 278
    """,
}
"""The names of the calls by purpose, each with its numbers on x86_64 and aarch64."""


def _read(calls: str) -> dict[str, tuple[int | None, ...]]:
    """Return the numbers of system calls by name, on x86_64 and on aarch64.

    >>> _read("read 0 63, open 2 -")
    {'read': (0, 63), 'open': (2, None)}
    """
    rows = (call.split() for call in calls.split(","))
    return {
        name: tuple(None if number == "-" else int(number) for number in numbers)
        for name, *numbers in rows
    }


ALLOWED: Final = {name: row for calls in _CALLS.values() for name, row in _read(calls).items()}
"""The numbers of each call on x86_64 and aarch64, None if it does not exist there."""

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_*
_O_DIRECT = {"x86_64": 0o40000, "aarch64": 0o200000}

DECIDED: Final = _read("""
    openat 257 56, open 2 -, socket 41 198, socketpair 53 199, clone 56 220, ioctl 16 29,
    mmap 9 222, mremap 25 216, madvise 28 233, preadv2 327 286, pwritev2 328 287, fcntl 72 25,
    prctl 157 167, prlimit64 302 261, personality 135 92
""")
"""The calls that are allowed or refused by their arguments, with their numbers as above."""

_AF_UNIX = 1
_NEW_NAMESPACES = 0x7E020000  # the flags CLONE_NEW* of clone
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20
_UNCOUNTED = 0x40100  # MAP_GROWSDOWN and MAP_HUGETLB: memory outside the limits
_MREMAP_DONTUNMAP = 0x4
_DUPFD, _GETFD, _SETFD, _GETFL, _SETFL, _DUPFD_CLOEXEC, _GETPIPE_SZ = 0, 1, 2, 3, 4, 1030, 1032
_OF_TERMINALS_AND_FILES = (0x5401, 0x5413, 0x540F, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIONCLEX and FIOCLEX."""
_ADVICE = (0, 1, 2, 4, 8, 10, 11, 14, 15, 16, 17, 18, 19)
"""Advice for madvise, MADV_NORMAL to MADV_KEEPONFORK; not WILLNEED, REMOVE, COLD or PAGEOUT."""
_OPTIONS = (1, 2, 3, 15, 16, 23, 29, 30, 36, 37, 38, 39, 41, 42, 54, 55, 56, 0x53564D41)
"""Options of prctl, such as thread names and the parent's death signal; not PR_SET_DUMPABLE."""
_PERSONALITIES = (0, 0xFFFFFFFF)  # the usual one, and the query for the current one

_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_LOAD, _RETURN, _AND = 0x20, 0x06, 0x54
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45
_ALLOW = 0x7FFF0000
_ASK = 0x7FC00000  # SECCOMP_RET_USER_NOTIF
_ERROR = 0x00050000


class _Step(NamedTuple):
    """One BPF instruction; a jump is the number of instructions to skip."""

    code: int
    value: int
    then: int = 0
    otherwise: int = 0


_allowed = _Step(_RETURN, _ALLOW)


def make_filter(machine: str = "") -> bytes:
    """Return the filter for a machine (default: this one), empty if its processor is not supported.

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
    """Return the filter that lets process 1 of a jail decide on each call of socketpair."""
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        return b""
    number = DECIDED["socketpair"][[*_ARCHITECTURES].index(machine)]
    assert number is not None
    ask = _Step(_RETURN, _ASK)
    return _packed([_Step(_LOAD, _NUMBER), _Step(_EQUAL, number, 0, 1), ask, _allowed])


def _ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last number of each run of consecutive numbers.

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
    """Return the instructions for calls that are allowed or refused by their arguments.

    Each list ends in a return. A bot has no network. `o_direct` is the flag of open that bypasses
    the page cache.
    """
    eperm = _refuse(errno.EPERM)
    shared = _MAP_SHARED | _MAP_ANONYMOUS  # without a file: memory outside the limits
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
        "preadv2": now,  # RWF_NOWAIT would reveal what is in the page cache
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
    """Return the instruction that loads an argument's lower half, all that the kernel reads."""
    return _Step(_LOAD, _ARGUMENTS + 8 * index)


def _unless(values: Iterable[int], error: int) -> list[_Step]:
    """Return instructions that refuse a call unless the loaded value is one of these."""
    rest = [*values]
    jumps = [_Step(_EQUAL, value, len(rest) - place) for place, value in enumerate(rest)]
    return [*jumps, _refuse(error)]


def _refuse(error: int) -> _Step:
    return _Step(_RETURN, _ERROR | error)
