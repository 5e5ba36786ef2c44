"""One bot of a tournament as data that can be sent to another process or machine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from arena.entries.identity import COPY
from arena.entries.layout import Layout, own_folder, shared
from arena.entries.loader import (
    MAGIC,
    checked_strategy,
    load_bot,
    load_source,
    name_of_first,
    read_archive,
)
from arena.entries.spec import OBJECT, write
from arena.errors import InputError
from engine import Setup, Strategy

Identity: TypeAlias = tuple[str, str]
"""The sha256 of a bot's source, and its parameters."""

_here: dict[str, Layout] = {}  # files of the bots that this process has loaded, by module
HELD = b"# a class or function of the process that called the library\n"


@dataclass(frozen=True)
class Entry:
    """One bot: its unique label, the place of its source, its parameters and its lane.

    A bot that is a file, a folder or a command carries its `source`, a text or an archive of
    files, so that every worker plays exactly what was hashed; it runs from a copy of the source
    (`layout`). `path` lists the folders from which the bot's module is imported. `needs` are
    further files and folders that it may read in the lane jail. The files of a command come from
    the folder `home`; `program` is the version of its interpreter, and `note` is the reason if not
    the whole folder is copied. A bot that lives elsewhere has its address as command, and as
    program the version that it says.
    """

    label: str
    target: str
    lane: str = "process"
    module: str = ""
    filename: str = ""
    sha256: str = ""
    source: bytes | None = None
    params: dict[str, Any] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    home: str = ""
    program: str = ""
    note: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether it is one of the bots in `bots/`."""
        return self.module.startswith("bots.")

    @property
    def is_code(self) -> bool:
        """Whether it is a class or function of a program that calls the library."""
        return self.target.startswith(OBJECT)

    @property
    def is_held(self) -> bool:
        """Whether only the calling process can play it, because its source is not available."""
        return self.source is not None and self.source.startswith(HELD)

    @property
    def identity(self) -> Identity:
        """The identity: two entries with equal ones are the same bot under any label and lane."""
        return self.sha256, json.dumps(self.params, sort_keys=True)

    @property
    def spec(self) -> str:
        """The spec that resolves to this bot, without its label."""
        return write(self.target, self.params)

    @property
    def is_archive(self) -> bool:
        """Whether its source is an archive of files."""
        return self.source is not None and self.source.startswith(MAGIC)

    def layout(self, folder: Path) -> Layout | None:
        """Return the layout that copies the bot's files into a folder; None if it carries none."""
        if self.source is None:
            return None
        made = Layout(folder, self.label, self.files, programs=bool(self.command))
        return shared(made, (self.sha256, self.filename, self.needs))

    def files(self) -> dict[str, bytes]:
        """Return the files that the bot carries, by their paths in the copy."""
        if self.source is None:
            return {}
        if self.command:
            return read_archive(self.source)
        if not self.is_archive:
            return {self._top: self.source}
        return {f"{self._top}/{name}": data for name, data in read_archive(self.source).items()}

    @property
    def _top(self) -> str:
        """The name of the bot's file or folder in the copy, as tracebacks show it."""
        return self.filename if self.is_ours else os.path.basename(self.filename)

    def main(self, folder: Path | str) -> tuple[str | None, str]:
        """Return the file that defines `bot`, and the folder of the modules that it may import.

        `folder` holds the copy of its files. The file is None if the bot is imported by name, and
        the folder is empty for a bot of one file.
        """
        if self.source is None:
            return None, ""
        top = os.path.join(folder, self._top)
        if not self.is_archive:
            return top, ""
        return os.path.join(top, name_of_first(self.source)), top

    def at(self, folder: Path | str) -> Entry:
        """Return the bot with its command's paths adapted to this folder of its files."""
        words = (word.replace(COPY, f"{folder}/", 1) for word in self.command)
        return replace(self, command=tuple(words))

    def load(self) -> Any:
        """Load the bot's module, and return its `bot`.

        Runs the bot's code, once in each process, and raises whatever that raises.
        """
        sys.path += [folder for folder in self.path if folder not in sys.path]
        if self.source is not None and self.is_ours:
            return load_source(self.module, self.filename, self.source)
        layout = _here.get(self.module)
        if layout is None and (layout := self.layout(own_folder())):
            layout.renew()
            _here[self.module] = layout
        return load_bot(self.module, self.filename, *self.main(layout.folder if layout else ""))

    def create(self, setup: Setup) -> Strategy:
        """Return a new strategy for one game; raises whatever the bot raises."""
        params = deepcopy(self.params) if self.params else {}  # a bot may change a list in them
        strategy: Strategy = checked_strategy(self.load()(setup, **params))
        return strategy

    def describe(self) -> dict[str, Any]:
        """Return the bot's identity as plain data."""
        described = {
            "label": self.label,
            "bot": self.target,
            "params": self.params,
            "lane": self.lane,
            "sha256": self.sha256,
        }
        more = {"needs": [*self.needs], "program": self.program}
        return described | {name: value for name, value in more.items() if value}


def check_labels(entries: Iterable[Entry]) -> None:
    """Raise InputError if two bots have the same label; messages number the bots from 1."""
    numbers: dict[str, int] = {}
    for number, entry in enumerate(entries, 1):
        first = numbers.setdefault(entry.label, number)
        if first != number:
            what = f"bots {first} and {number} have the same label {entry.label!r}"
            raise InputError(f"{what}; name one of them, as in other={entry.target}")
