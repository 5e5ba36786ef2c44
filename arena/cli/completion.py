"""Tab completion in a shell for the names of bots, configs, runs and files of records.

The shell calls it through click (`_ARENA_COMPLETE=bash_source arena`). Files and folders that
cannot be read are not offered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from arena import addons

_MOST = 200  # completions offered
_MOST_LOOKED_AT = 5000  # files and folders
_DEPTH = 2  # levels of folders below the typed one
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
    """Offer the configs shipped with the arena, and YAML files."""
    from arena.tournament.yaml_text import shipped

    names = [name for name in shipped() if name.startswith(typed)]
    return _items(chain(names, _paths(typed, lambda path: path.suffix in (".yaml", ".yml"))))


def complete_rules(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> Sequence[CompletionItem]:
    """Offer the names of the rules, each followed by "="."""
    from engine.rules import RULE_NAMES

    before, plus, word = typed.rpartition("+")
    return _items(f"{before}{plus}{name}=" for name in RULE_NAMES if name.startswith(word))


def complete_restrictions(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> Sequence[CompletionItem]:
    """Offer the names of the restrictions."""
    names = addons.hook("name_restrictions")()
    return _items(name for name in names if name.startswith(typed))


def complete_runs(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> Sequence[CompletionItem]:
    """Offer the folders of runs."""
    return _items(_paths(typed, _is_run))


def complete_records(
    context: click.Context, _parameter: click.Parameter, typed: str
) -> Sequence[CompletionItem]:
    """Offer files of records, and folders of runs for commands that can show a run."""
    runs = context.info_name != "replay"
    return _items(_paths(typed, lambda path: path.suffix == ".jsonl" or (runs and _is_run(path))))


def _is_bot(path: Path) -> bool:
    if path.is_dir():
        return (path / "bot.py").is_file()
    return path.suffix == ".py" and not path.name.startswith(("test_", "__"))


def _is_run(path: Path) -> bool:
    return (path / _STORE).is_file()


def _items(words: Iterable[str]) -> list[CompletionItem]:
    """Return completion items for the words that have no control character."""
    printable = (word for word in words if word.isprintable())
    return [CompletionItem(word) for word in islice(printable, _MOST)]


def _paths(typed: str, is_wanted: _Wanted, start: str = "") -> Iterator[str]:
    """Yield the wanted paths that begin with the typed text, the nearest first.

    A typed path without a folder is looked up in `start`.
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
                with suppress(OSError):  # an unreadable folder
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
