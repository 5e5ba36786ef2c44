"""Take away what Windows or macOS lack, as far as a process on Linux can do without it.

The standard library and the libraries are imported first: they keep what they use here. So what
is seen is whether modules of ours ask for what is not there.
"""

from __future__ import annotations

import importlib
import os
import signal
import socket
import sys
from contextlib import suppress

LIBRARIES = (
    *("asyncio", "concurrent.futures", "ctypes", "getpass", "http.server", "logging.handlers"),
    *("multiprocessing.connection", "selectors", "sqlite3", "tempfile", "webbrowser", "zipfile"),
    *("click", "jinja2", "msgspec", "multiprocessing_logging", "psutil", "threadpoolctl"),
    *("tqdm", "yaml"),
    *("distributed", "gymnasium", "networkx", "numpy.random", "pandas"),
    *("pettingzoo.utils", "scipy.optimize", "scipy.stats"),
    *("starlette.applications", "uvicorn"),
)
"""What is imported before anything is hidden."""

_LINUX = {os: "memfd_create pidfd_open sched_getaffinity sched_setaffinity unshare"}
_POSIX = {
    os: "chown fchown fork forkpty getegid geteuid getgid getgroups getloadavg getpgid getpgrp "
    "getresuid getsid getuid initgroups killpg lchown mkfifo mknod nice openpty posix_spawn "
    "register_at_fork setgid setpgid setsid setuid statvfs sysconf ttyname uname wait wait4 "
    "waitid WNOHANG O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK",
    signal: "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 "
    "SIGUSR2 SIGWINCH SIG_BLOCK SIG_SETMASK SIG_UNBLOCK alarm pause pthread_kill pthread_sigmask "
    "setitimer sigpending sigtimedwait sigwait sigwaitinfo",
    socket: "AF_UNIX",
}
_MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")


def hide(system: str) -> None:
    """Make this process look like one on `win32` or `darwin`."""
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    for module, text in [*_LINUX.items(), *(_POSIX.items() if system == "win32" else ())]:
        for name in text.split():
            if hasattr(module, name):
                delattr(module, name)
    if system == "win32":
        os.supports_dir_fd.clear()
        # it asks the system for its libraries at each search, on Windows by ctypes.WinDLL
        controller = sys.modules["threadpoolctl"].ThreadpoolController
        controller._find_libraries_on_windows = lambda _: None
        for name in _MODULES:
            sys.modules[name] = None  # type: ignore[assignment]  # its import fails
    sys.platform = system
