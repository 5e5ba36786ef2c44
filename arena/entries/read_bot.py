"""Read the files of a bot: of one file, a folder or a zip; with a bot.toml they are a program.

A bot.toml is a stranger's text. What it names must be a file of its folder, an installed program,
an installed package, or a folder of the system that every user can read.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from arena.addons import hook
from arena.entries.bot_files import MOST_SOURCE, find_files, interpreter_of, read_files
from arena.entries.identity import COPY, place
from arena.entries.loader import MAGIC, MOST_DATA, MOST_ZIP
from arena.entries.needs import find_package, locate
from arena.entries.spec import is_label, refuse_label
from arena.errors import InputError, naming
from arena.files import decode, read_file
from engine.errors import show_start

MANIFEST: Final = "bot.toml"
"""The file that makes a folder a program."""

ZIP: Final = ".zip"

BUILT: Final = ".bot"
"""The ending of a program that a league keeps with what its build made, never built again."""

_PACKED = b"# A bot with its files, written by `arena pack`"  # by version 1
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


def is_program(path: Path) -> bool:
    """Return whether a file is a program by itself, and neither Python nor a zip.

    >>> is_program(Path("docs/examples/greedy.js")), is_program(Path("docs/examples/plain.py"))
    (True, False)
    """
    return path.suffix == BUILT or (path.is_file() and interpreter_of(str(path)) is not None)


def read_bot(path: Path, waiting: Callable[[], None] = lambda: None) -> dict[str, bytes]:
    """Return the files of a bot by name, without hidden ones; those of a program have a bot.toml.

    A folder or a zip is built in the jail if its bot.toml says so. `waiting` is called regularly
    meanwhile, and may raise InputError to end that. Raises InputError, whose message omits the
    path, if the bot cannot be read or built.
    """
    if not path.is_dir() and path.suffix not in (ZIP, BUILT):
        return _read_single(path)
    files = _read_folder(path)
    if MANIFEST not in files:
        if path.suffix == BUILT:
            raise InputError(f"a {BUILT} file has a {MANIFEST}: give a folder, or a zip")
        return files
    manifest = read_manifest(files)
    if path.suffix == BUILT or not manifest.build:
        return files
    with naming(MANIFEST):
        _find_program("build", manifest.build[0], files)
    built: dict[str, bytes] = hook("build")(manifest.build, files, waiting)
    return built


def _read_folder(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        return read_files(find_files(path), path)
    if path.is_symlink():
        raise InputError("a link; give what it leads to")
    from arena.entries.zipped import open_zip  # here: zipfile takes 10 ms

    found = open_zip(read_file(path, MOST_ZIP, links=False))  # somebody may change it meanwhile
    return {name: data for name, data in found.items() if "/." not in f"/{name}"}


def _read_single(path: Path) -> dict[str, bytes]:
    """Return the file of a Python bot, or of a program as if it stood in a folder with a bot.toml.

    A program's own name is not part of it: a copy under another name is the same bot.
    """
    interpreter = interpreter_of(str(path))
    if interpreter is None:
        text = read_file(path, MOST_SOURCE)
        if text.startswith(MAGIC):
            raise InputError(f"a zip, whose name must end in {ZIP}")
        if text.startswith(_PACKED):
            why = "written by `arena pack`, which has left with version 2.0"
            raise InputError(f"{why}: give the folder of which it was made, or a zip of that")
        return {path.name: text}
    name = f"bot{path.suffix.lower()}" if interpreter else "bot"
    words = [*interpreter, name] if interpreter else [f"./{name}"]
    manifest = f"run = {json.dumps(words)}\n".encode()
    return {MANIFEST: manifest, name: read_file(path, MOST_DATA)}


def find_command(manifest: Manifest, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the words that run a program from a copy of its files.

    Raises InputError if the first word is neither one of its files nor an installed program.
    """
    with naming(MANIFEST):
        first = _find_program("run", manifest.run[0], files)
    return first, *(place(word, files) for word in manifest.run[1:])


def read_manifest(files: Mapping[str, bytes]) -> Manifest:
    """Return the manifest of a program; raises InputError, which names all that is wrong in it.

    >>> read_manifest({MANIFEST: b'run = ["node", "hasty.js"]'}).run
    ['node', 'hasty.js']
    """
    import tomllib  # here: few bots have one

    with naming(MANIFEST):
        if len(files[MANIFEST]) > _MOST_MANIFEST:
            raise InputError(f"larger than {_MOST_MANIFEST:,} bytes")
        text = decode(files[MANIFEST])
        try:
            manifest = msgspec.convert(tomllib.loads(text), Manifest)
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
            why = f"neither an installed package, nor below {' or '.join(SYSTEM)}"
            more = "what else a bot may read is named in the config of a run"
            yield f"needs: {need!a}: {why}; {more}"
    if manifest.label is not None and not is_label(manifest.label):
        yield refuse_label(manifest.label)


def _is_common(need: str) -> bool:
    """Return whether a need of a stranger's bot is an installed package, or belongs to the system.

    >>> _is_common("numpy"), _is_common("/usr/lib"), _is_common("/usr/../etc"), _is_common("bots")
    (True, True, False, False)
    """
    if "/" not in need:  # and no file of the working folder is meant
        return (found := find_package(need)) is not None and locate(need) == found
    path = Path(need)
    real = Path(os.path.realpath(path)) if "\0" not in need else Path()
    tops = (one for one in SYSTEM if path.is_relative_to(one) and real.is_relative_to(one))
    return os.pardir not in path.parts and any(tops)


def _find_program(key: str, word: str, files: Mapping[str, bytes]) -> str:
    """Return the first word of the command of a key, for a copy of the files; raises InputError."""
    if "/" in word:
        placed = place(word, files)
        if placed.removeprefix(COPY) not in files:
            raise InputError(f"{key}: {word!r}: no such file in the folder")
        return placed
    if found := shutil.which(word, path=_find_installed()):
        return os.path.abspath(found)
    if found := shutil.which(word):
        raise InputError(f"{key}: {word!r}: {found} is not in a folder of installed programs")
    hint = f"; ./{word} is in the folder" if word in files else ""
    raise InputError(f"{key}: {word!r}: no such program is installed here{hint}")


def _find_installed() -> str:
    """Return the folders of installed programs as a PATH: those beside this Python come first.

    So `python3` is the one whose packages a bot finds, and no shim, which no jail shows.
    """
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = [one for one in path if Path(one).name in _BINS]
    return os.pathsep.join([os.path.dirname(sys.executable), *found])
