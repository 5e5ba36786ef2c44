"""Programs: what a command starts on this machine, and what belongs to that.

A jail shows no other program of the system: what a bot starts besides is named by `needs:`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

TOOLS: Final = (
    *("awk", "basename", "cat", "cut", "date", "dirname", "echo", "env", "expr", "false", "find"),
    *("grep", "head", "ls", "mkdir", "mktemp", "mv", "od", "printf", "rm", "sed", "seq", "sh"),
    *("sleep", "sort", "tail", "tee", "test", "touch", "tr", "true", "uniq", "wc", "xargs"),
)
"""The programs that are in every jail."""

_SHELLS = ("sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "env")
_FOLDERS = ("/usr/lib", "/usr/share", "/usr/lib64", "/usr/local/lib", "/usr/local/share")
OF_SYSTEM: Final = ("/usr", "/opt", "/bin", "/sbin")
"""Where the programs of a system are."""

_OWN = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/bin", "/sbin", "/usr/local/sbin")
_SHORTEST = 3  # letters by which the folders of a program are known
_MOST_LINE = 256


def programs_of(words: list[str]) -> list[Path]:
    """Return the system's programs by which a command runs, also those that scripts name first.

    A shell and the tools are there for all.
    """
    found: dict[Path, None] = {}
    waiting = [words[0], *_after_env(words), *TOOLS]
    while waiting:
        place = shutil.which(waiting.pop(0))
        if place and (path := Path(os.path.abspath(place))) not in found:
            found[path] = None
            waiting += _first_line(path)
    return [path for path in found if any(map(path.is_relative_to, OF_SYSTEM))]


def _after_env(words: list[str]) -> list[str]:
    """Return the program that `env` starts, none for another command."""
    if Path(words[0]).name != "env":
        return []
    names = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return names[:1]


def _first_line(path: Path) -> list[str]:
    """Return the programs that a script names after #!."""
    with suppress(OSError), path.open("rb") as file:
        line = file.readline(_MOST_LINE)
        if line.startswith(b"#!") and (words := os.fsdecode(line[2:]).split()):
            return [words[0], *_after_env(words)]
    return []


def folders_of(program: Path) -> Iterator[Path]:
    """Yield the folders that belong to a program, as its modules do.

    It has a folder to itself, as /opt/jdk/bin/java has, or there are folders that are called
    like it without its version, as /usr/share/nodejs is for node.
    """
    if program.name in TOOLS or program.name in _SHELLS:
        return
    real = program.resolve()
    is_of_system = any(map(real.is_relative_to, OF_SYSTEM))
    if is_of_system and real.parent.name == "bin" and str(real.parent) not in _OWN:
        yield real.parents[1]
    name = re.split(r"[\d.-]", real.name)[0].lower()
    for top in map(Path, _FOLDERS):
        for folder in (top, *top.glob("*-linux-*")):
            with suppress(OSError):
                yield from (Path(item) for item in os.scandir(folder) if _is_of(item, name))


def _is_of(item: os.DirEntry[str], name: str) -> bool:
    """Return whether a folder is called like a program."""
    found = item.name.lower()
    is_like = found.startswith(name) if len(name) >= _SHORTEST else found == name
    return is_like and item.is_dir()


def python_folders() -> list[Path]:
    """Return the folders of the standard library of the Python that runs this."""
    extensions = sysconfig.get_config_var("DESTSHARED")
    folders = [Path(os.__file__).parent, *([Path(extensions)] if extensions else [])]
    return [folder for folder in folders if folder.is_dir()]


def site_folders() -> list[Path]:
    """Return the folders of this Python's installed libraries, its own and its environment's."""
    tops = {Path(sys.prefix), Path(sys.base_prefix)}
    names = ("site-packages", "dist-packages")
    found = [Path(path) for path in sys.path if Path(path).name in names]
    return [path for path in found if path.is_dir() and tops & {*path.parents}]
