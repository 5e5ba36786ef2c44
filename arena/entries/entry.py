"""Load bots: from a spec to something that makes strategies, here and in every worker."""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib.machinery
import pkgutil
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import bots
from arena.entries.identity import identity
from arena.entries.source import bound
from arena.entries.spec import (
    COMMAND,
    SPEC,
    check_label,
    default_label,
    is_file,
    parsed_params,
    plain,
)
from arena.errors import InputError
from arena.lanes import LANES
from engine import Setup, Strategy

_PERSON = "human"
_FOLDER = Path(bots.__path__[0])
_GROUP = "arena.bots"


@dataclass(frozen=True)
class Entry:
    """One bot of a run: a unique label, where its source is, its parameters and its lane.

    It travels to workers as data; `bot` is loaded where it is used. A bot that is one file
    travels with its source, so that every worker plays what was hashed; a `command` has
    none. `path` holds folders from which the bot's module is imported.
    """

    label: str
    target: str
    lane: str
    module: str
    filename: str
    sha256: str
    source: bytes | None = None
    params: dict[str, Any] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    command: tuple[str, ...] = ()

    @property
    def bot(self) -> Any:
        """What the module binds to `bot`; loaded once a process, raises what it raises."""
        sys.path += [folder for folder in self.path if folder not in sys.path]
        return bound(self.module, self.filename, self.source)

    @property
    def is_ours(self) -> bool:
        """Whether it is one of the bots in `bots/`."""
        return self.module.startswith("bots.")

    def strategy(self, setup: Setup) -> Strategy:
        """Return a new strategy for one game; raises whatever the bot raises."""
        params = deepcopy(self.params) if self.params else {}  # a bot may change a list
        strategy: Strategy = self.bot(setup, **params)
        return strategy

    def described(self) -> dict[str, Any]:
        """Return the bot's identity as plain data."""
        return {
            "label": self.label,
            "bot": self.target,
            "params": self.params,
            "lane": self.lane,
            "sha256": self.sha256,
        }


class _Found(NamedTuple):
    """Where a target leads: a module or a file, its folder for imports, the lane it gets."""

    module: str
    filename: str
    origin: Path
    lane: str
    single: bool
    path: tuple[str, ...] = ()


def load(
    spec: str,
    label: str | None = None,
    params: dict[str, Any] | None = None,
    lane: str | None = None,
) -> Entry:
    """Return the entry of a spec, without running any of the bot's code.

    A spec is a `name` in bots/ or of an entry point, a `./file.py`, a `package.module` or
    `cmd:` and a command; each with `(k=v)`; `label=spec` names it. Raises InputError for a
    bot that cannot be found.
    """
    parts = SPEC.fullmatch(spec.strip())
    if parts is None:
        raise InputError(f"bot {spec!r}: an empty spec")
    target = parts["target"].strip()
    if target == _PERSON:
        raise InputError(f"bot {spec!r}: a person plays in `arena play human BOT` alone")
    label = parts["label"] if label is None else label
    params = plain(spec, parsed_params(spec, parts["params"] or "") | (params or {}))
    make = _of_command if target.startswith(COMMAND) else _of_module
    entry = make(spec, target, params)
    if label is not None:
        entry = replace(entry, label=label)
    if lane is not None:
        entry = replace(entry, lane=lane)
    check_label(spec, entry.label)
    if entry.lane not in LANES or (entry.command and entry.lane == "inproc"):
        raise InputError(
            f"bot {spec!r}: lane {entry.lane!r} is not one of its lanes: {_lanes(entry)}"
        )
    return entry


def person(spec: str) -> str | None:
    """Return the label of the person that a spec means, None where it means a bot.

    Raises InputError for a person with parameters, and for a label that is none.

    >>> person("human"), person("Anna=human"), person("greedy")
    ('human', 'Anna', None)
    """
    parts = SPEC.fullmatch(spec.strip())
    if parts is None or parts["target"].strip() != _PERSON:
        return None
    if parts["params"]:
        raise InputError(f"bot {spec!r}: a person takes no parameters")
    label = parts["label"] or _PERSON
    check_label(spec, label)
    return label


def _lanes(entry: Entry) -> str:
    return ", ".join(lane for lane in LANES if lane != "inproc" or not entry.command)


