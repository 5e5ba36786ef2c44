"""Syscalls: the filter that keeps a jailed bot from the system calls that no bot needs.

The filter is a program of classic BPF, as `bwrap --seccomp` reads it. A call that is refused
fails with an error, and the bot goes on. Source: the deny list of Flatpak, man 2 seccomp.
"""

from __future__ import annotations

import errno
import platform
import struct
from typing import Final, NamedTuple

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_*
_NEWEST = 466  # of the calls that were reviewed; it lies below the numbers of the ABI x32

DENIED: Final[dict[str, tuple[int | None, int | None]]] = {
    # call: its numbers on x86_64 and aarch64, None where it does not exist
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    # file systems and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    # the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "syslog": (103, 116),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "vhangup": (153, 58),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "uselib": (134, None),
    # System V: memory that no limit counts
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    # what two processes would see of each other through files that both can read
    "flock": (73, 32),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    # memory that no limit counts, and where memory lies
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}
"""The calls that fail with EPERM."""

_SPECIAL = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "clone": (56, 220),
    "ioctl": (16, 29),
    "mmap": (9, 222),
    "mremap": (25, 216),
    "fcntl": (72, 25),
    "personality": (135, 92),
    "clone3": (435, 435),
}
_AF_UNIX = 1
_NEW_NAMESPACES = 0x7E020000  # the flags CLONE_NEW* of clone
_MAP_SHARED, _MAP_ANONYMOUS, _MAP_GROWSDOWN = 0x01, 0x20, 0x100
_MREMAP_DONTUNMAP = 0x4
_LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1026)  # F_GETLK .. F_OFD_SETLKW, F_SETLEASE, F_NOTIFY
_TERMINAL = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX, which type for the person at a terminal
_PERSONALITIES = (0, 0xFFFFFFFF)  # the usual one, and the question which one it is

_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # places in struct seccomp_data
_LOAD, _RETURN, _AND = 0x20, 0x06, 0x54
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45
_ALLOW = 0x7FFF0000
_ERROR = 0x00050000


class _Step(NamedTuple):
    """One instruction; the jumps are numbers of instructions to leave out."""

    code: int
    value: int
    then: int = 0
    otherwise: int = 0


def make_filter(machine: str = "") -> bytes:
    """Return the filter for a machine (this one), empty where there is none for it.

    >>> len(make_filter("x86_64")) % 8, make_filter("sparc")
    (0, b'')
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        return b""
    column = [*_ARCHITECTURES].index(machine)
    steps = [
        _Step(_LOAD, _ARCHITECTURE),
        *_unless(_ARCHITECTURES[machine], errno.ENOSYS),
        _Step(_LOAD, _NUMBER),
        _Step(_AT_LEAST, _NEWEST + 1, 0, 1),
        _refuse(errno.ENOSYS),
    ]
    for numbers in DENIED.values():
        if (number := numbers[column]) is not None:
            steps += [_Step(_EQUAL, number, 0, 1), _refuse(errno.EPERM)]
    for name, rule in _special_rules().items():
        steps += [_Step(_EQUAL, _SPECIAL[name][column], 0, len(rule)), *rule]
    steps.append(_Step(_RETURN, _ALLOW))
    return b"".join(
        struct.pack("=HBBI", step.code, step.then, step.otherwise, step.value) for step in steps
    )


def _special_rules() -> dict[str, list[_Step]]:
    """Return what is done about the calls whose arguments decide; each ends in a return.

    A bot has no network. Sockets to itself would hold memory that no limit counts, as would
    shared memory without a file and a second stack.
    """
    allow = _Step(_RETURN, _ALLOW)
    eperm = _refuse(errno.EPERM)
    family = [_argument(0), *_unless(_AF_UNIX, errno.EAFNOSUPPORT), allow]
    return {
        "socket": family,
        "socketpair": family,
        "clone": [_argument(0), _Step(_ANY_BIT, _NEW_NAMESPACES, 0, 1), eperm, allow],
        "ioctl": [
            _argument(1),
            *(step for code in _TERMINAL for step in (_Step(_EQUAL, code, 0, 1), eperm)),
            allow,
        ],
        "mmap": [
            _argument(3),
            _Step(_ANY_BIT, _MAP_GROWSDOWN, 3, 0),
            _Step(_AND, _MAP_SHARED | _MAP_ANONYMOUS),
            _Step(_EQUAL, _MAP_SHARED | _MAP_ANONYMOUS, 1, 0),
            allow,
            eperm,
        ],
        "mremap": [_argument(3), _Step(_ANY_BIT, _MREMAP_DONTUNMAP, 0, 1), eperm, allow],
        "fcntl": [
            _argument(1),
            *(step for command in _LOCKS for step in (_Step(_EQUAL, command, 0, 1), eperm)),
            allow,
        ],
        "personality": [
            _argument(0),
            *(step for kind in _PERSONALITIES for step in (_Step(_EQUAL, kind, 0, 1), allow)),
            eperm,
        ],
        "clone3": [_refuse(errno.ENOSYS)],  # its flags lie in memory; libraries then use clone
    }


def _argument(index: int) -> _Step:
    """Return what loads the lower half of an argument, all that the kernel reads of these."""
    return _Step(_LOAD, _ARGUMENTS + 8 * index)


def _unless(value: int, error: int) -> list[_Step]:
    """Return what refuses a call with an error unless the value is loaded."""
    return [_Step(_EQUAL, value, 1, 0), _refuse(error)]


def _refuse(error: int) -> _Step:
    return _Step(_RETURN, _ERROR | error)
