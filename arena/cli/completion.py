"""Complete the names of bots, configs, runs and files of records after a tab in a shell.

A shell asks for it through click (`_ARENA_COMPLETE=bash_source arena`). What cannot be read is
not offered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

import click
from click.shell_completion import CompletionItem

_MOST = 200  # words that are offered
_MOST_LOOKED_AT = 5000  # files and folders
_DEPTH = 2  # folders below the one that is typed
_STORE = "run.sqlite"

_Wanted = Callable[[Path], bool]


def complete_bots(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> Sequence[CompletionItem]:
    """Offer the names of bots and Python files, after `label=` too."""
    from arena.entries.catalogue import names

    label, equals, word = typed.rpartition("=")
    offered = [name for name in names() if name.startswith(word)]
    if not word or word.startswith((".", "/", "~")) or "/" in word:
        offered += _paths(word, _is_bot, "./")
    return _items(f"{label}{equals}{word}" for word in offered)


def complete_configs(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> Sequence[CompletionItem]:
    """Offer the configs that ship, and YAML files."""
    from arena.tournament.shipped import shipped

    names = [name for name in shipped() if name.startswith(typed)]
    return _items(chain(names, _paths(typed, lambda path: path.suffix in (".yaml", ".yml"))))


def complete_rules(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> Sequence[CompletionItem]:
    """Offer the names of the rules, with the sign of equality."""
    from engine.rules import RULE_NAMES

    before, plus, word = typed.rpartition("+")
    return _items(f"{before}{plus}{name}=" for name in RULE_NAMES if name.startswith(word))


def complete_restrictions(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> Sequence[CompletionItem]:
    """Offer the names of the restrictions."""
    from arena.entries.restrictions import RESTRICTIONS

    return _items(name for name in RESTRICTIONS if name.startswith(typed))


def complete_runs(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> Sequence[CompletionItem]:
    """Offer the folders of runs."""
    return _items(_paths(typed, _is_run))


def complete_records(
    context: click.Context, _parameter: click.Parameter, typed: str
) -> Sequence[CompletionItem]:
    """Offer files of records, and where a run can be shown the folders of runs."""
    runs = context.info_name in ("show", "view")
    return _items(_paths(typed, lambda path: path.suffix == ".jsonl" or (runs and _is_run(path))))


def _is_bot(path: Path) -> bool:
    if path.is_dir():
        return (path / "bot.py").is_file()
    return path.suffix == ".py" and not path.name.startswith(("test_", "__"))


def _is_run(path: Path) -> bool:
    return (path / _STORE).is_file()


def _items(words: Iterable[str]) -> list[CompletionItem]:
    """Return the items of some words; a line of the answer holds no control character."""
    printable = (word for word in words if word.isprintable())
    return [CompletionItem(word) for word in islice(printable, _MOST)]


def _paths(typed: str, is_wanted: _Wanted, start: str = "") -> Iterator[str]:
    """Yield the paths that begin as typed and are wanted, the nearest first.

    One without a folder begins with `start`.
    """
    folder, slash, begun = typed.rpartition("/")
    top = Path(os.path.expanduser(folder + slash) or ".")
    looked = 0
    folders = [(top, folder + slash or start)]
    for depth in range(_DEPTH + 1):
        below = []
        for place, prefix in folders:
            for path in _list(place):
                looked += 1
                if looked > _MOST_LOOKED_AT:
                    return
                if path.name.startswith(".") or (not depth and not path.name.startswith(begun)):
                    continue
                with suppress(OSError):  # it cannot be looked into
                    if is_wanted(path):
                        yield prefix + path.name
                    elif path.is_dir() and not path.is_symlink():
                        below.append((path, f"{prefix}{path.name}/"))
        folders = below


def _list(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
