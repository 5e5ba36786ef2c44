"""Find the programs and packages that a bot uses, and the shared libraries that they need.

A jail shows no other program of the system and no other package: more is declared by `needs:`.
Libraries are found by reading ELF headers; the only program run for that is
`ldconfig -p`. Source: man 5 elf, man 8 ld.so.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from arena.entries.bot_files import after_env, script_words
from arena.entries.needs import SITES
from arena.processes import run_program

TOOLS: Final = (
    *("awk", "basename", "cat", "cut", "date", "dirname", "echo", "env", "expr", "false", "find"),
    *("grep", "head", "ls", "mkdir", "mktemp", "mv", "od", "printf", "rm", "sed", "seq", "sh"),
    *("sleep", "sort", "tail", "tee", "test", "touch", "tr", "true", "uniq", "wc", "xargs"),
)
"""The programs in every jail."""

_SHELLS = ("sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "env")
_FOLDERS = ("/usr/lib", "/usr/share", "/usr/lib64", "/usr/local/lib", "/usr/local/share")
OF_SYSTEM: Final = ("/usr", "/opt", "/bin", "/sbin")
"""The folders of the system's programs."""

_OWN = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/bin", "/sbin", "/usr/local/sbin")
_SHORTEST = 3  # letters of a name by which a program's folders are recognised
_MOST_LINE = 256


def programs_of(words: list[str]) -> list[Path]:
    """Return the system's programs that a command runs, with the interpreters of scripts (#!).

    A shell and its usual tools are always included.
    """
    found: dict[Path, None] = {}
    waiting = [words[0], *after_env(words), *TOOLS]
    while waiting:
        place = shutil.which(waiting.pop(0))
        if place and (path := Path(os.path.abspath(place))) not in found:
            found[path] = None
            waiting += _first_line(path)
    return [path for path in found if any(map(path.is_relative_to, OF_SYSTEM))]


def _first_line(path: Path) -> list[str]:
    """Return the programs that a script names after #!."""
    with suppress(OSError), path.open("rb") as file:
        words = script_words(file.readline(_MOST_LINE))
        return [*words[:1], *after_env(words)]
    return []


def folders_of(program: Path) -> Iterator[Path]:
    """Yield the folders with a program's own files, such as its modules.

    That is the folder it was installed in, as /opt/jdk for /opt/jdk/bin/java, with the folder in
    /etc to which its settings lead, or folders that have its name without the version, as
    /usr/share/nodejs for node.
    """
    if program.name in TOOLS or program.name in _SHELLS:
        return
    real = program.resolve()
    is_of_system = any(map(real.is_relative_to, OF_SYSTEM))
    if is_of_system and real.parent.name == "bin" and str(real.parent) not in _OWN:
        yield real.parents[1]
        links = (path.resolve() for path in real.parents[1].glob("conf/**/*"))
        yield from {Path(*path.parts[:3]) for path in links if path.is_relative_to("/etc")}
    name = re.split(r"[\d.-]", real.name)[0].lower()
    for top in map(Path, _FOLDERS):
        for folder in (top, *top.glob("*-linux-*")):
            with suppress(OSError):
                yield from (Path(item) for item in os.scandir(folder) if _is_of(item, name))


def _is_of(item: os.DirEntry[str], name: str) -> bool:
    """Return whether a folder has the name of a program."""
    found = item.name.lower()
    is_like = found.startswith(name) if len(name) >= _SHORTEST else found == name
    return is_like and item.is_dir()


def python_folders() -> list[Path]:
    """Return the folders of the standard library of this Python."""
    extensions = sysconfig.get_config_var("DESTSHARED")
    folders = [Path(os.__file__).parent, *([Path(extensions)] if extensions else [])]
    return [folder for folder in folders if folder.is_dir()]


def site_folders() -> list[Path]:
    """Return the site-packages folders of this Python and of its virtual environment."""
    tops = {Path(sys.prefix), Path(sys.base_prefix)}
    found = [Path(path) for path in sys.path if Path(path).name in SITES]
    return [path for path in found if path.is_dir() and tops & {*path.parents}]


def package_folders() -> set[Path]:
    """Return the site-packages folders, also those beside the standard library."""
    beside = {folder / name for folder in python_folders() for name in SITES}
    return {*site_folders(), *filter(Path.is_dir, beside)}


_WORD = re.compile(rb"[A-Za-z_]\w*")
_NUMERICAL = re.compile(rb"\b(?:from|import)\s+(?:bots\b|arena\s|arena\.(?:batch|rl)\b)")
_MOST_DATA = 1 << 16  # bytes searched of a file that is no source: a pickle first names its modules


