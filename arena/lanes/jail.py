"""Build the command that runs a bot under bubblewrap, without network and other files.

The model is Flatpak's use of bubblewrap. The jail contains only the files that the bot needs, all
read-only except its private folder. The bot runs as a user without rights, behind a filter of
system calls.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from arena.entries.bot_files import MOST_SOURCE, find_installed
from arena.entries.entry import Entry
from arena.entries.needs import locate, why_hidden
from arena.errors import InputError, blaming_machine
from arena.lanes import jail_limits
from arena.lanes.evidence import ROOT
from arena.lanes.jail_root import HOME, lay_out, outermost, placed, warm
from arena.lanes.jail_support import (
    IS_ROOT,
    NAMESPACES,
    RIGHTS,
    counts_processes,
    devices,
    find_bubblewrap,
)
from arena.lanes.libraries import (
    find_libraries,
    find_opened,
    find_packages,
    folders_of,
    names_behind,
    names_in,
    package_folders,
    programs_of,
    python_folders,
)
from arena.lanes.syscalls import make_filter, make_watch
from arena.lanes.temp_and_cache_folders import once
from arena.threads import machine_cores

USER = 1000
"""The user id inside a jail with a user namespace; outside it is the caller's own."""

BEGIN: Final = """
import os, sys
own = os.path.dirname(os.__file__)
last = max(n for n, place in enumerate(sys.path) if place in (own, own + "/lib-dynload"))
sys.path[last + 1 : last + 1] = {path!r}
{statement}
"""
"""The program that runs a statement, with folders after Python's own and before site-packages."""

_PACKAGES = Path(__file__).resolve().parents[2]
_SHELL = "/bin/sh"
_MOST_PROCESSES = {True: 33, False: 64}  # for our host (with 32 children); other commands
_HELPER = Path(sys.executable).resolve()  # the interpreter that confines a command
_CONFINES = (jail_limits.__file__, cache_from_source(jail_limits.__file__))  # of process 1
_names: dict[tuple[str, ...], set[str]] = {}  # words of bots, by what they are made of


class Plan(msgspec.Struct, array_like=True):
    """The words of bubblewrap that make the jail of a bot, and its further folders in memory."""

    words: list[str]
    covers: list[str]


def jail_words(
    words: list[str], entry: Entry, megabytes: int, user: int, base: Path, files: Path | None
) -> list[str]:
    """Return the words that run a command inside bubblewrap, as the user with this id.

    `files` is the folder of the bot's own files, and `base` the folder of the run, where the jail
    is planned and laid out once.

    Raises InputError if bubblewrap is missing, and for a path that the bot may not see, or that
    this user cannot read.
    """
    said = [word.replace(str(files), "") for word in words]
    of = (entry.sha256, entry.module, entry.path, entry.needs, bool(entry.params), said)
    name = f"jail-{_digest(of)}"
    plan = once(base / name, lambda: _plan(entry, words, base, files), Plan)
    own = _bind(files, files, plan.covers) if files and files.is_dir() else ()
    closed = (word for place in ("/dev", *plan.covers) for word in ("--remount-ro", place))
    inner = confining("jail", confined(words, entry, megabytes, user, plan.covers))
    return [*plan.words, *own, *closed, "--chdir", HOME, "--", *inner]


def _plan(entry: Entry, words: list[str], base: Path, files: Path | None) -> Plan:
    """Find out what a bot sees, read it into the page cache, and lay out the root of its jail."""
    options = [find_bubblewrap(), *NAMESPACES, "--die-with-parent", "--new-session", "--as-pid-1"]
    if not IS_ROOT:
        options += ["--unshare-user", "--uid", str(USER), "--gid", str(USER)]
    own, hidden = shown(entry, words, files)
    started = [*programs(entry, words), *_pythons()]
    paths = [*own, *libraries(entry, words, own)]
    paths = [path for path in paths if not files or files not in (path, *path.parents)]
    covers = [*map(placed, hidden), *([] if base.is_relative_to(HOME) else [base])]
    root = base / f"root-{_digest((sorted(paths), started, covers))}"
    with blaming_machine("the root of a jail cannot be laid out"):
        bound = lay_out(root, paths, started, covers)
    warm([*bound.values()], [*map(str, hidden)])
    options += [*RIGHTS, "--ro-bind", str(root), "/", "--proc", "/proc", *devices(HOME)]
    options += ["--tmpfs", HOME]
    for place in sorted({*bound, *covers}):  # a folder before what is in it
        source = bound.get(place)
        options += _bind(source, place, covers) if source else ["--tmpfs", str(place)]
    return Plan(options, [*map(str, covers)])


