"""Find the bot that a spec names, and describe it without running its code."""

from __future__ import annotations

import difflib
import os
import pkgutil
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bots
from arena.addons import hook
from arena.entries.archive import MAGIC, MOST_DATA, MOST_FILES, MOST_ZIP, make_archive
from arena.entries.entry import Entry
from arena.entries.file import (
    MOST_PROGRAM,
    MOST_SOURCE,
    Location,
    find_main,
    find_module,
    read_file,
    why_no_program,
)
from arena.entries.identity import (
    copy_command,
    find_version,
    hash_command,
    hash_files,
    hash_package,
    hash_source,
    read_parts,
)
from arena.entries.needs import check_needs, locate
from arena.entries.program import ZIP, Program, is_program, read_folder, read_program
from arena.entries.spec import (
    COMMAND,
    HERE,
    OBJECT,
    PERSON,
    Lane,
    Spec,
    check_label,
    default_label,
    is_address,
    is_file,
    parse,
    plain_params,
    write,
)
from arena.entries.syntax import read_outline
from arena.errors import InputError, naming

if TYPE_CHECKING:
    from importlib import metadata

BOTS = Path(bots.__path__[0])
"""The folder of the bots that a spec can give by name only."""

_PACKED = b"# A bot with its files, written by `arena pack`"  # by version 1
_GROUP = "arena.bots"  # of entry points


def resolve(
    text: str,
    label: str | None = None,
    params: dict[str, Any] | None = None,
    lane: str | None = None,
    needs: Sequence[str] = (),
    code: Code | None = None,
    *,
    public: bool = False,
) -> Entry:
    """Return the entry of a spec.

    A spec is the name of a bot in bots/ or of an entry point, a `./file.py`, a `./folder/` or a
    zip of it, the file of a program, a `package.module`, `cmd:` and a command, or the
    `http://host:port` of a server, which is asked for its version; each can be followed by
    `(name=value)` and preceded by `label=`. The arguments `label` and `params` take precedence over
    those in the text. Without `lane` it is the default for the kind of bot; that of a server is
    remote. `needs` are files and folders that the bot may read in the lane jail. With `code` the
    bot is that class or function, and the text only names it. With `public` a server must be on
    the public internet. A program is built if its files are new. Raises InputError for a bot that
    does not exist or cannot be built, and for an invalid spec.
    """
    spec = Spec(None, f"{OBJECT}{code.name}", {}) if code else parse(text)
    text = spec.target if code else text
    if spec.target == PERSON:
        raise InputError(f"bot {text!r}: only `arena human BOT` has a person")
    merged = plain_params(text, spec.params | (params or {}))
    needed = check_needs(text, needs)
    if code:
        entry = _of_code(code, merged)
    elif is_address(spec.target):
        entry = _of_address(text, spec.target, merged, public=public)
    elif spec.target.startswith(COMMAND):
        entry = _of_command(text, spec.target, merged, needed)
    else:
        entry = _of_python(text, spec.target, merged, needed)
    changes: dict[str, Any] = {"label": spec.label if label is None else label, "lane": lane}
    changes = {name: value for name, value in changes.items() if value is not None}
    entry = replace(entry, needs=(*needed, *entry.needs), **changes)
    check_label(text, entry.label)
    lanes: list[Lane] = [name for name in HERE if name != "inproc" or not entry.command]
    if is_address(entry.target):
        lanes = ["remote"]
    if entry.lane not in lanes:
        raise InputError(
            f"bot {text!r}: lane {entry.lane!r} is not one of its lanes: {', '.join(lanes)}"
        )
    return entry


def installed() -> list[tuple[str, str]]:
    """Return name and first docstring line of every bot in `bots/`, sorted by name."""
    return [(name, _first_line(name)) for name in _names()]


def default_lane(target: str) -> Lane:
    """Return the default lane of a bot, which depends only on the target in its spec.

    >>> default_lane("greedy"), default_lane("./greedy.py")
    ('inproc', 'process')
    """
    if is_address(target):
        return "remote"
    return "inproc" if target in _names() else "process"


