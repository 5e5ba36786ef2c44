"""Build the command line and the environment that start a bot in its lane."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from arena.entries.entry import Entry
from arena.entries.layout import Layout
from arena.lanes import host, jail_limits
from arena.lanes.evidence import ROOT
from arena.lanes.faults import Forfeit, one_line
from arena.lanes.jail import BEGIN, USER, confining, filters, jail_words
from arena.lanes.jail_root import HOME
from arena.lanes.jail_support import (
    IS_ROOT,
    OWN_PROCESSES,
    User,
    find_pid_namespaces,
    free_user,
    user_namespace,
)
from arena.lanes.limits import Limits
from arena.lanes.temp_and_cache_folders import base_of, hiding, once
from arena.processes import FOLDER_VARIABLE, Child
from arena.threads import THREADS


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

    def popen(self) -> Child:
        """Return the started process, with a pipe for each of its streams.

        Raises OSError if it cannot be started, and Forfeit if the bot's files cannot be copied into
        place.
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
            process = Child(
                self.words,
                stdin=theirs,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=self.folder,
                env=self.environment,
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
    program: str = host.__name__,
    environment: Mapping[str, str] | None = None,
) -> Launch:
    """Return how to start a bot's process in an empty folder of its own.

    `program` is the module run in place of our host; `environment` is added to the usual one. For
    the lane jail, raises InputError if bubblewrap is missing, or for a path that a jail never
    shows.
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
    base = base_of(folder)
    if jailed:
        user = free_user() if IS_ROOT else None
        number = user.number if user else USER
        words = jail_words(words, entry, limits.memory, number, base, files)
        return launch._replace(words=words, contained=True, user=user, first=b"".join(filters()))
    words = confining("confine", [str(limits.memory), *words])
    if namespaces := once(base / "namespaces", find_pid_namespaces, str | None):
        options = [*user_namespace(), *OWN_PROCESSES, *hiding(folder, files)]
        words = [namespaces, *options, "--die-with-parent", "--new-session", "--", *words]
    return launch._replace(words=words, contained=namespaces is not None, first=jail_limits.GO)


def command_of(entry: Entry, program: str = host.__name__) -> list[str]:
    """Return the words of a bot's own command, or those for a program of ours.

    A JVM writes no performance data: another one with its process id holds a lock on the file.
    """
    words = [*entry.command] or [jail_limits.HOST, program]
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


_MOST_WORDS = 2000  # bytes of a program's standard error that are read


class Program(Child):
    """A child process that runs a Python program of the arena; its standard error is kept.

    It executes a `statement` in a session of its own. The folders of `path` come after Python's own
    modules, and before site-packages, where another arena may be installed. `options` are those of
    `subprocess.Popen` for its streams, descriptors, folder and environment.
    """

    def __init__(self, statement: str, path: Sequence[str] = (ROOT,), **options: Any) -> None:
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        words = [sys.executable, "-P", "-c", BEGIN.format(path=[*path], statement=statement)]
        super().__init__(words, stderr=self._complaints, **options)

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
