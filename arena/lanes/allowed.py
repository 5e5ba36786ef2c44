"""Allowed: the system calls that an honest bot needs, whatever their arguments.

Everything else fails with ENOSYS, as on a kernel that does not have it, but for the calls whose
arguments decide (`syscalls.py`). What programs do without is not here: sockets, locks and
watches of files, other processes' memory, memory that no limit counts, and what asks for, fills
or empties the page cache. Source: the lists of Docker and Flatpak, man 2 syscalls.
"""

from __future__ import annotations

from typing import Final

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
"""By what they do: the names of the calls, each with its numbers on x86_64 and aarch64."""


def _read(calls: str) -> dict[str, tuple[int | None, int | None]]:
    """Return the numbers of calls by their names.

    >>> _read("read 0 63, open 2 -")
    {'read': (0, 63), 'open': (2, None)}
    """
    rows = (call.split() for call in calls.split(","))
    return {name: (_number(here), _number(there)) for name, here, there in rows}


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


ALLOWED: Final = {name: row for calls in _CALLS.values() for name, row in _read(calls).items()}
"""The numbers of each call on x86_64 and aarch64, None where it does not exist."""
