"""Tries the system calls by which a process gains rights or leaves its limits.

They are made by a child, with arguments that do no harm where they are allowed.
"""

import ctypes
import errno
import os
import platform
import socket

CALLS = {
    # call: its numbers on x86_64 and aarch64, and its arguments
    "unshare a user namespace": (272, 97, 0x10000000),
    "unshare a mount namespace": (272, 97, 0x20000),
    "clone into a user namespace": (56, 220, 0x10000000 | 17, 0, 0, 0, 0),
    "clone3": (435, 435, 0, 0),
    "ptrace": (101, 117, 0, 0, 0, 0),
    "process_vm_readv": (310, 270, 1, 0, 0, 0, 0, 0),
    "mount": (165, 40, 0, 0, 0, 0, 0),
    "open_tree": (428, 428, -100, 0, 0),
    "fsopen": (430, 430, 0, 0),
    "chroot": (161, 51, 0),
    "bpf": (321, 280, 99, 0, 0),
    "perf_event_open": (298, 241, 0, 0, 0, 0, 0),
    "keyctl": (250, 219, 0, -3, 0),
    "add_key": (248, 217, 0, 0, 0, 0, 0),
    "userfaultfd": (323, 282, 1),
    "io_uring_setup": (425, 425, 1, 0),
    "open_by_handle_at": (304, 265, -1, 0, 0),
    "memfd_create": (319, 279, 0, 0),
    "flock": (73, 32, 1, 1),
    "inotify_init1": (294, 26, 0),
    "a lock of a file": (72, 25, 1, 6, 0),
    "mremap that leaves the old place": (25, 216, 4096, 4096, 4096, 5, 0),
    "shmget": (29, 194, 0, 4096, 0o1600),
    "msgget": (68, 186, 0, 0o1600),
    "personality": (135, 92, 0x0040000),
    "a call of the ABI x32": (0x40000000 | 39, 0x40000000 | 172),
    "fadvise64": (221, 223, -1, 0, 0, 4),
    "readahead": (187, 213, -1, 0, 0),
    "mincore": (27, 232, 0, 0, 0),
    "cachestat": (451, 451, -1, 0, 0, 0),
    "preadv2 that says what is cached": (327, 286, 0, 0, 0, 0, 0, 8),
    "pwritev2 with a flag": (328, 287, 1, 0, 0, 0, 0, 2),
    "madvise that looks ahead": (28, 233, 0, 0, 3),
    "madvise that takes pages away": (28, 233, 0, 0, 21),
    "madvise that makes pages cold": (28, 233, 0, 0, 20),
    "a bigger pipe": (72, 25, 1, 1031, 1 << 20),
    "sendmsg, which takes descriptors along": (46, 211, -1, 0, 0),
    "setsockopt": (54, 208, -1, 1, 7, 0, 0),
    "splice": (275, 76, -1, 0, -1, 0, 0, 0),
    "vmsplice": (278, 75, -1, 0, 0, 0),
    "sched_setaffinity": (203, 122, 0, 0, 0),
    "limits of another process": (302, 261, 1, 7, 0, 0),
    "a process that hides its memory": (157, 167, 4, 0, 0, 0, 0),
    "a call that is newer than the arena": (499, 499),
    "become root": (117, 147, 0, 0, 0),
}
FAMILIES = ("AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG")
MAPPINGS = {
    "shared memory without a file": 0x21,
    "a second stack": 0x122,
    "huge pages": 0x40022,
}
REFUSED = (errno.EPERM, errno.ENOSYS, errno.EACCES, errno.EAFNOSUPPORT, errno.EOPNOTSUPP)
INVALID = ("become root", "madvise ", "a process that hides")
"""What may be refused as an invalid argument: there is no root in a user namespace."""


def gained():
    """Yield what was not refused."""
    libc = ctypes.CDLL(None, use_errno=True)
    column = 0 if platform.machine() == "x86_64" else 1
    for name, call in CALLS.items():
        arguments = [ctypes.c_long(argument) for argument in call[2:]]
        parent = os.getpid()
        result = libc.syscall(ctypes.c_long(call[column]), *arguments)
        if os.getpid() != parent or (result == 0 and name.startswith("clone ")):
            os._exit(0)
        refused = (*REFUSED, errno.EINVAL) if name.startswith(INVALID) else REFUSED
        if result >= 0 or ctypes.get_errno() not in refused:
            yield name
    for name, flags in MAPPINGS.items():
        libc.mmap.restype = ctypes.c_long
        if libc.mmap(None, ctypes.c_size_t(4096), 3, flags, -1, ctypes.c_long(0)) != -1:
            yield name
    yield from families()
    if sends_datagrams():
        yield "a pair of sockets for datagrams"
    with open("/proc/self/status") as file:
        rights = [line.split() for line in file if line.startswith(("CapEff", "CapPrm"))]
    if any(int(value, 16) for _, value in rights):
        yield "capabilities"


def families():
    """Yield the kinds of networks for which there are sockets."""
    for name in FAMILIES:
        try:
            socket.socket(getattr(socket, name), socket.SOCK_DGRAM).close()
        except OSError as error:
            if error.errno in REFUSED:
                continue
        yield name


def sends_datagrams():
    """Return whether there can be sockets of which each holds many messages."""
    try:
        socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    except OSError:
        return False
    return True


class Gains:
    """Looks in its first decision."""

    def __init__(self, _setup):
        pass

    def choose(self, view, /):
        """Raise if anything was gained."""
        if view.history[1:]:
            return view.legal[0]
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            os.write(write, ", ".join(gained()).encode() + b".")
            os._exit(0)
        os.close(write)
        said = os.read(read, 1 << 16).decode()
        os.close(read)
        os.waitpid(child, 0)
        if said != ".":
            raise RuntimeError(f"not refused: {said}")
        return view.legal[0]


bot = Gains
