"""Build the command line and the environment that start a bot in its lane.

Files visible in jails are read into the page cache before the first game, once after each start of
the machine. This closes a covert channel: the first read of a page takes longer than the second, so
one jail could signal one bit to another by reading a page or not, also between the two games of a
pair.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from arena.entries.entry import Entry
from arena.entries.file import own_cache, read_file, replacing
from arena.entries.layout import Layout
from arena.errors import InputError
from arena.lanes import confine, host
from arena.lanes.bubblewrap import (
    IS_ROOT,
    OWN_PROCESSES,
    User,
    find_bubblewrap,
    find_pid_namespaces,
    free_user,
    user_namespace,
)
from arena.lanes.cleanup import FOLDER_VARIABLE, find_family, start_child, wait_for
from arena.lanes.evidence import ROOT
from arena.lanes.faults import Forfeit, one_line
from arena.lanes.jail import HOME, USER, filters, jail_words, readable
from arena.lanes.limits import Limits
from arena.lanes.scratch import hiding

THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that limit numpy's libraries to one thread: the arena plays a game on each core."""


class Launch(NamedTuple):
    """How to start a process: the words of its command, its environment, and its folder.

    `jailed` is whether it runs in a jail, `contained` whether its processes have a pid
    namespace of their own. `hosted` is whether it runs our own host, which distinguishes more
    kinds of faults and separates the output of its games. `user` is the user id that it changes
    to, None to keep the caller's. `first` are bytes that the arena's own program reads from the
    input before it becomes the bot's. `layout` is the copy of the bot's files.
    """

    words: list[str]
    environment: dict[str, str]
    folder: Path
    jailed: bool
    hosted: bool
    contained: bool = False
    user: User | None = None
    first: bytes = b""
    layout: Layout | None = None

    def popen(self, before: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Return the started process, with a pipe for each of its streams.

        `before` are words put before the command. Raises OSError if it cannot be started, and
        Forfeit if the bot's files cannot be copied into place.
        """
        try:
            if self.layout:
                self.layout.renew()
        except ImportError as error:
            raise Forfeit("import", f"ImportError: {error}") from None
        theirs, ours = os.pipe()
        process_input = open(ours, "wb", buffering=0)  # noqa: SIM115
        try:
            process_input.write(self.first)  # there before the process, which may end at once
            process = start_child(
                [*before, *self.words],
                stdin=theirs,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=self.folder,
                env=self.environment,
                start_new_session=True,
            )
        except BaseException:
            process_input.close()
            raise
        finally:
            os.close(theirs)
        process.stdin = process_input
        if self.user:  # so that it can reopen them as /dev/stdout and the like
            for pipe in (process.stdin, process.stdout, process.stderr):
                assert pipe is not None
                os.fchown(pipe.fileno(), self.user.number, self.user.number)
        return process

    def close(self) -> None:
        """Release the user number that was reserved for this process."""
        if self.user:
            self.user.close()


def plan_launch(
    entry: Entry,
    limits: Limits,
    folder: Path,
    program: str = host.__file__,
    environment: Mapping[str, str] | None = None,
) -> Launch:
    """Return how to start a bot's process in an empty folder of its own.

    `program` is run in place of our host; `environment` is added to the usual one. For the lane
    jail, raises InputError if bubblewrap is missing, or for a path that a jail never shows.
    """
    layout = entry.layout(folder.parent)
    if layout:
        with suppress(ImportError):  # the start of the bot reports it
            layout.renew()  # a jail shows the files as they are now
        entry = entry.at(layout.folder)
    words = command_of(entry, program)
    jailed = entry.lane == "jail"
    variables = _environment(HOME if jailed else str(folder))
    variables |= {FOLDER_VARIABLE: str(folder)} | dict(environment or {})
    launch = Launch(words, variables, folder, jailed, not entry.command, layout=layout)
    files = layout.folder if layout else None
    if jailed:
        program, user = find_bubblewrap(), free_user() if IS_ROOT else None
        number = user.number if user else USER
        words = jail_words(program, words, entry, limits.memory, number, files)
        return launch._replace(words=words, contained=True, user=user, first=b"".join(filters()))
    words = [sys.executable, "-I", "-S", confine.__file__, str(limits.memory), *words]
    if namespaces := find_pid_namespaces():
        options = [*user_namespace(), *OWN_PROCESSES, *hiding(folder, files)]
        words = [namespaces, *options, "--die-with-parent", "--new-session", "--", *words]
    return launch._replace(words=words, contained=namespaces is not None, first=confine.GO)


def command_of(entry: Entry, program: str = host.__file__) -> list[str]:
    """Return the words of a bot's own command, or of Python running our program.

    A JVM writes no performance data: another one with its process id holds a lock on the file.
    """
    words = [*entry.command] or [sys.executable, "-P", "-s", program]
    if os.path.basename(words[0]) == "java":
        words.insert(1, "-XX:-UsePerfData")
    return words


def _environment(home: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        **dict.fromkeys(THREADS, "1"),
    }


MOST: Final = 4 << 30
"""Bytes read of one file or folder: a path under `needs:` may be larger."""

_AHEAD = 64  # files requested from the kernel before the first of them is awaited


_MOST_MARKED = 1 << 20  # bytes
_kept = ""  # the marker, also where it cannot be written


def warm_jails(entries: Iterable[Entry]) -> None:
    """Read all files that the bots of the lane jail can see, unless a marker says they were read.

    The marker is a file in the user's cache folder. It names the start of the machine and, by
    place, number and time of change, each path that was read since then. It holds until the kernel
    may have dropped one of these pages. So a path is read once by all programs. A marker that is
    lost costs a reading, and a wrong one leaves some pages unread. 7,700 files of Python's standard
    library take 0.15 s, the marker 3 ms.
    """
    jailed = [entry for entry in entries if entry.lane == "jail"]
    if not jailed:
        return
    marker = _read_marker()
    marked = {*marker}
    for entry in jailed:
        with suppress(InputError):  # the bot does not start, and its game reports it
            paths, covers = readable(entry.at(""), command_of(entry.at("")))
            for path, key in zip(paths, map(_key, paths), strict=True):
                if key not in marked:
                    warm(path, frozenset(map(str, covers)))
                    marked.add(key)
                    marker.append(key)
    _write_marker(marker)


def _key(path: Path) -> str:
    """Return what names a path, and the files below it as they are now, in one line."""
    status = path.stat()
    return f"{status.st_dev} {status.st_ino} {status.st_mtime_ns} {str(path)!a}"


def _read_marker() -> list[str]:
    """Return the lines of the marker that holds, or the first two of a new one.

    The first one names the start of the machine. The second one is the number of pages that the
    kernel may drop until the marker ends: half of those that were read less recently than all
    others, because it begins with these.
    """
    start, dropped, most = _examine_pages()
    texts = [_kept]
    with suppress(OSError, InputError, RuntimeError):
        texts += [
            read_file(own_cache() / "warmed", _MOST_MARKED, links=False).decode(errors="replace")
        ]
    for text in reversed(texts):
        lines = text.split("\n")
        with suppress(IndexError, ValueError):
            if lines[0] == start and dropped < int(lines[1]):
                return lines
    return [start, str(most)]


def _write_marker(lines: list[str]) -> None:
    global _kept
    text = "\n".join(lines)
    if text != _kept and lines[0]:
        with suppress(OSError, InputError, RuntimeError), replacing(own_cache() / "warmed") as part:
            part.write_text(text)
    _kept = text


def _examine_pages() -> tuple[str, int, int]:
    """Return the start of the machine, the pages of files dropped since, and how many may be.

    The name of the start changes, too, when somebody empties the page cache. Where the kernel does
    not count, it is empty.
    """
    with suppress(OSError, KeyError, ValueError):
        counts = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
        dropped, oldest = int(counts["pgsteal_file"]), int(counts["nr_inactive_file"])
        start = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{start} {counts['drop_pagecache']}", dropped, dropped + oldest // 2
    return "", 0, 1


def warm(path: Path, covers: Collection[str] = ()) -> None:
    """Read a file, or all files in a folder but for `covers`, and wait until they are read.

    For 1,800 MB in 83,000 files that are cached already, it takes 1.5 s; without waiting 1.1 s.
    """
    asked: deque[int] = deque()
    with open(os.devnull, "wb") as nowhere:
        for descriptor in _opened(path, covers):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_WILLNEED)
            asked.append(descriptor)
            if len(asked) > _AHEAD:
                _wait_for(asked.popleft(), nowhere.fileno())
        for descriptor in asked:
            _wait_for(descriptor, nowhere.fileno())


def _opened(path: Path, covers: Collection[str]) -> Iterator[int]:
    """Yield descriptors of the files in a path, up to MOST bytes in all."""
    left = MOST
    for file in _files_of(str(path), covers):
        with suppress(OSError):
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            left -= os.fstat(descriptor).st_size
            if left < 0:
                os.close(descriptor)
                return
            yield descriptor


def _wait_for(descriptor: int, nowhere: int) -> None:
    """Wait until a file has been read, without copying its data, and close it."""
    place = 0
    with suppress(OSError):
        while read := os.sendfile(nowhere, descriptor, place, MOST):
            place += read
    os.close(descriptor)


def _files_of(path: str, covers: Collection[str]) -> Iterator[str]:
    """Yield the regular files below a path, ordered by name; links are not followed."""
    if not os.path.isdir(path):
        yield path
        return
    with suppress(OSError), os.scandir(path) as items:
        for item in sorted(items, key=lambda item: item.name):
            if item.is_dir(follow_symlinks=False):
                if item.path not in covers:
                    yield from _files_of(item.path, covers)
            elif item.is_file(follow_symlinks=False):
                yield item.path


_MOST_WORDS = 2000  # bytes of a program's standard error that are read

_BEGIN = """
import os, sys
own = os.path.dirname(os.__file__)
last = max(n for n, place in enumerate(sys.path) if place in (own, own + "/lib-dynload"))
sys.path[last + 1 : last + 1] = {path!r}
{statement}
"""


class Program:
    """A child process that runs a Python program of the arena; its standard error is kept.

    It executes a `statement` in a session of its own. The folders of `path` come after Python's own
    modules, and before site-packages, where another arena may be installed. `pipes` are options of
    `subprocess.Popen` for its streams, descriptors, folder and environment.
    """

    def __init__(self, statement: str, path: Sequence[str] = (ROOT,), **pipes: Any) -> None:
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = start_child(
            [sys.executable, "-P", "-c", _BEGIN.format(path=[*path], statement=statement)],
            stderr=self._complaints,
            start_new_session=True,
            **pipes,
        )

    def kill(self) -> None:
        """Kill it and all processes below it, and wait for their ends."""
        family = find_family(self.process.pid) if self.process.poll() is None else []
        self.process.kill()
        self.process.wait()
        wait_for(family)

    def last_words(self) -> str:
        """Return the line in which the ended program explained its end, empty without one.

        The text is read once and kept: a caller interrupted meanwhile may call this again.
        """
        if self._complaints.closed:
            return ""
        self._complaints.seek(0)
        lines = self._complaints.read()[-_MOST_WORDS:].decode(errors="replace").split("\n")
        said = [one_line(line) for line in lines if line.strip()]
        self._complaints.close()
        return said[-1] if said else ""
