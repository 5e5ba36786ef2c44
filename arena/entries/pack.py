"""Pack a bot with its further files into one Python file, and read such files."""

from __future__ import annotations

import base64
import io
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.entries.archive import MAGIC, MOST_FILES
from arena.entries.file import MOST_SOURCE, find_files, find_main, read_files, replacing
from arena.entries.syntax import find_syntax_errors
from arena.errors import InputError, escape, naming

PACKED = ".bot"
"""The ending of a packed program, which is played as it is and never built again."""

MOST_PACKED = 64 << 20
"""The most bytes of a file that `arena pack` writes."""

_MARK = b"# A bot with its files, written by `arena pack`.\n"
_ANY_MARK = _MARK.rstrip(b".\n")  # the common prefix of the marks of all formats
_BEGIN = b'FILES = """\n'
_END = b'"""\n'
_PERMISSIONS = 0o644 << 16
_SYSTEM = 3  # Unix, whatever the system: the same bytes everywhere

_TEXT = """\
{mark}{files}
import base64

{imports}from arena.entries.archive import load

{begin}{data}{end}
bot = load(f"_{{__name__}}", __file__, base64.b64decode(FILES)).bot
"""


def gather(bot: Path, others: Sequence[Path]) -> tuple[dict[str, bytes], str]:
    """Return the files of a bot to pack, by name, and the name of the file that defines `bot`.

    The bot is a Python file or a folder. Files below the bot's folder keep their relative paths;
    others are placed beside the bot. Raises InputError for files that cannot be packed.
    """
    if os.path.isdir(bot):
        paths, home = _paths(bot, ""), bot
        with naming(bot):
            main = find_main(paths)
    else:
        main, home = bot.name, bot.parent
        paths = {main: bot}
    for other in others:
        for name, path in _paths(other, _name_beside(other, home)).items():
            if name in paths and not paths[name].samefile(path):
                raise InputError(f"two files would be {name}: {paths[name]} and {path}")
            paths[name] = path
    if not main.endswith(".py"):
        raise InputError(f"{bot}: neither a folder nor a .py file")
    if "." in main.removesuffix(".py"):
        raise InputError(f"{bot}: a module has no dot in its name; rename it")
    if len(paths) > MOST_FILES:
        raise InputError(f"{bot}: more than {MOST_FILES:,} files")
    files = read_files(paths, bot)
    if files[main].startswith(_ANY_MARK):
        raise InputError(f"{bot}: packed already; pack what it was made of")
    code = {str(paths[name]): code for name, code in files.items() if name.endswith(".py")}
    for place, error in find_syntax_errors(code).items():
        raise InputError(f"{place}: {error}")
    return files, main


def _paths(place: Path, name: str) -> dict[str, Path]:
    """Return a file under this name, or the files of a folder with the name as prefix."""
    if not os.path.isdir(place):
        return {name: place}
    with naming(place):
        return {os.path.join(name, below): path for below, path in find_files(place).items()}


def _name_beside(place: Path, home: Path) -> str:
    """Return a path's name in the archive: relative to the bot's folder, or else its last part."""
    name = os.path.relpath(place, home)
    return os.path.basename(os.path.abspath(place)) if name.startswith(os.pardir) else name


def make_archive(files: Mapping[str, bytes], main: str) -> bytes:
    """Return the archive of a bot's files, `main` first; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in (main, *sorted(files.keys() - {main})):
            item = zipfile.ZipInfo(name)  # dated 1980: independent of the clock
            item.create_system = _SYSTEM
            item.external_attr = _PERMISSIONS
            archive.writestr(item, files[name])
    return buffer.getvalue()


def write_packed(files: Mapping[str, bytes], main: str, imported: list[str]) -> bytes:
    """Return the packed bot: one Python file with all its files, and the bots that it imports.

    The arena plays it as a bot, and Python can import it if the arena is installed. Raises
    InputError if it is larger than `MOST_PACKED` bytes.
    """
    archive = make_archive(files, main)
    listed = [f"#   {escape(name)}  {len(files[name]):,} bytes\n" for name in sorted(files)]
    text = _TEXT.format(
        mark=_MARK.decode(),
        files="".join(listed),
        imports="".join(f"import bots.{name}\n" for name in imported),
        begin=_BEGIN.decode(),
        data=base64.encodebytes(archive).decode(),
        end=_END.decode(),
    ).encode()
    if len(text) > MOST_PACKED:
        raise InputError(f"the packed file would be larger than {MOST_PACKED:,} bytes")
    return text


def write_file(path: Path, content: bytes, inputs: Sequence[Path], *, force: bool) -> bool:
    """Write a packed file, and return whether it replaced another one.

    Raises InputError if the file exists and `force` is false, if it is one of the inputs or in a
    folder among them, if its name has not the ending of its kind, and if no file can be written
    at this path.
    """
    ending = PACKED if content.startswith(MAGIC) else ".py"
    real = os.path.realpath(path)
    for one in inputs:
        if Path(real).is_relative_to(os.path.realpath(one)):
            raise InputError(f"{path}: it would be a part of the bot itself")
    there = os.path.lexists(path)
    if there and not (force and os.path.isfile(path)):
        how = "--force replaces it" if os.path.isfile(path) else "it is not a file"
        raise InputError(f"{path}: exists already; {how}")
    if path.suffix != ending:
        kind = "packed program" if ending == PACKED else "bot's file"
        raise InputError(f"{path}: a {kind} ends in {ending}")
    with naming(path, OSError), replacing(Path(real)) as part:
        part.write_bytes(content)
    return there


def read_packed(source: bytes) -> tuple[bytes, bytes] | None:
    """Return the text before the files, and the archive, of a packed bot; None for other sources.

    The content of the archive is not checked here. Raises InputError for a file that begins like
    a packed bot but is damaged.
    """
    if not source.startswith(_ANY_MARK):
        return None
    if not source.startswith(_MARK):
        raise InputError("packed by a later version of the arena: update it")
    head, begin, rest = source.partition(_BEGIN)
    data, end, _ = rest.partition(_END)
    if not begin or not end or len(head) > MOST_SOURCE or re.search(rb"[^A-Za-z0-9+/=\n]", data):
        raise InputError("not as `arena pack` has written it")
    try:
        archive = base64.b64decode(data)
    except ValueError as error:
        raise InputError(f"not as `arena pack` has written it: {error}") from None
    if not archive.startswith(MAGIC):
        raise InputError("not as `arena pack` has written it: it holds no archive")
    return head, archive
