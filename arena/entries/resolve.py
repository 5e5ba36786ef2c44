"""Resolve: from a spec to an Entry, without running any of the bot's code."""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib.machinery
import os
import pkgutil
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import bots
from arena.entries.entry import Entry
from arena.entries.file import MOST_PROGRAM, MOST_SOURCE, add_file, read_file
from arena.entries.identity import hash_source
from arena.entries.lane import LANES
from arena.entries.needs import check_needs
from arena.entries.spec import (
    COMMAND,
    OBJECT,
    PERSON,
    Spec,
    check_label,
    default_label,
    is_file,
    parse,
    plain_params,
)
from arena.errors import InputError

_FOLDER = Path(bots.__path__[0])
_GROUP = "arena.bots"


def resolve(
    text: str,
    label: str | None = None,
    params: dict[str, Any] | None = None,
    lane: str | None = None,
    needs: Sequence[str] = (),
    code: Code | None = None,
) -> Entry:
    """Return the entry of a spec.

    A spec is the name of a bot in bots/ or of an entry point, a `./file.py`, a
    `package.module`, or `cmd:` and a command; each can be followed by `(name=value)` and
    preceded by `label=`. A label and parameters that are passed here win over those of the
    text. The lane is the one passed here, or else the default for the kind of bot. `needs`
    are files and folders that it may read in the lane jail. A `code` is the bot's own, and the
    text then only stands for it. Raises InputError for a bot that does not exist and for
    whatever the spec gets wrong.
    """
    spec = Spec(None, f"{OBJECT}{code.name}", {}) if code else parse(text)
    text = spec.target if code else text
    if spec.target == PERSON:
        raise InputError(f"bot {text!r}: only `arena play human BOT` has a person")
    merged = plain_params(text, spec.params | (params or {}))
    of_target = _of_command if spec.target.startswith(COMMAND) else _of_module
    entry = _of_code(code, merged) if code else of_target(text, spec.target, merged)
    label = spec.label if label is None else label
    if label is not None:
        entry = replace(entry, label=label)
    if lane is not None:
        entry = replace(entry, lane=lane)
    if needs:
        entry = replace(entry, needs=check_needs(text, needs))
    check_label(text, entry.label)
    lanes = [name for name in LANES if name != "inproc" or not entry.command]
    if entry.lane not in lanes:
        raise InputError(
            f"bot {text!r}: lane {entry.lane!r} is not one of its lanes: {', '.join(lanes)}"
        )
    return entry


def installed() -> list[tuple[str, str]]:
    """Return name and first docstring line of every bot in `bots/`, in order of names."""
    return [(name, _first_line(name)) for name in _names()]


class Code(NamedTuple):
    """The source of a class or function of a program: a bot's file that was never written."""

    name: str
    source: bytes


class _Location(NamedTuple):
    """Where a target leads: a module or a single file, and the lane of such a bot.

    `path` is the folder from which the module is imported.
    """

    module: str
    filename: str
    origin: Path
    lane: str
    single: bool
    path: tuple[str, ...] = ()


def _of_module(spec: str, target: str, params: dict[str, Any]) -> Entry:
    """Return the entry of a Python bot."""
    location = _locate(spec, target)
    try:
        source = read_file(location.origin, MOST_SOURCE if location.single else MOST_PROGRAM)
    except InputError as error:
        raise InputError(f"bot {spec!r}: {error}") from None
    sha256 = hash_source(source, _FOLDER)
    return Entry(
        label=default_label(target, params),
        target=target,
        lane=location.lane,
        module=location.module or f"_arena_bot_{location.origin.stem}_{sha256[:12]}",
        filename=location.filename,
        sha256=sha256,
        source=source if location.single else None,
        params=params,
        path=location.path,
    )


