"""Run as process 1 of a jail: confine this process, and start the bot as its child.

Usage: `python init.py MEGABYTES PROCESSES USER WATCH FILTER COUNT FOLDER... COMMAND...`. Each of
COUNT folders is in memory, besides those that every jail has. Standard input begins with two
filters of system calls, of WATCH and FILTER bytes; the rest is the bot's input. The second one is
read last: while it is unread, nothing of the bot has begun, and no fault is the bot's. The bot can
neither write to this process (it is not dumpable) nor signal it (it is process 1).
"""

import ctypes
import errno
import fcntl
import os
import select
import signal
import struct
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))

from arena.lanes.confine import DISK, INODES, execute, limit

SOCKETS = 32
"""The most sockets of a jail; each takes up to 0.3 MB of the kernel's memory."""

_PRIVATE = "/tmp"
_REMOUNT, _SAFE, _NOEXEC = 0x20, 0x2 | 0x4, 0x8  # MS_REMOUNT, MS_NOSUID | MS_NODEV, MS_NOEXEC
_READ_ONLY, _UNTOLD = 0x1, "size=1m,nr_inodes=100k"  # MS_RDONLY
_PR_SET_DUMPABLE = 4
_SECCOMP = {"x86_64": 317, "aarch64": 277}  # the number of the system call
_FILTER, _NEW_LISTENER = 1, 8  # SECCOMP_SET_MODE_FILTER and a flag
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV and _SEND
_CALL, _ANSWER = "=QIIiIQ6Q", "=QqiI"  # struct seccomp_notif and seccomp_notif_resp
_CONTINUE = 1
_STREAM, _STREAM_FLAGS = 1, 0o2004000  # SOCK_STREAM; SOCK_CLOEXEC | SOCK_NONBLOCK
_CAPABILITY_VERSION = 0x20080522
_HARMLESS = {"CapInh": 0, "CapPrm": 0, "CapEff": 0, "CapAmb": 0, "NoNewPrivs": 1}
_SIGNALLED = 128  # the exit status for signal 0

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    """A struct sock_fprog: a filter and the number of its instructions."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def _checked(result: int, what: str) -> int:
    """Return the result of a system call; exit with status 126 if the call failed."""
    if result < 0:
        _refuse(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def _refuse(reason: str) -> None:
    print(f"not confined: {reason}", file=sys.stderr, flush=True)
    os._exit(126)


def _read(size: int) -> bytes:
    """Return the next `size` bytes of standard input."""
    data = b""
    while len(data) < size:
        data += (part := os.read(0, size - len(data)))
        if not part:
            os._exit(1)
    return data


def bound_folders(further: list[str]) -> None:
    """Limit the size of the folders in memory, `further` ones too; show only processes in /proc.

    Without a limit each of these file systems could fill half of the machine's memory.
    """
    for folder, flags, options in (
        *((name, _SAFE | _READ_ONLY, _UNTOLD) for name in ("/dev", *further)),
        ("/proc", _SAFE | _NOEXEC, "subset=pid"),
        (_PRIVATE, _SAFE, f"size={DISK},nr_inodes={INODES}"),
    ):
        words = (b"none", os.fsencode(folder), None, _REMOUNT | flags, options.encode())
        _checked(_libc.mount(*words), folder)
    os.chmod(_PRIVATE, 0o1777)


def install(filter_: bytes, flags: int = 0) -> int:
    """Install a filter for this process and its children; an empty one allows everything.

    With the flag _NEW_LISTENER, return the descriptor of its notifications.
    """
    if not filter_:
        return -1
    steps = ctypes.create_string_buffer(filter_, len(filter_))
    program = _Program(len(filter_) // 8, ctypes.addressof(steps))
    words = (_SECCOMP[os.uname().machine], _FILTER, flags, ctypes.byref(program))
    return _checked(_libc.syscall(*words), "filter")


def give_up_rights() -> None:
    """Drop all capabilities, inheritable ones too; exit with status 126 if any is left."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _libc.capset(header, (ctypes.c_uint32 * 6)())
    with open("/proc/self/status") as file:
        status = dict(line.split(":", 1) for line in file)
    rights = {name: int(status[name], 16) for name in _HARMLESS}
    if rights != _HARMLESS:
        _refuse(str(rights))


def become(user: int) -> None:
    """Change to a user without any capabilities."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    give_up_rights()
    if {os.getuid(), os.getgid()} != {user}:
        _refuse(f"user {os.getuid()}")


def answer(listener: int) -> None:
    """Allow the bot's call of socketpair, or refuse it if too many sockets exist."""
    call = bytearray(struct.calcsize(_CALL))
    try:
        fcntl.ioctl(listener, _RECEIVE, call)
        number, *_, kind, _, _, _, _ = struct.unpack(_CALL, call)
        with open("/proc/self/net/unix", "rb") as file:
            room = file.read().count(b"\n") - 1 + 2 <= SOCKETS  # the first line is a header
        error = 0 if room else -errno.EMFILE
        if kind & ~_STREAM_FLAGS != _STREAM:
            error = -errno.EPERM
        reply = struct.pack(_ANSWER, number, 0, error, 0 if error else _CONTINUE)
        fcntl.ioctl(listener, _SEND, reply)
    except OSError:  # the calling process has ended
        pass


def reap(child: int) -> None:
    """Reap all processes that have ended; exit with the child's status if it is among them."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else _SIGNALLED - code)
        if pid == 0:
            return


def stand_by(child: int, listener: int) -> None:
    """Decide on the bot's sockets, and reap its orphans, until the bot ends."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    ended, ending = os.pipe()
    for end in (ended, ending):
        os.set_blocking(end, False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nobody inside the jail can signal process 1
    signal.set_wakeup_fd(ending, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    if listener >= 0:
        poll.register(listener, select.POLLIN)
    reap(child)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == listener:
                answer(listener)
            else:
                os.read(ended, 1 << 10)
        reap(child)


def main(words: list[str]) -> None:
    """Start the command as a user, and wait until it ends."""
    megabytes, processes, user, *sizes, count = map(int, words[:6])
    watch = _read(sizes[0])
    _checked(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable")
    bound_folders(words[6 : 6 + count])
    limit(megabytes, processes if os.getuid() else 0)  # root's other processes must not count
    listener = install(watch, _NEW_LISTENER)
    if child := os.fork():
        limit(megabytes, processes)
        give_up_rights()
        stand_by(child, listener)
    if listener >= 0:
        os.close(listener)
    become(user)
    limit(megabytes, processes)
    install(_read(sizes[1]))
    execute(words[6 + count :])


if __name__ == "__main__":
    main(sys.argv[1:])
