"""Data of `arena check`: the order (bot, lane, games, limits), and the items of the report.

An item is one requirement on a bot, such as that it plays legally or gives the same game for the
same seed, with its result and the evidence.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import msgspec

from arena.check.extent import GAMES
from arena.entries.lane import Lane
from arena.errors import InputError, escape
from arena.lanes.bubblewrap import find_bubblewrap
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.tournament.keys import HERE, Venue

Status: TypeAlias = Literal["ok", "fail", "warn", "none"]

NAMES = (
    "imports",
    "binds bot",
    "parameters",
    "lane inproc",
    "lane process",
    "lane jail",
    "lanes agree",
    "same seed",
    "rules variants",
    "hidden cards",
    "global random",
    "leaves nothing",
    "time",
    "memory",
    "growth",
    "size",
    "rating",
)
"""Every item, in the order of the report."""

NOT_JAILED = "not jailed: a bot can write this report itself"
_SIGNS = {"ok": "ok", "fail": "FAIL", "warn": "warn", "none": "--"}
_WIDTH = 80
_WORDS = re.compile(r"""(?:\$'(?:\\.|[^\\'])*'|'[^']*'|"[^"]*"|[^\s'"])+""")
"""Finds the words of a shell command, with their quotes."""
_INDENT = " " * 21
_MOST_EVIDENCE = 3  # lines


class Order(msgspec.Struct, frozen=True):
    """What to check: the bot's spec, its lane, games in each lane, seed, limits and venue."""

    spec: str
    lane: Lane
    games: int = GAMES
    seed: int = 0
    limits: Limits = Limits()
    venue: Venue = HERE

    @property
    def jailed(self) -> bool:
        """Whether the bot is confined, and so cannot reach the process that judges it."""
        return self.lane == "jail"


def safest_lane() -> Lane:
    """Return the lane `jail` if bubblewrap works on this machine, else the lane `process`."""
    try:
        find_bubblewrap()
    except InputError:
        return "process"
    return "jail"


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of one requirement; its status is `none` if not tried or not available.

    `kind` is the kind of the fault that caused a failure; `evidence` holds lines of a traceback or
    of output; `command` plays the game again.
    """

    name: str
    status: Status
    message: str
    kind: str = ""
    evidence: tuple[str, ...] = ()
    command: str = ""
    figures: dict[str, Any] = {}


def fail(name: str, fault: Fault, where: str = "", command: str = "") -> Item:
    """Return a failed item about a fault, with the end of its traceback and output."""
    evidence = [
        line
        for text in (fault.traceback, fault.output)
        for line in text.strip().splitlines()[-_MOST_EVIDENCE:]
        if line.strip() not in fault.message
    ]
    what = f"{fault.kind} {where}".strip()
    message = f"{what}: {fault.message or 'no answer in time'}"
    return Item(name, "fail", message, fault.kind, tuple(evidence), command)


def to_data(item: Item) -> dict[str, Any]:
    """Return an item as plain data: name, status, message, and other fields that are not empty.

    >>> to_data(Item("size", "ok", "2 lines", figures={"lines": 2}))
    {'name': 'size', 'status': 'ok', 'message': '2 lines', 'figures': {'lines': 2}}
    """
    data: dict[str, Any] = msgspec.to_builtins(item)
    return data


def format_item(item: Item) -> Iterator[str]:
    """Yield an item's lines for a terminal of 80 columns, with the evidence below.

    >>> for line in format_item(Item("time", "warn", "slow", command="arena game greedy uniform")):
    ...     print(line)
    warn time            slow
                         $ arena game greedy uniform
    """
    yield from textwrap.wrap(
        escape(f"{_SIGNS[item.status]:<4} {item.name:<15} {item.message}"),
        _WIDTH,
        subsequent_indent=_INDENT,
        break_on_hyphens=False,
    )
    for text in item.evidence:
        yield escape(f"{_INDENT}| {text}")[:_WIDTH]
    if item.command:
        yield from _fold(item.command)


def _fold(command: str) -> Iterator[str]:
    """Break a command into lines between words, ended by \\ so that a shell joins them."""
    line = f"{_INDENT}$"
    for word in _WORDS.findall(command):
        if len(line) + len(word) + 3 > _WIDTH and not line.endswith("$"):
            yield f"{line} \\"
            line = f"{_INDENT} "
        line += f" {word}"
    yield line
