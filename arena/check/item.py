"""Define the order and the items of a check, and write an item for a terminal.

An item is one requirement on a bot, such as that it plays legally or gives the same game for the
same seed, with its result and the evidence.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias

import msgspec

from arena.check import GAMES
from arena.entries.spec import Lane
from arena.errors import InputError, escape
from arena.lanes.faults import Fault
from arena.lanes.jail_support import find_bubblewrap
from arena.lanes.limits import Limits
from arena.tournament.config_keys import HERE, Venue

Status: TypeAlias = Literal["ok", "fail", "warn", "none"]

NAMES = (
    *("imports", "binds bot", "parameters"),
    *("lane process", "lane jail", "time"),
    *("same seed", "lane inproc", "hidden cards", "rules variants"),
    "rating",
)
"""Every item, in the order of the report."""

NOT_JAILED = "not jailed: a bot can write this report itself"
_SIGNS = {"ok": "ok", "fail": "FAIL", "warn": "warn", "none": "--"}
_WIDTH = 80
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
        """Whether the bot is confined, and so cannot reach the program that judges it."""
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


def complete(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items in the order of the report, with a placeholder for each that was not tried."""
    names = iter(NAMES)
    for item in items:
        for name in names:
            if name == item.name:
                break
            yield Item(name, "none", "not tried")
        yield item
    for name in names:
        yield Item(name, "none", "not tried")


def to_data(item: Item) -> dict[str, Any]:
    """Return an item as plain data: name, status, message, and other fields that are not empty.

    >>> to_data(Item("size", "ok", "2 lines", figures={"lines": 2}))
    {'name': 'size', 'status': 'ok', 'message': '2 lines', 'figures': {'lines': 2}}
    """
    data: dict[str, Any] = msgspec.to_builtins(item)
    return data


def format_item(item: Item) -> Iterator[str]:
    """Yield an item's lines for a terminal of 80 columns, with the evidence below.

    The command is one line, however long it is.

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
        yield f"{_INDENT}$ {item.command}"
