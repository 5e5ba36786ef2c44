"""Faults: what a bot did wrong, with evidence that is the same in every lane.

A bot's own process imports this: standard library only.
"""

from __future__ import annotations

import re
import signal
import traceback
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from engine.errors import IllegalAction
from engine.strategy import Clock

BY_RULE = "max_faults"
"""In place of a kind: the game was not played, because the bot had too many faults."""

KILLED = "ended by SIGKILL"

_MOST_MESSAGE = 200
_MOST_TRACEBACK = 2000
MOST_OUTPUT = 2000
_ROOT = Path(__file__).resolve().parent.parent.parent
_OURS = (f"{_ROOT / 'arena'}/", f"{_ROOT / 'engine'}/", "<frozen importlib")
_REPEATED = re.compile(r"\[Previous line repeated \d+ more times?\]")


class Fault(NamedTuple):
    """What a bot did wrong: its seat, the kind, the ply, and the evidence."""

    seat: int
    kind: str
    ply: int
    message: str
    traceback: str = ""
    output: str = ""


class Forfeit(Exception):
    """A fault on its way from where it was noticed to the game it costs."""

    def __init__(self, kind: str, message: str, traceback: str = "", output: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = one_line(message)
        self.traceback = printable(traceback[-_MOST_TRACEBACK:])
        self.output = printable(output[-MOST_OUTPUT:])

    def of(self, seat: int, ply: int) -> Fault:
        """Return the fault of a seat at a ply."""
        return Fault(seat, self.kind, ply, self.message, self.traceback, self.output)


def raised(error: BaseException, output: str = "", kind: str = "exception") -> Forfeit:
    """Return the forfeit of a bot in whose call this was raised.

    `kind` is for what is neither the referee's IllegalAction nor a MemoryError.
    """
    if type(error) is Forfeit:
        return error
    try:
        frames = _bots_own(error.__traceback__)
        if isinstance(error, MemoryError):  # there may be no memory to say more
            return Forfeit("memory", "MemoryError", "", output)
        if type(error) is IllegalAction and frames is None:
            return Forfeit("illegal", str(error), "", output)
        message = traceback.format_exception_only(error)[-1].strip()
        if kind == "import":
            message += _place(error, frames)
        text = "".join(traceback.format_exception(type(error), error, frames))
    except BaseException:  # the exception is the bot's own class, and may fail in its turn
        message, text = "an exception that cannot be printed", ""
    text = _REPEATED.sub("[Previous line repeated]", text)  # how often depends on the lane
    return Forfeit(kind, message, text.replace(f"{_ROOT}/", ""), output)


def _place(error: BaseException, frames: TracebackType | None) -> str:
    """Return where an import failed, as far as it is known."""
    if isinstance(error, SyntaxError):
        return f" (line {error.lineno})"
    if frames is None:
        return ""
    last = traceback.extract_tb(frames)[-1]
    return f" (line {last.lineno} of {Path(last.filename).name})"


def late(clock: Clock, output: str, more: str = "") -> Forfeit:
    """Return the forfeit of who has not answered within the limit of its clock."""
    told = f"no answer within {clock.decision:g} s"
    if clock.game is not None and clock.limit() != clock.decision:
        told = f"the {clock.game:g} s of the game are used up"
    return Forfeit("timeout", told + more, "", output)


def _bots_own(frames: TracebackType | None) -> TracebackType | None:
    """Return the frames from the bot's first one on, None if there is none of its own."""
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(_OURS):
        frames = frames.tb_next
    return frames


def ending(status: int) -> str:
    """Return how a process has ended, by its exit status or, below 0, the signal's number.

    >>> ending(-9), ending(3)
    ('ended by SIGKILL', 'ended with exit status 3')
    """
    if status >= 0:
        return f"ended with exit status {status}"
    names = {number.value: number.name for number in signal.Signals}
    return f"ended by {names.get(-status, f'signal {-status}')}"


def one_line(text: str) -> str:
    """Return the text as one short line of printable characters."""
    return " ".join(printable(text[:_MOST_MESSAGE]).split())


def printable(text: str) -> str:
    """Return the text with a question mark for every character a terminal might act on."""
    return "".join(char if char.isprintable() or char in "\n" else "?" for char in text)
