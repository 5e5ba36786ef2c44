"""Read bots that are a folder or a zip, and programs: those with a bot.toml, and single files.

A bot.toml is a stranger's text. What it names must be a file of its folder, an installed program,
an installed package, or a folder of the system that every user can read.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from arena.addons import hook
from arena.entries.archive import MOST_DATA, MOST_ZIP, make_archive, read_archive
from arena.entries.file import decode, find_files, interpreter_of, read_file, read_files
from arena.entries.identity import COPY
from arena.entries.layout import check_name
from arena.entries.needs import find_package, locate
from arena.entries.spec import is_label, refuse_label
from arena.entries.syntax import check_archive, open_zip
from arena.errors import InputError, naming
from engine.errors import show_start

MANIFEST: Final = "bot.toml"
"""The file that makes a folder a program."""

ZIP: Final = ".zip"

BUILT: Final = ".bot"
"""The ending of a program that a league keeps with what its build made, never built again."""

_MOST_MANIFEST = 8 << 10  # bytes: a parser of TOML can take the square of this
_MOST_NEEDS = 100
SYSTEM: Final = ("/usr", "/opt")
"""The folders of the system, which every user can read."""

_BINS = ("bin", "sbin")

Words: TypeAlias = list[Annotated[str, Meta(min_length=1, max_length=1000)]]


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bot.toml: the commands that run and build a program, what it may read, and its label."""

    run: Annotated[Words, Meta(min_length=1, max_length=100)]
    build: Annotated[Words, Meta(max_length=100)] = []
    needs: Annotated[Words, Meta(max_length=_MOST_NEEDS)] = []
    label: str | None = None


class Program(NamedTuple):
    """A program that is a bot: its manifest, and its files by name, with what its build made."""

    manifest: Manifest
    files: dict[str, bytes]

    def command(self) -> tuple[str, ...]:
        """Return the words that run it from a copy of its files.

        Raises InputError if its first word is neither one of its files nor an installed program.
        """
        with naming(MANIFEST):
            first = _find_program("run", self.manifest.run[0], self.files)
        return first, *(_place(word, self.files) for word in self.manifest.run[1:])

    def archive(self) -> bytes:
        """Return the archive of the program; the same files give the same bytes."""
        return make_archive(self.files, MANIFEST)


def is_program(path: str | Path) -> bool:
    """Return whether a path is a folder or a zip with a bot.toml, or the file of a program.

    >>> is_program("docs/examples/greedy.js"), is_program("docs/examples/plain.py")
    (True, False)
    """
    if os.path.isdir(path):
        return os.path.lexists(os.path.join(path, MANIFEST))
    name = str(path)
    if not os.path.isfile(path):
        return False
    if name.endswith(ZIP):
        return MANIFEST in read_folder(Path(path))
    return name.endswith(BUILT) or interpreter_of(name) is not None


def read_folder(path: Path) -> dict[str, bytes]:
    """Return the files of a bot that is a folder or a zip, by name, without hidden ones.

    Raises InputError, whose message omits the path.
    """
    if path.is_dir():
        return read_files(find_files(path), path)
    if path.is_symlink():
        raise InputError("a link; give what it leads to")
    found = open_zip(read_file(path, MOST_ZIP, links=False))  # somebody may change it meanwhile
    return {name: data for name, (_, data) in found.items() if "/." not in f"/{name}"}


def read_program(path: Path, waiting: Callable[[], None] = lambda: None) -> Program:
    """Return the program at a path; a folder or a zip is built in the jail if its bot.toml says so.

    `waiting` is called regularly while it is built, and may raise InputError to end that.
    Raises InputError, whose message omits the path, if it cannot be read or built.
    """
    if not path.is_dir() and path.suffix != ZIP:
        return _read_built(path) if path.suffix == BUILT else _read_single(path)
    files = read_folder(path)
    with naming(MANIFEST):
        if len(content := files.get(MANIFEST, b"")) > _MOST_MANIFEST:
            raise InputError(f"larger than {_MOST_MANIFEST:,} bytes")
        manifest = read_manifest(content)
    if manifest.build:
        with naming(MANIFEST):
            _find_program("build", manifest.build[0], files)
        files = hook("build")(manifest.build, files, waiting)
    return Program(manifest, files)


def _read_built(path: Path) -> Program:
    content = read_file(path, MOST_ZIP)
    check_archive(content)
    files = read_archive(content)
    try:
        for one in files:
            check_name(one)
    except ImportError as error:
        raise InputError(str(error)) from None
    name, first = next(iter(files.items()))
    if name != MANIFEST or len(first) > _MOST_MANIFEST:
        raise InputError(f"a {BUILT} file begins with its {MANIFEST}: give a folder, or a zip")
    with naming(MANIFEST):
        return Program(read_manifest(first), files)


