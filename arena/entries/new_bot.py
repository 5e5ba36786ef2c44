"""Write the files of a new bot: a draft with its test, or what wraps another bot."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from arena.entries.entry import Entry
from arena.entries.loader import MAGIC, make_archive, read_archive
from arena.entries.read_bot import ZIP
from arena.entries.resolve import installed
from arena.errors import InputError, naming

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
    bot, test = paths = folder / f"{name}.py", folder / f"test_{name}.py"
    for path in paths:
        if path.exists():
            raise InputError(f"{path}: exists already, and is not changed")
    names = {"my_bot": name, "MyBot": class_name(name)}
    for path, template in zip(paths, ("my_bot.py", "test_my_bot.py"), strict=True):
        text = (_TEMPLATE / template).read_text(encoding="utf-8")
        with naming(path, OSError), path.open("x", encoding="utf-8") as file:
            file.write(_NAMED.sub(lambda match: names[match[0]], text))
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
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        how = "use A-Z a-z 0-9 and _, and no word of Python; --dir names another folder"
        raise InputError(f"name {name!a}: not a plain name, as my_bot is: {how}")
    if len(name) > _MOST_NAME:
        raise InputError(f"name {name!a}: longer than {_MOST_NAME} characters")
    if name in dict(installed()):
        raise InputError(f"name {name!a}: a bot in bots/ has this name; choose another one")
    if name in sys.stdlib_module_names or _is_installed(name):
        raise InputError(f"name {name!a}: a Python module has this name; choose another one")


def _is_installed(name: str) -> bool:
    """Return whether importing this name finds a module outside the current folder."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return False
    return Path(spec.origin).parent.resolve() != Path.cwd()


MAIN: Final = "bot.py"
INNER: Final = "victim.py"
"""The files of a bot that wraps another one, and of that one."""


def wrap(victim: Entry, text: str, imported: str, **words: Any) -> bytes:
    """Return the source of a bot that imports another one, or a zip of it and that bot's files."""
    if victim.source is None or victim.is_ours:
        return _fill(text, victim, (victim.module, imported), words)
    files, main = {"": victim.source}, ""
    if victim.source.startswith(MAGIC):
        files = read_archive(victim.source)
        main = next(iter(files))
    source = files.pop(main)
    for name in (MAIN, INNER):
        if name in files:
            raise InputError(f"bot {victim.target!r}: it has a file {name}; rename that one")
    files[main if main == "__init__.py" else INNER] = source
    module = "." if main == "__init__.py" else ".victim"
    files[MAIN] = _fill(text, victim, (module, imported), words)
    return make_archive(files, MAIN)


def ending_of(content: bytes) -> str:
    """Return the ending of the file of what `wrap` returns.

    >>> ending_of(b"bot = 1")
    '.py'
    """
    return ZIP if content.startswith(MAGIC) else ".py"


def plain_label(label: str) -> str:
    """Return a label as it can stand in a docstring."""
    return label.replace('"', "'").replace("\\", "/")


def _fill(text: str, victim: Entry, needed: tuple[str, str], words: Mapping[str, Any]) -> bytes:
    """Return the source of a bot that imports another one from a module, and something else."""
    module, more = needed
    imports = [f"from {module} import bot as victim", more]
    imports = [*sorted(imports), "from engine import Setup, Strategy"]
    made = "victim"
    if victim.params:
        imports.insert(0, "from functools import partial\n")
        made = f"partial(victim, **{victim.params!r})"
    filled = {"label": plain_label(victim.label), "imports": "\n".join(imports), "victim": made}
    return text.format(**filled, **words).encode()
