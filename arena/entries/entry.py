"""One bot of a tournament as data that can be sent to another process or machine."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from arena.entries.archive import checked_strategy, load_bot
from arena.entries.restrictions import RESTRICTIONS, Restricted
from arena.entries.spec import OBJECT, write
from arena.errors import InputError
from engine import Setup, Strategy, View

HELD = b"# a class or function of the process that called the library\n"


@dataclass(frozen=True)
class Entry:
    """One bot: a unique label, where its source is, its parameters and its lane.

    A bot that is one file travels with its `source`, so that every worker plays what was
    hashed. A `command` has no source. `path` holds folders from which the bot's module is
    imported. `needs` are further files and folders that it may read in the lane jail.
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
    needs: tuple[str, ...] = ()
    restriction: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether it is one of the bots in `bots/`."""
        return self.module.startswith("bots.")

    @property
    def is_code(self) -> bool:
        """Whether it is a class or function of a program."""
        return self.target.startswith(OBJECT)

    @property
    def is_held(self) -> bool:
        """Whether only the process that called the library can play it: its source is lost."""
        return self.source is not None and self.source.startswith(HELD)

    @property
    def spec(self) -> str:
        """The spec that resolves to this bot, without its label."""
        return write(self.target, self.params)

    def load(self) -> Any:
        """Return what the bot's module binds to `bot`.

        Runs the bot's code, once a process, and raises whatever that raises.
        """
        sys.path += [folder for folder in self.path if folder not in sys.path]
        return load_bot(self.module, self.filename, self.source)

    def create(self, setup: Setup) -> Strategy:
        """Return a new strategy for one game; raises whatever the bot raises."""
        params = deepcopy(self.params) if self.params else {}  # a bot may change a list
        strategy: Strategy = checked_strategy(self.load()(setup, **params))
        return Restricted(strategy, self.narrow) if self.restriction else strategy

    def narrow(self, view: View) -> View:
        """Return the view that the bot gets of a view of its seat."""
        return RESTRICTIONS[self.restriction].narrow(view) if self.restriction else view

    def describe(self) -> dict[str, Any]:
        """Return the bot's identity as plain data."""
        described = {
            "label": self.label,
            "bot": self.target,
            "params": self.params,
            "lane": self.lane,
            "sha256": self.sha256,
        }
        more = {"needs": [*self.needs], "restriction": self.restriction}
        return described | {name: value for name, value in more.items() if value}


def check_labels(entries: Iterable[Entry]) -> None:
    """Raise InputError if two bots have one label; bots are counted from 1."""
    numbers: dict[str, int] = {}
    for number, entry in enumerate(entries, 1):
        first = numbers.setdefault(entry.label, number)
        if first != number:
            raise InputError(
                f"bots {first} and {number} have the same label {entry.label!r}; "
                f"name one of them, as in other={entry.target}"
            )