def _read_single(path: Path) -> Program:
    """Return the program of one file, as if it stood in a folder with a bot.toml.

    The file's own name is not part of it: a copy under another name is the same bot.
    """
    interpreter = interpreter_of(str(path))
    if interpreter is None:
        raise InputError(f"neither a program nor a folder with a {MANIFEST}")
    name = f"bot{path.suffix.lower()}" if interpreter else "bot"
    manifest = Manifest([*interpreter, name] if interpreter else [f"./{name}"])
    text = f"run = {json.dumps(manifest.run)}\n"
    return Program(manifest, {MANIFEST: text.encode(), name: read_file(path, MOST_DATA)})


def read_manifest(content: bytes) -> Manifest:
    """Return the manifest in a bot.toml; raises InputError, which names all that is wrong in it.

    >>> read_manifest(b'run = ["node", "hasty.js"]').run
    ['node', 'hasty.js']
    """
    try:
        data = tomllib.loads(text := decode(content))
        manifest = msgspec.convert(data, Manifest)
    except RecursionError:
        raise InputError("nested too deep") from None
    except msgspec.ValidationError as error:
        raise InputError(_explain(str(error))) from None
    except ValueError as error:  # also for a number of more than 4,300 digits
        raise InputError(f"not TOML: {error}, in {show_start(text)}") from None
    if wrong := [*_find_faults(manifest)]:
        raise InputError("; ".join(wrong))
    return manifest


def _explain(message: str) -> str:
    """Return msgspec's message in the words of TOML.

    >>> _explain("Object contains unknown field `color`")
    "unknown key 'color'; the keys are run, build, needs, label"
    """
    if found := re.search("unknown field `(.*)`", message, re.DOTALL):
        keys = ", ".join(Manifest.__struct_fields__)
        return f"unknown key {found[1]!r}; the keys are {keys}"
    if "missing required field" in message:
        return 'run is missing: the words of its command, as in run = ["node", "hasty.js"]'
    message, _, place = message.partition(" - at `$.")
    return f"{place.rstrip('`')}: {message[:1].lower()}{message[1:]}"


def _find_faults(manifest: Manifest) -> Iterator[str]:
    """Yield what is wrong in the values of a manifest, in the order of its keys."""
    for key in ("run", "build"):
        for word in getattr(manifest, key):
            if not word.isprintable():
                yield f"{key}: {word!a}: a character that cannot be printed"
            elif os.path.isabs(word):
                yield f"{key}: {word!r}: an absolute path; name a file of the folder, as ./first"
            elif os.pardir in word.split("/"):
                yield f"{key}: {word!r}: a path that leads out of the folder"
    for need in manifest.needs:
        if not _is_common(need):
            yield (
                f"needs: {need!a}: neither an installed package, nor below {' or '.join(SYSTEM)}; "
                f"what else a bot may read is named in the config of a run"
            )
    if manifest.label is not None and not is_label(manifest.label):
        yield refuse_label(manifest.label)


def _is_common(need: str) -> bool:
    """Return whether a need of a stranger's bot is an installed package, or belongs to the system.

    >>> _is_common("numpy"), _is_common("/usr/lib"), _is_common("/usr/../etc"), _is_common("bots")
    (True, True, False, False)
    """
    if "/" not in need:  # and no file of the working folder is meant
        return (place := find_package(need)) is not None and locate(need) == place
    path = Path(need)
    real = Path(os.path.realpath(path)) if "\0" not in need else Path()
    tops = (one for one in SYSTEM if path.is_relative_to(one) and real.is_relative_to(one))
    return os.pardir not in path.parts and any(tops)


def _find_program(key: str, word: str, files: Mapping[str, bytes]) -> str:
    """Return the first word of the command of a key, for a copy of the files; raises InputError."""
    if "/" in word:
        placed = _place(word, files)
        if placed.removeprefix(COPY) not in files:
            raise InputError(f"{key}: {word!r}: no such file in the folder")
        return placed
    if place := shutil.which(word, path=_find_installed()):
        return os.path.abspath(place)
    if place := shutil.which(word):
        raise InputError(f"{key}: {word!r}: {place} is not in a folder of installed programs")
    hint = f"; ./{word} is in the folder" if word in files else ""
    raise InputError(f"{key}: {word!r}: no such program is installed here{hint}")


def _find_installed() -> str:
    """Return the folders of installed programs as a PATH: those beside this Python come first.

    So `python3` is the one whose packages a bot finds, and no shim, which no jail shows.
    """
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = [one for one in path if Path(one).name in _BINS]
    return os.pathsep.join([os.path.dirname(sys.executable), *found])


def _place(word: str, files: Mapping[str, bytes]) -> str:
    """Return a word for the copy, marked if it is a file of the program or a folder of these.

    >>> files = {"classes/Wary.class": b""}
    >>> [_place(word, files).replace(COPY, "COPY/") for word in ("-cp", "./classes", ".", "x")]
    ['-cp', 'COPY/classes', 'COPY/', 'x']
    """
    name = os.path.normpath(word)
    if name == os.curdir:
        return COPY
    return f"{COPY}{name}" if any(_is_part(name, file) for file in files) else word


def _is_part(name: str, file: str) -> bool:
    return file == name or file.startswith(f"{name}/")