def _of_code(code: Code, params: dict[str, Any]) -> Entry:
    """Return the entry of a class or function."""
    target = f"{OBJECT}{code.name}"
    sha256 = hash_source(code.source, _FOLDER)
    return Entry(
        label=default_label(target, params),
        target=target,
        lane="process",
        module=f"_arena_bot_{code.name}_{sha256[:12]}",
        filename=f"<{code.name}>",
        sha256=sha256,
        source=code.source,
        params=params,
    )


def _of_command(spec: str, target: str, params: dict[str, Any]) -> Entry:
    """Return the entry of a command; its hash covers its words and the files they name."""
    try:
        words = shlex.split(target.removeprefix(COMMAND))
    except ValueError as error:
        raise InputError(f"bot {spec!r}: {error}") from None
    if not words:
        raise InputError(f"bot {spec!r}: the command is empty")
    if shutil.which(words[0]) is None:
        raise InputError(f"bot {spec!r}: {words[0]}: no such program")
    digest = hashlib.sha256("\0".join(words).encode())
    try:
        for file in filter(os.path.isfile, words):
            add_file(digest, file)
    except InputError as error:
        raise InputError(f"bot {spec!r}: {error}") from None
    return Entry(
        label=default_label(target, params),
        target=target,
        lane="process",
        module="",
        filename="",
        sha256=digest.hexdigest(),
        params=params,
        command=tuple(_with_absolute_paths(words)),
    )


def _with_absolute_paths(words: list[str]) -> list[str]:
    """Return a command's words with absolute paths, because it runs in a folder of its own."""
    program = [shutil.which(words[0]) or words[0], *words[1:]]
    return [str(Path(word).absolute()) if os.path.exists(word) else word for word in program]


def _names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(bots.__path__))


def _first_line(name: str) -> str:
    try:
        tree = ast.parse((_FOLDER / f"{name}.py").read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        return f"(cannot be read: {error})"
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def _locate(spec: str, target: str) -> _Location:
    if target.startswith(OBJECT):
        raise InputError(
            f"bot {spec!r}: a class or function of a Python program, which only a program can "
            f"pass to the arena"
        )
    if is_file(target):
        path = Path(os.path.expanduser(target))  # Path.expanduser raises for an unknown user
        return _Location("", target, path, "process", single=True)
    if target in _names():
        origin = _FOLDER / f"{target}.py"
        return _Location(f"bots.{target}", f"bots/{target}.py", origin, "inproc", single=True)
    module = _entry_points().get(target, target)
    if "." not in target and module == target:
        near = difflib.get_close_matches(target, _names(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_names())}"
        raise InputError(f"bot {spec!r}: no bot {target!r} in bots/; {hint}")
    origin_of_module = _find_module(module, [*sys.path, str(Path.cwd())])
    if origin_of_module is None:
        raise InputError(f"bot {spec!r}: no module {module!r}")
    depth = module.count(".") + (origin_of_module.name == "__init__.py")
    folder = str(origin_of_module.absolute().parents[depth])
    return _Location(module, target, origin_of_module, "process", single=False, path=(folder,))


def _entry_points() -> dict[str, str]:
    """Return the modules of the bots that installed packages offer, by name."""
    from importlib import metadata  # 15 ms, needed for few bots

    points = metadata.entry_points(group=_GROUP)
    return {point.name: point.value.partition(":")[0] for point in points}


def _find_module(module: str, folders: Sequence[str]) -> Path | None:
    """Return the file of a module, found without running the packages around it."""
    package, _, rest = module.partition(".")
    spec = importlib.machinery.PathFinder.find_spec(package, folders)
    for finder in sys.meta_path:  # finds a package that is installed for editing
        spec = spec or finder.find_spec(package, None)
    for name in filter(None, rest.split(".")):
        if spec is None or spec.submodule_search_locations is None:
            return None
        package = f"{package}.{name}"
        spec = importlib.machinery.PathFinder.find_spec(
            package, list(spec.submodule_search_locations)
        )
    if spec is None or not spec.origin or not spec.has_location:
        return None
    return Path(spec.origin)