def names_in(files: Mapping[str, bytes]) -> set[str]:
    """Return the words of files, among which are the packages that they import.

    No source is parsed, and a word in a string counts, too: the import may be made at run time.
    """
    words = set[bytes]()
    for name, content in files.items():
        words |= {*_WORD.findall(content if name.endswith(".py") else content[:_MOST_DATA])}
    return {word.decode() for word in words} | set().union(*map(names_behind, files.values()))


def names_behind(source: bytes) -> set[str]:
    """Return the packages that the arena's modules need which a source imports.

    >>> names_behind(b"from arena.batch.lockstep import Lockstep"), names_behind(b"import engine")
    ({'numpy'}, set())
    """
    return {"numpy"} if _NUMERICAL.search(source) else set()


_OURS = "district-noir-arena"  # its modules are shown without it
_REQUIRED = re.compile(r"^Requires-Dist: *([\w.-]+)(?:.*\bextra *== *['\"](\w*))?", re.MULTILINE)
_FOR_AUTHORS = ("all", "bench", "dev", "doc", "lint", "test", "typ")  # how names of extras begin


def find_packages(names: set[str]) -> set[Path]:
    """Return what is in site-packages of the packages with these names, and of all they require.

    What an extra of such a package requires is among it, if it is installed: it may change what the
    package computes. An extra that serves only the package's authors is left out. A package that no
    metadata describes may require anything: it is shown with its whole folder.
    Source: packaging.python.org, Core metadata.
    """
    wanted = {path for path in _modules() if path.name.partition(".")[0] in names}
    installed = _distributions() if wanted else {}
    found = {path.parent for path in wanted.difference(*installed.values())}
    waiting = [place for place, parts in installed.items() if wanted & parts]
    first = len(waiting)
    by_name = {_name_of(place): place for place in reversed(installed)}
    for number, place in enumerate(waiting):  # which grows
        if _name_of(place) != _OURS:
            found |= installed[place]
            more = _required_by(place, extras=number < first)
            waiting += {by_name[name] for name in more & by_name.keys()}.difference(waiting)
    return found


@cache
def _modules() -> set[Path]:
    """Return the files and folders in site-packages that may be imported."""
    paths = (path for folder in site_folders() for path in folder.iterdir())
    return {
        path
        for path in paths
        if path.name != "__pycache__"
        and (path.suffix in (".py", ".so") or path.name.isidentifier())
    }


@cache
def _distributions() -> dict[Path, set[Path]]:
    """Return what each distribution has in site-packages, by the place of its metadata.

    Without a list of its files, that may be all. 140 distributions of 42,000 files take 20 ms.
    """
    found = {}
    for folder in site_folders():
        for place in folder.glob("*-info"):
            found[place] = {folder}
            with suppress(OSError), (place / "RECORD").open("rb") as lines:
                tops = {line.partition(b"/")[0].partition(b",")[0] for line in lines}
                parts = {folder / os.fsdecode(top) for top in tops - {b"", b"..", b"__pycache__"}}
                found[place] = {part for part in parts if part.exists()}
    return found


def _required_by(place: Path, *, extras: bool) -> set[str]:
    """Return the names of the distributions that another one requires, also for its extras."""
    with suppress(OSError):
        head = (place / "METADATA").read_text("utf-8", "replace").partition("\n\n")[0]
        return {
            _plain(name)
            for name, extra in _REQUIRED.findall(head)
            if not extra or (extras and not extra.startswith(_FOR_AUTHORS))
        }
    return set()


def _name_of(place: Path) -> str:
    """Return the name of a distribution whose metadata is in this folder."""
    return _plain(place.name.partition("-")[0])


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


OPENED: Final = ("libgcc_s.so.1", "libstdc++.so.6", "libm.so.6", "libz.so.1", "libatomic.so.1")
"""Libraries that programs open at run time, or that wheels assume to exist (manylinux)."""

_OLD = ("libdl.so.2", "librt.so.1", "libpthread.so.0", "libutil.so.1", "libresolv.so.2")
_LIBRARY_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_TOPS = ("/lib", "/lib32", "/lib64", "/libx32", "/usr", "/opt", f"{sys.base_prefix}/lib")
_LDCONFIG = ("/sbin/ldconfig", "/usr/sbin/ldconfig")
_MOST_FILES = 5000  # examined in a folder
_ELF_64 = b"\x7fELF\x02\x01"  # little-endian, 64 bits
_SEGMENT, _MOST_SEGMENTS = 56, 128  # bytes of an entry of the table, and entries
_MOST = 1 << 16  # bytes read of a table: the file may be a stranger's
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3  # kinds of segments
_NEEDED, _STRINGS, _RPATH, _RUNPATH = 1, 5, 15, 29  # kinds of dynamic entries


