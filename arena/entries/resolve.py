"""Find the bot that a spec names, and describe it without running its code."""

from __future__ import annotations

import os
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
from arena.entries.bot_files import (
    MOST_PROGRAM,
    MOST_SOURCE,
    Location,
    find_main,
    find_module,
    why_no_program,
)
from arena.entries.entry import Entry
from arena.entries.identity import (
    copy_command,
    find_version,
    hash_command,
    hash_files,
    hash_package,
    hash_source,
    read_parts,
)
from arena.entries.loader import make_archive
from arena.entries.needs import check_needs, locate
from arena.entries.read_bot import MANIFEST, ZIP, find_command, read_bot, read_manifest
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
)
from arena.errors import InputError, naming
from arena.files import read_file

if TYPE_CHECKING:
    from importlib import metadata

BOTS = Path(bots.__path__[0])
"""The folder of the bots that a spec can give by name only."""

_GROUP = "arena.bots"  # of entry points
_DOCSTRING = re.compile(
    rb"""(?:\s|#[^\n]*\n)*[rRuU]?("{3}|'{3}|"|')\s*(.{0,1000}?)\s*(?:\1|$)""", re.MULTILINE
)


def resolve(
    text: str,
    label: str | None = None,
    params: dict[str, Any] | None = None,
    lane: str | None = None,
    needs: Sequence[str] = (),
    code: Code | None = None,
) -> Entry:
    """Return the entry of a spec.

    A spec is the name of a bot in bots/ or of an entry point, a `./file.py`, a `./folder/` or a
    zip of it, the file of a program, a `package.module`, `cmd:` and a command, or the
    `http://host:port` of a server, which is asked for its version; each can be followed by
    `(name=value)` and preceded by `label=`. The arguments `label` and `params` take precedence over
    those in the text. Without `lane` it is the default for the kind of bot; that of a server is
    remote. `needs` are files and folders that the bot may read in the lane jail. With `code` the
    bot is that class or function, and the text only names it. A program is built if its files are
    new. Raises InputError for an invalid spec, and a bot that does not exist or cannot be built.
    """
    spec = Spec(None, f"{OBJECT}{code.name}", {}) if code else parse(text)
    text = spec.target if code else text
    if spec.target == PERSON:
        raise InputError(f"bot {text!r}: only `arena human BOT` has a person")
    merged = plain_params(text, spec.params | (params or {}))
    needed = check_needs(text, needs)
    try:
        found = _of_code(code) if code else _find(spec.target, merged, needed)
    except InputError as error:
        raise InputError(f"bot {text!r}: {error}{_explain_label(spec.target)}") from None
    given = spec.label if label is None else label
    entry = replace(
        found,
        label=default_label(found.target, merged, found.label) if given is None else given,
        lane=found.lane if lane is None else lane,
        needs=(*needed, *found.needs),
        params=merged,
    )
    check_label(text, entry.label)
    lanes: list[Lane] = [name for name in HERE if name != "inproc" or not entry.command]
    if is_address(entry.target):
        lanes = ["remote"]
    if entry.lane not in lanes:
        why = f"lane {entry.lane!r} is not one of its lanes: {', '.join(lanes)}"
        raise InputError(f"bot {text!r}: {why}")
    return entry


def _find(target: str, params: dict[str, Any], needs: Sequence[str]) -> Entry:
    if is_address(target):
        return _of_address(target, params)
    return _of_command(target, needs) if target.startswith(COMMAND) else _of_python(target, needs)


def installed() -> list[tuple[str, str]]:
    """Return name and first docstring line of every bot in `bots/`, sorted by name."""
    return [(name, summarize(BOTS / f"{name}.py")) for name in _names()]


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


def _explain_label(target: str) -> str:
    """Advise on a label that a spec cannot hold, with ( ) / or :, "" for any other label."""
    label, equals, _ = target.partition("=")
    if not equals or label.startswith((".", "/", "~", COMMAND, "http")) or os.path.exists(target):
        return ""
    return f"; if {label!r} is to be its label: with ( ) / or : it must be a config's `label`"


def _of_python(target: str, needs: Sequence[str]) -> Entry:
    """Return the entry of a Python bot, or of a program that is a file or a folder."""
    if is_file(target):
        return _of_path(target, needs)
    if target in _names():
        source = read_file(BOTS / f"{target}.py", MOST_SOURCE)
        place = f"bots.{target}", f"bots/{target}.py"
        return Entry("", target, "inproc", *place, hash_source(source, BOTS), source)
    location = _locate(target)
    if package := location.package:
        sha256 = hash_package(package, BOTS)
    else:
        sha256 = hash_source(read_file(location.origin, MOST_PROGRAM), BOTS)
    path = (str(location.folder),)
    return Entry("", target, module=location.module, filename=target, sha256=sha256, path=path)


