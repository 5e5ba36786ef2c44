"""Data of `arena check`: its order, its items, and for how many games they are valid.

An item is one requirement on a bot, such as that it plays legally or gives the same game for the
same seed, with its result and the evidence.

The limits are numbers of games, not seconds, so that a busy machine changes no verdict.

A leak is memory, processes, threads or open files that stay after a game; they are measured from
outside, between games. The limits are those of the process. A bot that releases in `close()` what
it has opened reaches none of them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import msgspec

from arena.check import GAMES
from arena.entries.spec import Lane
from arena.errors import InputError, escape
from arena.lanes.bubblewrap import find_bubblewrap
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.lanes.meter import Held
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


NAME = "growth"
_LEAST = 12  # games of a process, the first third may fill caches
_SOON = 2_000  # games: a leak that reaches its limit only later may be a cache


_NAMES = ("MB", "process", "thread", "open file")


class Growth:
    """What one process of a bot, with its descendants, held after each number of games."""

    def __init__(self) -> None:
        self.pid: int | None = None
        self.seen: list[tuple[int, Held]] = []

    def add(self, pid: int | None, games: int, kept: Held) -> None:
        """Add what is held after `games` more games; for a new process, begin again."""
        if pid != self.pid:
            self.pid, self.seen = pid, []
        before = self.seen[-1][0] if self.seen else 0
        self.seen.append((before + games, kept))

    def rates(self) -> Held | None:
        """Return the leak per game: the smaller of the rates in the second and the last third.

        So neither caches that are filled at first count, nor something that is kept only once. None
        after too few games.

        >>> growth = Growth()
        >>> for games in range(1, 13):
        ...     growth.add(1, 1, Held(memory=20.0 + 2 * games, files=min(games, 8)))
        >>> growth.rates()
        Held(memory=2.0, processes=0.0, threads=0.0, files=0.0)
        """
        last = self.seen[-1][0] if self.seen else 0
        if last < _LEAST:
            return None
        places = [next(one for one in self.seen if 3 * one[0] >= n * last) for n in (1, 2, 3)]
        rates = []
        for (start, before), (end, after) in pairwise(places):
            if start == end:
                return None
            rates.append([(b - a) / (end - start) for a, b in zip(before, after, strict=True)])
        return Held(*(max(0.0, min(two)) for two in zip(*rates, strict=True)))


def check_growth(growths: Iterable[Growth], most: Held) -> Item:
    """Return the item about the leak that reaches its limit in `most` first, if there is a leak."""
    found = [(growth, rates) for growth in growths if (rates := growth.rates())]
    if not found:
        return Item(NAME, "none", f"not measured: a process has to play {_LEAST} games")
    ends = []
    for growth, rates in found:
        games, kept = growth.seen[-1]
        for part, rate in enumerate(rates):
            if rate > 0 and most[part]:
                left = max(0.0, most[part] - kept[part])
                ends.append((games + left / rate, part, rate))
    after, part, rate = min(ends, default=(_SOON + 1.0, 0, 0.0))
    if after > _SOON:
        return Item(NAME, "ok", "nothing is kept of a game")
    message = f"keeps {_amount(rate, _NAMES[part])} a game: out of {Held._fields[part]} after about"
    return Item(
        NAME,
        "warn",
        f"{message} {float(f'{after:.2g}'):,.0f} games (release it in `close()`)",
        figures={"kept": Held._fields[part], "a_game": round(rate, 3), "games": round(after)},
    )


def _amount(rate: float, name: str) -> str:
    plural = "" if rate == 1 or name == "MB" else "es" if name.endswith("s") else "s"
    return f"{rate:.2g} {name}{plural}"
