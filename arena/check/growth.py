"""Find what a bot keeps of each game in its process, and after how many games that is too much.

It is looked at from outside, between games. The limits are those of the process; a bot that closes
what it has opened after each game (`close()`) reaches none of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import psutil

from arena.check.item import Item
from arena.lanes.cleanup import descendants
from arena.lanes.confine import MOST_OPEN
from arena.lanes.jail import most_processes
from arena.lanes.process import MOST_PROCESSES, BotProcess

NAME = "growth"
_LEAST = 12  # games of a process, of which the first third may fill caches
_SOON = 2_000  # games: what lasts for more of them may be a cache


class Kept(NamedTuple):
    """What a bot's processes have at one time, or keep of a game."""

    memory: float = 0.0  # MB
    processes: float = 0.0
    threads: float = 0.0
    files: float = 0.0


_NAMES = ("MB", "process", "thread", "open file")


def find_family(bot: BotProcess) -> list[psutil.Process]:
    """Return a bot's process and all below it."""
    if bot.pid is None:
        return []
    with suppress(psutil.Error):
        process = psutil.Process(bot.pid)
        return [process, *descendants(process)]
    return []


def find_inner(bot: BotProcess) -> list[psutil.Process]:
    """Return the processes of a bot that have a number of their own in a jail, by that number."""
    outside = len(read_numbers(os.getpid()))
    numbers = {process: read_numbers(process.pid) for process in find_family(bot)}
    inner = [process for process in numbers if len(numbers[process]) > outside]
    return sorted(inner, key=lambda process: numbers[process][-1])


def read_numbers(pid: int) -> list[int]:
    """Return the numbers of a process: one for each pid namespace that it is in."""
    return [int(number) for number in read_status(pid, "NSpid").split()]


def read_status(pid: int, name: str) -> str:
    """Return a field of a process, empty where there is none."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return line.partition(":")[2].strip()
    return ""


def look(bot: BotProcess) -> Kept:
    """Return what a bot's processes have, without those of the jail around them."""
    number = threads = files = 0
    resident, written = 0.0, 0.0
    for process in find_inner(bot)[1:] if bot.launch.contained else find_family(bot):
        number += 1
        threads += _number(process.pid, "Threads")
        resident += _number(process.pid, "RssAnon") / 1024
        written = max(written, _number(process.pid, "VmData") / 1024)
        with suppress(OSError):
            files = max(files, len(os.listdir(f"/proc/{process.pid}/fd")))
    return Kept(max(resident, written), number, threads, files)


def _number(pid: int, field: str) -> int:
    """Return a number that the kernel tells of a process; memory is in KiB."""
    return int((read_status(pid, field) or "0").split()[0])


def most_of(bot: BotProcess) -> Kept:
    """Return the limits of a bot's processes, 0 where there is none."""
    threads = most_processes(hosted=bot.launch.hosted) if bot.launch.jailed else 0
    return Kept(bot.limits.memory, MOST_PROCESSES, threads, MOST_OPEN)


class Growth:
    """What one process of a bot, with those below it, has had after so many games."""

    def __init__(self) -> None:
        self.pid: int | None = None
        self.seen: list[tuple[int, Kept]] = []

    def add(self, pid: int | None, games: int, kept: Kept) -> None:
        """Add what there is after so many further games; a new process begins again."""
        if pid != self.pid:
            self.pid, self.seen = pid, []
        before = self.seen[-1][0] if self.seen else 0
        self.seen.append((before + games, kept))

    def rates(self) -> Kept | None:
        """Return what is kept of a game: the smaller of the rates of the last two thirds.

        So what is filled at first does not count, and what is kept only once does not either.
        None for too few games.

        >>> growth = Growth()
        >>> for games in range(1, 13):
        ...     growth.add(1, 1, Kept(memory=20.0 + 2 * games, files=min(games, 8)))
        >>> growth.rates()
        Kept(memory=2.0, processes=0.0, threads=0.0, files=0.0)
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
        return Kept(*(max(0.0, min(two)) for two in zip(*rates, strict=True)))


def check_growth(growths: Iterable[Growth], most: Kept) -> Item:
    """Return what of `most` is used up first by what is kept of each game, if anything is."""
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
    message = f"keeps {_amount(rate, _NAMES[part])} a game: out of {Kept._fields[part]} after about"
    return Item(
        NAME,
        "warn",
        f"{message} {float(f'{after:.2g}'):,.0f} games (release it in `close()`)",
        figures={"kept": Kept._fields[part], "a_game": round(rate, 3), "games": round(after)},
    )


def _amount(rate: float, name: str) -> str:
    plural = "" if rate == 1 or name == "MB" else "es" if name.endswith("s") else "s"
    return f"{rate:.2g} {name}{plural}"
