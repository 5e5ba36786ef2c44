"""Write the file of a new bot and its test, from a template."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from contextlib import suppress
from pathlib import Path

from arena.entries.resolve import installed
from arena.errors import InputError

_TEMPLATE = Path(__file__).parent / "template"
_NAMED = re.compile("my_bot|MyBot")
_TAKEN = ("Action", "Kind", "Setup", "View")
_MOST_NAME = 40


def write_draft(name: str, folder: Path) -> tuple[Path, Path]:
    """Write `name.py` and `test_name.py` into a folder, and return their paths.

    Raises InputError, before anything is written, for an invalid name, and if one of the files
    exists.
    """
    _check(name)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; make it first")
    names = {"my_bot": name, "MyBot": class_name(name)}
    written: list[Path] = []
    try:
        for template in ("my_bot.py", "test_my_bot.py"):
            text = (_TEMPLATE / template).read_text(encoding="utf-8")
            path = folder / template.replace("my_bot", name)
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(_NAMED.sub(lambda match: names[match[0]], text))
    except OSError as error:
        for file_written in written:
            with suppress(OSError):
                file_written.unlink()
        exists = isinstance(error, FileExistsError)
        reason = "exists already, and is not changed" if exists else error.strerror
        raise InputError(f"{path}: {reason}") from None
    bot, test = written
    return bot, test


def class_name(name: str) -> str:
    """Return the class name for a bot's name.

    >>> class_name("my_first_bot"), class_name("view")
    ('MyFirstBot', 'ViewBot')
    """
    words = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    return f"{words}Bot" if words in _TAKEN else words


def _check(name: str) -> None:
    """Raise InputError for a name that Python could not import as a new module."""
    folder, slash, own = name.rpartition("/")
    if slash and _is_identifier(own):
        raise InputError(
            f"name {name!a}: a name and no path; for another folder: "
            f"arena new {own} --dir {folder or slash}"
        )
    if not _is_identifier(name):
        stem = name.removesuffix(".py")
        how = (
            "a word of Python; choose another one"
            if keyword.iskeyword(name)
            else (
                "not a plain name of Python; use A-Z a-z 0-9 and _, as in "
                f"{stem if _is_identifier(stem) else 'my_bot'}"
            )
        )
        raise InputError(f"name {name!a}: {how}")
    if len(name) > _MOST_NAME:
        raise InputError(f"name {name!a}: longer than {_MOST_NAME} characters")
    if name in dict(installed()):
        raise InputError(f"name {name!a}: a bot in bots/ has this name; choose another one")
    if name in sys.stdlib_module_names or _is_installed(name):
        raise InputError(f"name {name!a}: a Python module has this name; choose another one")


def _is_identifier(name: str) -> bool:
    return bool(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name)) and not keyword.iskeyword(name)


def _is_installed(name: str) -> bool:
    """Return whether importing this name finds a module outside the current folder."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return False
    return Path(spec.origin).parent.resolve() != Path.cwd()
