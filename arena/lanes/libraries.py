"""Libraries: the files that programs need before they run, by what stands in their headers.

Nothing is run for that but `ldconfig -p`, which knows where libraries are. Source: man 5 elf,
man 8 ld.so.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

OPENED: Final = ("libgcc_s.so.1", "libstdc++.so.6", "libm.so.6", "libz.so.1", "libatomic.so.1")
"""Libraries that programs open while they run, or that wheels take for granted (manylinux)."""

_OLD = ("libdl.so.2", "librt.so.1", "libpthread.so.0", "libutil.so.1", "libresolv.so.2")
_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_TOPS = ("/lib", "/lib32", "/lib64", "/libx32", "/usr", "/opt", f"{sys.base_prefix}/lib")
_LDCONFIG = ("/sbin/ldconfig", "/usr/sbin/ldconfig")
_PATIENCE = 10.0  # seconds
_MOST_FILES = 5000  # of a folder that is looked through
_ELF_64 = b"\x7fELF\x02\x01"  # of a processor whose lowest byte comes first
_SEGMENT, _MOST_SEGMENTS = 56, 128  # bytes of a line of the table, and lines
_MOST = 1 << 16  # bytes that are read of a table: the file may be a stranger's
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3  # kinds of segments
_NEEDED, _STRINGS, _RPATH, _RUNPATH = 1, 5, 15, 29  # kinds of dynamic entries


class _Header(NamedTuple):
    """What a program or library says: its processor, its loader, and what it needs and where."""

    machine: int
    loader: str = ""
    needed: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def find_libraries(paths: Iterable[Path]) -> set[Path]:
    """Return the libraries of programs, and of those in folders, with all that these need.

    What is found nowhere is left out: the program may not need it.
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
    """Return the libraries that programs of this machine take for granted."""
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

    The file may be a stranger's: what it names is shown only if it is a library of the system.
    """
    header = _read_header(path)
    if header is None:
        return set()
    origin = str(path.resolve().parent)
    folders = tuple(
        folder.replace("$ORIGIN", origin).replace("${ORIGIN}", origin) for folder in header.folders
    )
    places = [_find(name, header.machine, folders) for name in header.needed]
    places += [Path(header.loader)] if header.loader else []
    return {place for place in places if place and _is_of_system(place)}


def _is_of_system(place: Path) -> bool:
    """Return whether this is a library, and where a system has its own."""
    is_there = any(map(place.is_relative_to, _TOPS)) and ".." not in place.parts
    return is_there and _read_header(place) is not None


def _find(name: str, machine: int, folders: tuple[str, ...]) -> Path | None:
    """Return where a library is that is made for this processor."""
    places = [Path(folder, name) for folder in folders]
    places += _known_libraries().get(name, [])
    places += [Path(folder, name) for folder in _FOLDERS]
    for place in places:
        header = _read_header(place)
        if header and header.machine == machine:
            return place
    return None


@cache
def _known_libraries() -> dict[str, list[Path]]:
    """Return where libraries are, by their names."""
    found: dict[str, list[Path]] = {}
    for program in _LDCONFIG:
        with suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run(
                [program, "-p"], capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
            for line in done.stdout.splitlines():
                name, arrow, place = line.strip().partition(" => ")
                if arrow:
                    found.setdefault(name.split()[0], []).append(Path(place))
            return found
    return found


@cache
def _read_header(path: Path) -> _Header | None:
    """Return what a file says, None if it is no program for a processor of 64 bits."""
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
