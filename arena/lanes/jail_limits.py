"""Limit this process and become a bot's: its command or our host, perhaps as process 1 of a jail.

It imports nothing else of the arena until then, and starts in 15 ms; another Python for our host
would take 12. A jail's process 1 stands by as long as the bot lives, which can neither write to it
(it is not dumpable) nor signal it.
"""

import _signal  # type: ignore[import-not-found]  # `signal` imports enum, which takes 6 ms
import errno
import os
import sys

TYPE_CHECKING = False  # of `typing`, which takes 8 ms

if TYPE_CHECKING:
    import ctypes

MOST_OPEN = 128
"""Open files of a process; a pipe, of two files, takes up to 64 KB of the kernel's memory."""

DISK = 64 << 20
"""The size in bytes of a jail's private folder, which is in memory."""

INODES = 10_000
"""The most files and folders in it; each takes 1 KB of the kernel's memory."""

SOCKETS = 32
"""The most sockets of a jail; each takes up to 0.3 MB of the kernel's memory."""

GO = b"\n"
"""What the caller writes first into the input: once it is read, all that follows is the bot's."""

HOST = ""
"""The word before the name of a program of ours."""

_MB = 1 << 20
_MOST_FILE = 64 * _MB
_MOST_STACK = 64 * _MB
_MOST_LOCKED = 1 << 16
_MOST_PENDING = 1024
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_PRIVATE = "/tmp"
_REMOUNT, _SAFE, _NOEXEC = 0x20, 0x2 | 0x4, 0x8  # MS_REMOUNT, MS_NOSUID | MS_NODEV, MS_NOEXEC
_READ_ONLY, _UNTOLD = 0x1, "size=1m,nr_inodes=100k"  # MS_RDONLY
_SECCOMP = {"x86_64": 317, "aarch64": 277}  # the number of the system call
_FILTER, _NEW_LISTENER = 1, 8  # SECCOMP_SET_MODE_FILTER and a flag
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV and _SEND
_CALL, _ANSWER = "=QIIiIQ6Q", "=QqiI"  # struct seccomp_notif and seccomp_notif_resp
_PROGRAM = "@HP"  # struct sock_fprog: the number of a filter's instructions, and their address
_CONTINUE = 1
_STREAM, _STREAM_FLAGS = 1, 0o2004000  # SOCK_STREAM; SOCK_CLOEXEC | SOCK_NONBLOCK
_CAPABILITY_VERSION = 0x20080522
_HARMLESS = {"CapInh": 0, "CapPrm": 0, "CapEff": 0, "CapAmb": 0, "NoNewPrivs": 1}
_SIGNALLED = 128  # the exit status for signal 0
_STACK = 1 << 18  # bytes of a thread that answers; the usual size counts as the bot's memory


def _libc() -> "ctypes.CDLL":
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def limit(megabytes: int, processes: int = 0) -> None:
    """Limit memory, files and, unless `processes` is 0, the number of processes and threads.

    The memory limit is on writable memory (RLIMIT_DATA), because runtimes such as Node's
    reserve address space that they never use.
    """
    import resource

    limits = {
        "DATA": megabytes * _MB,
        "STACK": _MOST_STACK,  # not counted by RLIMIT_DATA
        "FSIZE": _MOST_FILE,
        "MEMLOCK": _MOST_LOCKED,
        "MSGQUEUE": 0,
        "NOFILE": MOST_OPEN,
        "SIGPENDING": _MOST_PENDING,
        "CORE": 0,
    }
    if processes:
        limits["NPROC"] = processes
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:  # not on this system; only Linux has all of them
            continue
        soft, hard = (
            most if limit == resource.RLIM_INFINITY else min(most, limit)
            for limit in resource.getrlimit(kind)
        )
        resource.setrlimit(kind, (soft if name == "STACK" else hard, hard))


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends (Linux); exit if it has ended."""
    set_process(_PR_SET_PDEATHSIG, _signal.SIGKILL)
    if os.getppid() != parent:  # it died before prctl was called
        os._exit(1)


def set_process(option: int, value: int) -> bool:
    """Set an option of this process with prctl (Linux); return whether that succeeded."""
    return sys.platform == "linux" and bool(_libc().prctl(option, value, 0, 0, 0) == 0)


def execute(command: list[str]) -> None:
    """Execute the command in place of this program; exit with status 127 if that fails.

    The words HOST and a module stand for a program of ours, which this one becomes.
    """
    _signal.pthread_sigmask(_signal.SIG_SETMASK, [])
    if command[0] == HOST:
        __import__(command[1], fromlist=["main"]).main()
        return
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def confine(words: list[str]) -> None:
    """Execute the words after the first, which is the limit of memory in MB.

    In a pid namespace of its own it dies with process 1 anyway; `ctypes` would take 2 ms.
    """
    limit(int(words[0]))
    if os.getppid() != 1:
        die_with(os.getppid())
    os.read(0, len(GO))
    execute(words[1:])


def jail(words: list[str]) -> None:
    """Start a command as process 1 of its jail, and wait until it ends.

    Words are MEGABYTES PROCESSES USER WATCH FILTER COUNT FOLDER... COMMAND...: each of COUNT
    folders is in memory, besides those that every jail has. The input begins with two filters of
    system calls, of WATCH and FILTER bytes; the rest is the bot's. The second one is read last:
    while it is unread, nothing of the bot has begun, and no fault is the bot's.
    """
    megabytes, processes, user, *sizes, count = map(int, words[:6])
    watch = _read(sizes[0])
    if not set_process(_PR_SET_DUMPABLE, 0):
        _refuse("dumpable")
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
    set_process(_PR_SET_DUMPABLE, 1)  # its files in /proc are its own, as after exec
    limit(megabytes, processes)
    install(_read(sizes[1]))
    execute(words[6 + count :])


def _refuse(reason: str) -> None:
    print(f"not confined: {reason}", file=sys.stderr, flush=True)
    os._exit(126)


def _checked(result: int, what: str) -> int:
    """Return the result of a system call; exit with status 126 if the call failed."""
    if result < 0:
        import ctypes

        _refuse(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


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
        _checked(_libc().mount(*words), folder)
    os.chmod(_PRIVATE, 0o1777)


def install(filter_: bytes, flags: int = 0) -> int:
    """Install a filter for this process and its children; an empty one allows everything.

    With the flag _NEW_LISTENER, return the descriptor of its notifications.
    """
    import ctypes
    import struct

    if not filter_:
        return -1
    steps = ctypes.create_string_buffer(filter_, len(filter_))
    program = struct.pack(_PROGRAM, len(filter_) // 8, ctypes.addressof(steps))
    number = _SECCOMP[os.uname().machine]
    return _checked(_libc().syscall(number, _FILTER, flags, program), "filter")


def give_up_rights() -> None:
    """Drop all capabilities, inheritable ones too; exit with status 126 if any is left."""
    import ctypes

    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _libc().capset(header, (ctypes.c_uint32 * 6)())
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


def stand_by(child: int, listener: int) -> None:
    """Decide on the bot's sockets, and reap its orphans, until the bot ends."""
    import _thread

    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # nobody in the jail can signal process 1
    if listener >= 0:
        _thread.stack_size(_STACK)
        _thread.start_new_thread(answer, (listener,))
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else _SIGNALLED - code)


def answer(listener: int) -> None:
    """Allow each of the bot's calls of socketpair, or refuse it if too many sockets exist."""
    import fcntl
    import struct

    while True:
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