def _bind(source: Path, place: Path, covers: Iterable[Path | str]) -> list[str]:
    """Return the options that show a path, in memory below folders that every user may enter."""
    tops = {Path(HOME), *map(Path, covers)}
    folders = [folder for folder in reversed(place.parents) if tops & {*folder.parents}]
    options = [word for folder in folders for word in ("--dir", str(folder))]
    if source == place and place.is_symlink() and tops & {*place.parents}:
        return [*options, "--symlink", os.readlink(place), str(place)]
    return [*options, "--ro-bind", str(source), str(place)]


def _digest(of: object) -> str:
    return hashlib.sha256(repr(of).encode()).hexdigest()[:16]


def confined(
    words: list[str], entry: Entry, megabytes: int, user: int, covers: list[str]
) -> list[str]:
    """Return the words for process 1 of the jail, which limits the bot and changes the user.

    `covers` are folders of the jail in memory, besides those that every jail has.
    """
    most = most_processes(hosted=not entry.command)
    most += 0 if IS_ROOT else 2  # the threads of process 1 count, too
    sizes = map(len, filters())
    numbers = (megabytes, most if counts_processes() else 0, user, *sizes, len(covers))
    return [*map(str, numbers), *covers, *words]


def confining(how: str, words: list[str]) -> list[str]:
    """Return the words of a Python that runs a function of `jail_limits` with these words."""
    is_ours = jail_limits.HOST in words
    python = [sys.executable, "-P", "-s"] if is_ours else [str(_HELPER), "-I", "-S"]
    run = f"from arena.lanes.jail_limits import {how}; {how}(sys.argv[1:])"
    return [*python, "-c", BEGIN.format(path=[ROOT], statement=run), *words]


def filters() -> tuple[bytes, bytes]:
    """Return the two filters of system calls that process 1 reads from its input."""
    return make_watch(), make_filter()


def most_processes(*, hosted: bool) -> int:
    """Return how many processes and threads a bot may have at one time."""
    cores = 0 if hosted else machine_cores()  # runtimes start threads for each core
    return _MOST_PROCESSES[hosted] + cores


class Shown(NamedTuple):
    """The paths that a bot can read, and folders in them of which it sees only what is shown."""

    paths: list[Path]
    covers: list[Path]


def shown(entry: Entry, words: list[str], files: Path | None = None) -> Shown:
    """Return the paths that a bot can read besides the programs and libraries of the system.

    Raises InputError for a path that a jail never shows, and as root for one that only root can
    read.
    """
    declared = _both([*_own(entry, words), *packages(entry, words), *([files] if files else [])])
    paths = [*_both(_machinery(entry)), *declared]
    for path in paths:
        if not _is_shareable(path):
            how = f"chmod -R o+rX {path}, or start the arena as an ordinary user"
            raise InputError(f"bot {entry.label!r}: lane jail: only root can read {path}; {how}")
    covers = [
        folder
        for folder in _both(package_folders())
        if {*folder.parents} & {*paths} and not {folder, *folder.parents} & declared.keys()
    ]
    return Shown(outermost(paths, covers), covers)


def _both(paths: Iterable[Path]) -> dict[Path, None]:
    """Return paths that exist, and what links among them lead to, in this order."""
    places = (place for path in paths for place in (path, path.resolve()))
    return dict.fromkeys(place for place in places if place.exists())


def _is_shareable(path: Path) -> bool:
    """Return whether the jailed bot's user can read a file or folder."""
    if not IS_ROOT:  # outside the jail, the bot has this user's id
        return True
    mode = path.stat().st_mode
    return bool(mode & 0o004) and (not path.is_dir() or bool(mode & 0o001))


def programs(entry: Entry, words: list[str]) -> list[Path]:
    """Return the system's programs that a bot can start: its own, and a shell with its tools."""
    return programs_of(words) if entry.command else _shell()


@cache
def _shell() -> list[Path]:
    return programs_of([_SHELL])


def libraries(entry: Entry, words: list[str], own: list[Path]) -> list[Path]:
    """Return the system's libraries that a bot, its programs and Python need."""
    ours = {place for path in _machinery(entry) for place in (path, path.resolve())}
    roots = [*programs(entry, words), *(path for path in own if path not in ours)]
    return sorted(find_libraries(roots) | _libraries_of_python())