def _of_path(target: str, needs: Sequence[str]) -> Entry:
    """Return the entry of a bot that is a file, a folder or a zip, with all its files."""
    path = Path(os.path.expanduser(target))  # Path.expanduser raises for an unknown user
    name = os.path.basename(os.path.abspath(path))
    label = name if path.is_dir() else ""
    if target.endswith("/") and path.is_file():
        raise InputError("a file, not a folder: leave out the / at its end")
    files = read_bot(path)
    if MANIFEST in files:
        return _of_program(files, target, label)
    is_file_of_python = not path.is_dir() and path.suffix != ZIP
    if is_file_of_python:
        files |= read_parts(path.parent.absolute(), map(locate, needs))
    main = path.name if is_file_of_python else find_main(files)
    is_alone = is_file_of_python and len(files) == 1
    source = files[main] if is_alone else make_archive(files, main)
    sha256 = hash_source(source, BOTS) if is_alone else hash_files(files, BOTS)
    stem = re.sub(r"\W", "_", Path(name).stem)
    place = f"_arena_bot_{stem}_{sha256[:12]}", target if is_alone else name
    return Entry(label, target, "process", *place, sha256, source)


def _of_program(files: dict[str, bytes], target: str, label: str) -> Entry:
    """Return the entry of a program; its hash covers its words and its files."""
    manifest = read_manifest(files)
    words = find_command(manifest, files)
    return Entry(
        label=label if manifest.label is None else manifest.label,
        target=target,
        sha256=hash_command(manifest.run, files, []),
        source=make_archive(files, MANIFEST),
        command=words,
        needs=check_needs(target, manifest.needs),
        program=find_version(words, files),
    )


def read_archived(path: Path, waiting: Callable[[], None]) -> bytes:
    """Return the archive of a folder or zip that is a bot, or of a program with what it has built.

    `waiting` is called while it is built. Raises InputError, which names the path.
    """
    with naming(path):
        files = read_bot(path, waiting)
        return make_archive(files, MANIFEST if MANIFEST in files else find_main(files))


def _of_code(code: Code) -> Entry:
    """Return the entry of a class or function."""
    sha256 = hash_source(code.source, BOTS)
    place = f"_arena_bot_{code.name}_{sha256[:12]}", f"<{code.name}>"
    return Entry("", f"{OBJECT}{code.name}", "process", *place, sha256, code.source)


def _of_command(target: str, needs: Sequence[str]) -> Entry:
    """Return the entry of a command; its hash covers its words and its files."""
    try:
        words = shlex.split(target.removeprefix(COMMAND))
    except ValueError as error:
        raise InputError(str(error)) from None
    if not words:
        raise InputError("the command is empty")
    if shutil.which(words[0]) is None:
        raise InputError(f"{words[0]}: {why_no_program(words)}")
    copied = copy_command(words, needs)
    files = copied.files
    return Entry(
        label="",
        target=target,
        sha256=hash_command(words, files, copied.stays),
        source=make_archive(files, next(iter(files))) if files else None,
        command=copied.words,
        home=copied.home,
        program=find_version(copied.words, files),
        note=copied.note,
    )


def _of_address(target: str, params: dict[str, Any]) -> Entry:
    """Return the entry of a bot that lives elsewhere; its hash covers its address and version."""
    url, version, sha256 = hook("find_bot")(target, params)
    return Entry(
        label="", target=url, lane="remote", sha256=sha256, command=(url,), program=version
    )


def _names() -> list[str]:
    return sorted(path.stem for path in BOTS.glob("[!_]*.py"))


def summarize(path: Path) -> str:
    """Return the first line of the docstring of a module, which is not parsed."""
    try:
        found = _DOCSTRING.match(read_file(path, MOST_SOURCE))
    except InputError as error:
        return f"(cannot be read: {error})"
    return found[2].decode(errors="replace") if found else ""


def _locate(target: str) -> Location:
    """Return the location of a `package.module`, or of an entry point's module."""
    if target.startswith(OBJECT):
        what = "a class or function of a Python program"
        raise InputError(f"{what}, which only a program can pass to the arena")
    named = {point.name: point.value.partition(":")[0] for point in entry_points()}
    module = named.get(target, target)
    if "." not in target and module == target:
        import difflib  # here: it takes 13 ms, and few specs are wrong

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