def _of_module(spec: str, target: str, params: dict[str, Any]) -> Entry:
    """Return the entry of a Python bot."""
    found = _found(spec, target)
    try:
        source = found.origin.read_bytes()
    except OSError as error:
        raise InputError(f"bot {spec!r}: {error.strerror or error}") from None
    sha256 = identity(source, _FOLDER)
    return Entry(
        label=default_label(target, params),
        target=target,
        lane=found.lane,
        module=found.module or f"_arena_bot_{found.origin.stem}_{sha256[:12]}",
        filename=found.filename,
        sha256=sha256,
        source=source if found.single else None,
        params=params,
        path=found.path,
    )


def _of_command(spec: str, target: str, params: dict[str, Any]) -> Entry:
    """Return the entry of a command; its hash is of its words and of the files they name."""
    try:
        words = shlex.split(target.removeprefix(COMMAND))
    except ValueError as error:
        raise InputError(f"bot {spec!r}: {error}") from None
    if not words:
        raise InputError(f"bot {spec!r}: an empty command")
    if shutil.which(words[0]) is None:
        raise InputError(f"bot {spec!r}: {words[0]}: no such program")
    digest = hashlib.sha256("\0".join(words).encode())
    files = [Path(word) for word in words if Path(word).is_file()]
    for file in files:
        digest.update(file.read_bytes())
    return Entry(
        label=default_label(target, params),
        target=target,
        lane="process",
        module="",
        filename="",
        sha256=digest.hexdigest(),
        params=params,
        command=tuple(_as_seen_from_here(words)),
    )


def check_labels(entries: Iterable[Entry]) -> None:
    """Raise InputError if two bots have one label; bots are counted from 1."""
    seen: dict[str, int] = {}
    for number, entry in enumerate(entries, 1):
        first = seen.setdefault(entry.label, number)
        if first != number:
            raise InputError(
                f"bots {first} and {number} have the same label {entry.label!r}; "
                f"name one of them, as in other={entry.target}"
            )


def installed() -> list[tuple[str, str]]:
    """Return name and first docstring line of every bot in `bots/`, in order of names."""
    return [(name, _first_line(name)) for name in _names()]


def _names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(bots.__path__))


def _first_line(name: str) -> str:
    try:
        tree = ast.parse((_FOLDER / f"{name}.py").read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        return f"(cannot be read: {error})"
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def _found(spec: str, target: str) -> _Found:
    if is_file(target):
        return _Found("", target, Path(target).expanduser(), "process", single=True)
    if target in _names():
        origin = _FOLDER / f"{target}.py"
        return _Found(f"bots.{target}", f"bots/{target}.py", origin, "inproc", single=True)
    module = _entry_points().get(target, target)
    if "." not in target and module == target:
        near = difflib.get_close_matches(target, _names(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_names())}"
        raise InputError(f"bot {spec!r}: no bot {target!r} in bots/; {hint}")
    source = _origin(module, [*sys.path, str(Path.cwd())])
    if source is None:
        raise InputError(f"bot {spec!r}: no module {module!r}")
    depth = module.count(".") + (source.name == "__init__.py")
    folder = str(source.absolute().parents[depth])
    return _Found(module, target, source, "process", single=False, path=(folder,))


def _entry_points() -> dict[str, str]:
    """Return the modules of the bots that installed packages offer, by name."""
    points = metadata.entry_points(group=_GROUP)
    return {point.name: point.value.partition(":")[0] for point in points}


def _origin(module: str, folders: Sequence[str]) -> Path | None:
    """Return the file of a module, found without running the packages it lies in."""
    package, _, rest = module.partition(".")
    found = importlib.machinery.PathFinder.find_spec(package, folders)
    for finder in sys.meta_path:  # where a package is installed for editing
        found = found or finder.find_spec(package, None)
    for name in filter(None, rest.split(".")):
        if found is None or found.submodule_search_locations is None:
            return None
        package = f"{package}.{name}"
        found = importlib.machinery.PathFinder.find_spec(
            package, list(found.submodule_search_locations)
        )
    if found is None or not found.origin or not found.has_location:
        return None
    return Path(found.origin)


def _as_seen_from_here(words: list[str]) -> list[str]:
    """Return a command's words with absolute paths: it is run in a folder of its own."""
    found = [shutil.which(words[0]) or words[0], *words[1:]]
    return [str(Path(word).absolute()) if Path(word).exists() else word for word in found]