@cache
def _libraries_of_python() -> set[Path]:
    """Return the libraries that this Python and the extensions of its standard library need."""
    return find_libraries([_HELPER, python_folders()[-1]]) | find_opened()


def _runs_python(entry: Entry) -> bool:
    """Return whether a bot is run by the Python that runs the arena."""
    return not entry.command or _HELPER in (Path(word).resolve() for word in entry.command)


def _prefixes() -> list[Path]:
    """Return the folders in which this Python and its environment are, if they are not /usr."""
    prefixes = {Path(sys.base_prefix), Path(sys.prefix)}
    return [prefix for prefix in prefixes if not Path("/usr/local").is_relative_to(prefix)]


def _pythons() -> list[Path]:
    """Return the programs by which this Python can be started."""
    names = ("python", "python3", f"python3.{sys.version_info[1]}")
    found = [top / "bin" / name for top in _prefixes() for name in names]
    return [Path(sys.executable), *filter(Path.exists, found)]


def _machinery(entry: Entry) -> Iterator[Path]:
    """Yield the paths that the arena's host program needs: Python, engine, arena.

    In an environment of conda, packages open libraries beside the standard library at run time.
    """
    yield _HELPER
    yield from (*map(Path, _CONFINES), *python_folders())
    if _runs_python(entry):
        for prefix in _prefixes():
            yield prefix / "pyvenv.cfg"
            if (prefix / "conda-meta").is_dir():
                yield prefix / "lib"
    if not entry.command:
        yield from (_PACKAGES / name for name in ("engine", "arena", "bots"))


def packages(entry: Entry, words: list[str]) -> set[Path]:
    """Return the paths in site-packages that a bot imports, by its files, its words and `needs`.

    The arena's host checks parameters with msgspec.
    """
    if not _runs_python(entry):
        return set()
    checks = ("msgspec",) if entry.params and not entry.command else ()
    key = (entry.sha256, *words, *entry.needs, *checks)
    if key not in _names:
        said = [word for word in (*entry.command, *entry.needs) if not os.path.isabs(word)]
        files = {"words": " ".join(said).encode()} | entry.files()
        for path in _modules_of(entry) if entry.source is None else ():
            files |= {str(one): one.read_bytes() for one in _sources(path)}
        host = b"" if entry.command or not words else _source_of(words[-1])
        _names[key] = names_in(files) | names_behind(host) | {*checks}
    return find_packages(_names[key])


def _source_of(module: str) -> bytes:
    return (_PACKAGES / module.replace(".", "/")).with_suffix(".py").read_bytes()


def _sources(path: Path) -> Iterable[Path]:
    """Return a module's file, or the sources in a package's folder."""
    inner = find_installed(path).values() if path.is_dir() else [path] if path.exists() else []
    return [one for one in inner if one.suffix == ".py" and one.stat().st_size <= MOST_SOURCE]


def _modules_of(entry: Entry) -> Iterator[Path]:
    """Yield the places where the module of a bot that is imported by its name can be."""
    package = entry.module.partition(".")[0]
    for folder in entry.path:
        yield from (Path(folder, name) for name in (package, f"{package}.py"))


def _own(entry: Entry, words: list[str]) -> Iterator[Path]:
    """Yield the bot's own files, and those that it declares under `needs`."""
    declared = [*map(locate, entry.needs), *_modules_of(entry)]
    if entry.command:
        started = programs_of(words)
        declared += [folder for program in started for folder in folders_of(program)]
        named = [Path(word) for word in words if Path(word).is_absolute() and Path(word).exists()]
        named = [path for path in named if path not in started]
        declared += [path for path in named if path.is_dir()]
        yield from (_place_of(path) for path in named if path.is_file())
    for path in declared:
        if path.exists() and (reason := why_hidden(path)):
            raise InputError(f"bot {entry.label!r}: lane jail: {path} is not shown: {reason}")
        yield path


def _place_of(file: Path) -> Path:
    """Return a file's folder if that is a folder of one bot, else the file."""
    folder = file.parent
    is_own = folder.name != "bin" and _is_shareable(folder) and not why_hidden(folder)
    return folder if is_own else file


def describe_shown(entry: Entry) -> list[str]:
    """Describe what a bot can read in a jail: programs and libraries of the system, own files.

    Raises InputError for a path that a jail never shows.
    """
    words = [*entry.command]
    own, covers = shown(entry, words)
    count = len(libraries(entry, words, own))
    found = [*map(str, programs(entry, words)), f"{count} libraries of the system", *map(str, own)]
    return [*found, *(f"of {cover} only what stands here" for cover in covers)]