class _Header(NamedTuple):
    """An ELF header's content: processor, loader, needed libraries, and folders to search."""

    machine: int
    loader: str = ""
    needed: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def find_libraries(paths: Iterable[Path]) -> set[Path]:
    """Return the libraries that programs, and the libraries in folders, need, also indirectly.

    A library that is not found is left out: the program may not need it.
    """
    found: set[Path] = set()
    waiting = [file for path in paths for file in _files_of(path)]
    seen = {*waiting}
    while waiting:
        new = _needed_by(waiting.pop()) - seen
        seen |= new
        found |= new
        waiting += new
    return found


def find_opened() -> set[Path]:
    """Return the libraries that programs open at run time without declaring them."""
    header = _read_header(Path("/proc/self/exe"))
    places = (_find(name, header.machine, ()) for name in (*OPENED, *_OLD) if header)
    found = {place for place in places if place}
    return found | find_libraries(found)


def _files_of(path: Path) -> Iterator[Path]:
    """Yield a file, or the libraries in a folder."""
    if not path.is_dir():
        yield path
        return
    count = 0
    for folder, _, names in os.walk(path):
        for name in names:
            count += 1
            if ".so" in name or name.endswith(".node"):
                yield Path(folder, name)
        if count > _MOST_FILES:
            return


@cache
def _needed_by(path: Path) -> set[Path]:
    """Return the loader of a file and the libraries that it names.

    The file may be a stranger's: a path that it names counts only if it is a system library.
    """
    header = _read_header(path)
    if header is None:
        return set()
    origin = str(path.resolve().parent)
    folders = tuple(
        os.path.normpath(folder.replace("$ORIGIN", origin).replace("${ORIGIN}", origin))
        for folder in header.folders
    )
    places = [_find(name, header.machine, folders) for name in header.needed]
    places += [Path(header.loader)] if header.loader else []
    return {place for place in places if place and _is_of_system(place)}


def _is_of_system(place: Path) -> bool:
    """Return whether a path is a library in one of the system's library folders."""
    is_there = any(map(place.is_relative_to, _TOPS)) and ".." not in place.parts
    return is_there and _read_header(place) is not None


@cache
def _find(name: str, machine: int, folders: tuple[str, ...]) -> Path | None:
    """Return the path of the library with this name that is built for this processor."""
    own, usual = ((Path(folder, name) for folder in some) for some in (folders, _LIBRARY_FOLDERS))
    for place in chain(own, _known_libraries().get(name, ()), usual):
        header = _read_header(place)
        if header and header.machine == machine:
            return place
    return None


@cache
def _known_libraries() -> dict[str, list[Path]]:
    """Return the paths of the system's libraries, by name."""
    found: dict[str, list[Path]] = {}
    for program in _LDCONFIG:
        with suppress(OSError):
            for line in run_program(program, "-p").stdout.splitlines():
                name, arrow, place = line.strip().partition(" => ")
                if arrow:
                    found.setdefault(name.split()[0], []).append(Path(place))
            return found
    return found


@cache
def _read_header(path: Path) -> _Header | None:
    """Return the ELF header of a file, None if it is not a 64-bit program or library."""
    try:
        with path.open("rb") as file:
            return _parse(file.fileno())
    except (OSError, OverflowError, ValueError, struct.error):
        return None


def _parse(file: int) -> _Header | None:
    head = os.pread(file, 64, 0)
    if not head.startswith(_ELF_64):
        return None
    machine = struct.unpack_from("<H", head, 18)[0]
    start, size, count = (*struct.unpack_from("<Q", head, 32), *struct.unpack_from("<HH", head, 54))
    if size != _SEGMENT or count > _MOST_SEGMENTS:
        return None
    table = os.pread(file, size * count, start)
    segments = [struct.unpack_from("<IIQQQQ", table, size * place) for place in range(count)]
    loader, entries = "", list[tuple[int, int]]()
    for kind, _, offset, _, _, length in segments:
        if kind == _INTERPRETER:
            loader = os.pread(file, min(length, _MOST), offset).rstrip(b"\0").decode()
        elif kind == _DYNAMIC:
            entries += struct.iter_unpack(
                "<QQ", os.pread(file, min(length, _MOST) // 16 * 16, offset)
            )
    strings = [value for kind, value in entries if kind == _STRINGS]
    if not strings:
        return _Header(machine, loader)

    def text(value: int) -> str:
        place = strings[0] + value
        for kind, _, offset, address, _, length in segments:
            if kind == _LOAD and address <= place < address + length:
                return os.pread(file, 4096, offset + place - address).split(b"\0")[0].decode()
        raise ValueError("a name outside of the file")

    needed = tuple(text(value) for kind, value in entries if kind == _NEEDED)
    paths = [text(value) for kind, value in entries if kind in (_RPATH, _RUNPATH)]
    return _Header(machine, loader, needed, tuple(":".join(paths).split(":")) if paths else ())