class Code(NamedTuple):
    """The source of a class or function of a calling program, in place of a bot's file."""

    name: str
    source: bytes


def _of_python(spec: str, target: str, params: dict[str, Any], needs: Sequence[str]) -> Entry:
    """Return the entry of a Python bot, or of a program that is a file or a folder."""
    try:
        if is_file(target) and is_program(path := Path(os.path.expanduser(target))):
            return _of_program(read_program(path), path, target, params)
        if is_file(target):
            return _of_path(target, params, needs)
        if target in _names():
            return _of_name(target, params)
        return _of_module(_locate(target), target, params)
    except InputError as error:
        raise InputError(f"bot {spec!r}: {error}{_explain_label(target)}") from None


def _explain_label(target: str) -> str:
    """Advise on a label that a spec cannot hold, with ( ) / or :, "" for any other label."""
    label, equals, _ = target.partition("=")
    if not equals or label[:1] in "./~" or os.path.exists(target):
        return ""
    return f"; if {label!r} is to be its label: with ( ) / or : it must be a config's `label`"


def _of_program(program: Program, path: Path, target: str, params: dict[str, Any]) -> Entry:
    """Return the entry of a program; its hash covers its words and its files."""
    words, manifest = program.command(), program.manifest
    name = os.path.basename(os.path.abspath(path))
    label = default_label(f"{name}/" if path.is_dir() else target, params)
    return Entry(
        label=label if manifest.label is None else write(manifest.label, params),
        target=target,
        lane="process",
        module="",
        filename="",
        sha256=hash_command(manifest.run, program.files, []),
        source=program.archive(),
        params=params,
        command=words,
        needs=check_needs(target, manifest.needs),
        program=find_version(words, program.files),
    )


def _of_path(target: str, params: dict[str, Any], needs: Sequence[str]) -> Entry:
    """Return the entry of a bot that is a file, a folder or a zip, with its whole source."""
    path = Path(os.path.expanduser(target))  # Path.expanduser raises for an unknown user
    is_folder = os.path.isdir(path)
    if is_folder or path.suffix == ZIP:
        files = read_folder(path)
        source, sha256 = make_archive(files, find_main(files)), hash_files(files, BOTS)
    else:
        source, sha256 = _read_source(path, needs)
    name = os.path.basename(os.path.abspath(path))
    stem = re.sub(r"\W", "_", Path(name).stem)
    in_memory = source.startswith(MAGIC)  # the files of an archive have no path on disk
    return Entry(
        label=default_label(f"{name}/" if is_folder else target, params),
        target=target,
        lane="process",
        module=f"_arena_bot_{stem}_{sha256[:12]}",
        filename=name if in_memory else target,
        sha256=sha256,
        source=source,
        params=params,
    )


def read_archived(path: Path, waiting: Callable[[], None]) -> bytes:
    """Return the archive of a folder or zip that is a bot, or of a program with what it has built.

    `waiting` is called while it is built. Raises InputError, which names the path.
    """
    with naming(path):
        if is_program(path):
            return read_program(path, waiting).archive()
        files = read_folder(path)
        return make_archive(files, find_main(files))


def _read_source(path: Path, needs: Sequence[str]) -> tuple[bytes, str]:
    """Return the source of a bot's file, and its hash.

    Files of its own folder that it needs become part of the source: it is an archive then.
    """
    text = read_file(path, MOST_ZIP)
    if text.startswith(_PACKED):
        raise InputError(
            "written by `arena pack`, which has left with version 2.0: give the folder of which it "
            "was made, or a zip of that"
        )
    if len(text) > MOST_SOURCE:
        raise InputError(f"larger than {MOST_SOURCE:,} bytes")
    if more := read_parts(path.parent.absolute(), map(locate, needs), MOST_FILES - 1, MOST_DATA):
        files = more | {path.name: text}
        return make_archive(files, path.name), hash_files(files, BOTS)
    return text, hash_source(text, BOTS)


