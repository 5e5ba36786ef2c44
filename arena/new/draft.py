"""Draft: the file of a new bot and its test, from a template that plays."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from contextlib import suppress
from pathlib import Path

from arena.entries.entry import installed
from arena.errors import InputError

_TEMPLATE = Path(__file__).parent / "template"
_NAMED = re.compile("my_bot|MyBot")
_TAKEN = ("Action", "Kind", "Setup", "View")
_MOST_NAME = 40


def write(name: str, folder: Path) -> tuple[Path, Path]:
    """Write `name.py` and `test_name.py` into a folder, and return where they are.

    Raises InputError, with nothing written, for a name that cannot be a bot's, and where
    one of the files is there already.
    """
    _check(name)
    names = {"my_bot": name, "MyBot": class_name(name)}
    written: list[Path] = []
    try:
        for template in ("my_bot.py", "test_my_bot.py"):
            text = (_TEMPLATE / template).read_text(encoding="utf-8")
            path = folder / template.replace("my_bot", name)
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(_NAMED.sub(lambda found: names[found[0]], text))
    except OSError as error:
        for done in written:
            with suppress(OSError):
                done.unlink()
        there = isinstance(error, FileExistsError)
        why = "is there already, and stays as it is" if there else error.strerror
        raise InputError(f"{path}: {why}") from None
    bot, test = written
    return bot, test


def class_name(name: str) -> str:
    """Return the name of a bot's class.

    >>> class_name("my_first_bot"), class_name("view")
    ('MyFirstBot', 'ViewBot')
    """
    found = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    return f"{found}Bot" if found in _TAKEN else found


def _check(name: str) -> None:
    """Refuse what Python could not import as a module of its own."""
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        raise InputError(
            f"name {name!a}: a bot's name is a word of Python: letters, digits and _, as in my_bot"
        )
    if len(name) > _MOST_NAME:
        raise InputError(f"name {name!a}: longer than {_MOST_NAME} characters")
    if name in dict(installed()):
        raise InputError(f"name {name!a}: a bot of bots/ has it; choose another one")
    if name in sys.stdlib_module_names or _is_installed(name):
        raise InputError(f"name {name!a}: a module of Python has it; choose another one")


def _is_installed(name: str) -> bool:
    """Return whether an import of this name finds something that is not beside the bot."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        return False
    return Path(found.origin).parent.resolve() != Path.cwd()
