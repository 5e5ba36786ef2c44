"""Check that bots load and accept their parameters, before a run begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from arena.entries.entry import Entry
from arena.entries.loader import find_parameter_error
from arena.entries.needs import explain_missing
from arena.errors import InputError
from arena.lanes.faults import Fault, Forfeit, forfeit_from
from arena.lanes.limits import Limits
from arena.lanes.temp_and_cache_folders import BOT, scratch_folder
from engine import Rules


class Problem(NamedTuple):
    """A bot that does not load, and its fault; `str` of a problem is one line."""

    entry: Entry
    fault: Fault

    def __str__(self) -> str:
        target, message = self.entry.target, self.fault.message
        return f"bot {target!r}: does not start: {message}{explain_missing(target, message)}"


def find_problems(entries: Sequence[Entry], rules: Rules, limits: Limits) -> Iterator[str]:
    """Yield a line for each bot that does not load, as `probe` finds them."""
    return map(str, probe(entries, rules, limits))


def probe(entries: Sequence[Entry], rules: Rules, limits: Limits) -> Iterator[Problem]:
    """Yield a Problem for each bot that does not load; the run can continue without that bot.

    Strangers' code does not run in this process. Raises InputError for parameters that a bot
    does not accept, and for a lane that this machine does not support.
    """
    with ExitStack() as stack:
        folder: Path | None = None  # one for all, because a jail is laid out once in it
        for number, entry in enumerate(entries):
            try:
                if entry.lane == "inproc" and entry.is_ours:
                    _load_here(entry)
                else:
                    folder = folder or stack.enter_context(scratch_folder())
                    _start(entry, rules, limits, folder / f"{BOT}-{number}")
            except Forfeit as forfeit:
                if forfeit.fault.kind == "params":
                    message = f"bot {entry.target!r}: {forfeit.fault.message}"
                    raise InputError(message) from None
                yield Problem(entry, forfeit.fault)


def _load_here(entry: Entry) -> None:
    try:
        bot = entry.load()
    except Exception as error:
        raise forfeit_from(error, kind="import") from None
    if error_text := find_parameter_error(bot, entry.params):
        raise Forfeit("params", error_text)


def _start(entry: Entry, rules: Rules, limits: Limits, folder: Path) -> None:
    from arena.lanes.process import bot_process  # here: a run without processes starts 8 ms sooner

    lane = "process" if entry.lane == "inproc" else entry.lane
    with bot_process(replace(entry, lane=lane), rules, limits, folder, check=True) as process:
        process.start()