def _of_name(name: str, params: dict[str, Any]) -> Entry:
    """Return the entry of a bot in bots/."""
    source = read_file(BOTS / f"{name}.py", MOST_SOURCE)
    return Entry(
        label=default_label(name, params),
        target=name,
        lane="inproc",
        module=f"bots.{name}",
        filename=f"bots/{name}.py",
        sha256=hash_source(source, BOTS, ours=True),
        source=source,
        params=params,
    )


def _of_module(location: Location, target: str, params: dict[str, Any]) -> Entry:
    """Return the entry of an installed module, which is used in place."""
    package = location.package
    if package is None:
        sha256 = hash_source(read_file(location.origin, MOST_PROGRAM), BOTS)
    else:
        sha256 = hash_package(package, BOTS)
    return Entry(
        label=default_label(target, params),
        target=target,
        lane="process",
        module=location.module,
        filename=target,
        sha256=sha256,
        params=params,
        path=(str(location.folder),),
    )


def _of_code(code: Code, params: dict[str, Any]) -> Entry:
    """Return the entry of a class or function."""
    target = f"{OBJECT}{code.name}"
    sha256 = hash_source(code.source, BOTS, ours=True)
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


def _of_command(spec: str, target: str, params: dict[str, Any], needs: Sequence[str]) -> Entry:
    """Return the entry of a command; its hash covers its words and its files."""
    try:
        words = shlex.split(target.removeprefix(COMMAND))
    except ValueError as error:
        raise InputError(f"bot {spec!r}: {error}") from None
    if not words:
        raise InputError(f"bot {spec!r}: the command is empty")
    if shutil.which(words[0]) is None:
        raise InputError(f"bot {spec!r}: {words[0]}: {why_no_program(words)}")
    copied = copy_command(words, needs)
    with naming(f"bot {spec!r}"):
        sha256 = hash_command(words, copied.files, copied.stays)
    files = copied.files
    return Entry(
        label=default_label(target, params),
        target=target,
        lane="process",
        module="",
        filename="",
        sha256=sha256,
        source=make_archive(files, next(iter(files))) if files else None,
        params=params,
        command=copied.words,
        home=copied.home,
        program=find_version(copied.words, files),
        note=copied.note,
    )


def _of_address(spec: str, target: str, params: dict[str, Any], *, public: bool) -> Entry:
    """Return the entry of a bot that lives elsewhere; its hash covers its address and version."""
    with naming(f"bot {spec!r}"):
        found = hook("find_bot")(target, params, public=public)
    return Entry(
        label=default_label(found.target, params),
        target=found.target,
        lane="remote",
        module="",
        filename="",
        sha256=found.sha256,
        params=params,
        command=(found.target,),
        program=found.version,
        public=public,
    )


def _names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(bots.__path__))


def _first_line(name: str) -> str:
    try:
        return read_outline(read_file(BOTS / f"{name}.py", MOST_SOURCE)).summary
    except InputError as error:
        return f"(cannot be read: {error})"


def _locate(target: str) -> Location:
    """Return the location of a `package.module`, or of an entry point's module."""
    if target.startswith(OBJECT):
        raise InputError(
            "a class or function of a Python program, which only a program can pass to the arena"
        )
    named = {point.name: point.value.partition(":")[0] for point in entry_points()}
    module = named.get(target, target)
    if "." not in target and module == target:
        near = difflib.get_close_matches(target, _names(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_names())}"
        if os.path.isdir(target):
            hint = f"did you mean ./{target}/?"
        if os.path.isfile(f"{target}.py"):
            hint = f"did you mean ./{target}.py?"
        raise InputError(f"no bot {target!r} in bots/; {hint}")
    location = find_module(module, [*sys.path, str(Path.cwd())])
    if location is None:
        place = target.rstrip("/") + "/" if os.path.isdir(target) else f"./{target}"
        hint = f"; did you mean {place}?" if os.path.exists(target) else ""
        raise InputError(f"no module {module!r}{hint}")
    return location


def entry_points() -> metadata.EntryPoints:
    """Return the entry points of the bots that installed packages offer."""
    from importlib import metadata  # here, because it takes 15 ms and few bots need it

    return metadata.entry_points(group=_GROUP)
