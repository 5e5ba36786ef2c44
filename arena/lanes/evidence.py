"""Keep the evidence of a fault: the end of what a bot printed, and its traceback.

What varies from run to run (addresses, folders, numbers) is replaced. The process of a bot imports
this module: standard library only.
"""

from __future__ import annotations

import io
import os
import re
import sys
import traceback
import warnings
from types import TracebackType
from typing import Any

MOST_OUTPUT = 20_000
"""How many characters of output are kept for a fault, which shows the end of them."""

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
"""The folder of the arena. `pathlib` would cost the start of a bot's process 6 ms."""

_ARCHIVE = f"{ROOT}/arena/entries/archive.py"
_IMPORTLIB = "<frozen importlib"
_DEEP = 50  # frames: a recursion that failed is deeper
_COUNTED = "Thread|Dummy|Task|Process|ForkProcess|SpawnProcess|ThreadPoolExecutor"
_RUN = r"(?:/[^/\s'\"]{1,99}){0,9}/noir-arena-\d+(?:\.\d+)?/run-\w{8}(?:/(?:worker|bot)-\w+)*"
_VARYING = {
    # where a bot's own files are laid out: what follows is their name
    rf"{_RUN}/files-[0-9a-f]{{16}}(?:/|\b)": "",
    # addresses of objects: those of a repr, and those that are as long as an address
    r"(?<=\bat )0x[0-9a-fA-F]+|\b0x[0-9a-fA-F]{9,16}\b": "0x...",
    # the folder of a run, of its worker and of a bot, which all are temporary
    _RUN: "<folder>",
    # names that `tempfile` makes up
    r"\btmp[a-z0-9_]{8}\b": "tmp...",
    # numbers that a process gives out, to threads first and then to descriptors
    rf"\b({_COUNTED})-\d+(?:_\d+)?": r"\1-...",
    r"\b(started|stopped|daemon) \d+": r"\1 ...",
    r"\bfd=\d+": "fd=...",
    # how often a line is repeated, and where exactly the limit is met, depends on the lane
    r"\[Previous line repeated \d+ more times?\]": "[Previous line repeated]",
    r"(maximum recursion depth exceeded) [^\n'\"]*": r"\1",
    # what else is installed (from Python 3.15 on)
    r"(No module named '[^'\n]+')\. Did you mean: '[^'\n]+'\?": r"\1",
}
_PATTERNS = [(re.compile(pattern), word) for pattern, word in _VARYING.items()]


class Output(io.TextIOBase):
    """Takes the place of standard output: keeps the end, and passes all of it to a descriptor."""

    def __init__(self, descriptor: int | None = None) -> None:
        self.descriptor = descriptor
        self.kept = ""
        self._captures = False

    def capture(self) -> None:
        """Take the place of standard output and standard error, and get every warning.

        Python itself shows a warning once in a process, which may play many games.
        """
        self._captures = True
        self.stay()
        warnings.simplefilter("always", append=True)  # after the filters that ignore some

    def stay(self) -> None:
        """Take the place again, where a bot has put something else there."""
        if self._captures:
            sys.stdout = sys.stderr = self
            sys.__stdout__ = sys.__stderr__ = self  # type: ignore[assignment,misc]

    def write(self, text: str) -> int:
        """Keep the end of the text."""
        self.kept = (self.kept + text)[-MOST_OUTPUT:]
        if self.descriptor is not None:
            write_all(self.descriptor, text.encode("utf-8", "replace"))
        return len(text)

    def take(self) -> str:
        """Return what was kept, and forget it."""
        kept, self.kept = self.kept, ""
        return kept


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the data, however many writes it takes."""
    while data:
        data = data[os.write(descriptor, data) :]


def settle(text: str) -> str:
    """Return a text without what is new in every run or in every process.

    >>> settle("<Card at 0x7f3a5c0d1e50> in /tmp/noir-arena-7/run-q3x_81ab/worker-2/notes")
    '<Card at 0x...> in <folder>/notes'
    """
    text = text.replace(f"{ROOT}/", "")
    for pattern, word in _PATTERNS:
        text = pattern.sub(word, text)
    return text


class _Recursion(traceback.StackSummary):
    """The frames of a recursion that failed, each place once."""

    def format(self, **options: Any) -> list[str]:
        return [*super().format(**options), "  [and so on]\n"]


def format_error(error: BaseException, frames: TracebackType | None) -> str:
    """Return the traceback of an exception with these frames, and of those that led to it.

    Where a recursion went too deep, the depth at which it failed is not the same in every
    game. So only the places that it went through are shown, in order.
    """
    report = traceback.TracebackException(type(error), error, frames)
    for part in _chain(report):
        part.stack = _without_machinery(part.stack)
    if any(isinstance(cause, RecursionError) for cause in _chain(error)):
        for part in _chain(report):
            if len(part.stack) > _DEEP:
                part.stack = _places(part.stack)
    return "".join(report.format())


def _without_machinery(stack: traceback.StackSummary) -> traceback.StackSummary:
    """Return the frames without those through which one module of a bot imports another."""
    ours = [is_machinery(frame.filename) for frame in stack]
    if not any(ours):
        return stack
    kept = [frame for frame, own in zip(stack, ours, strict=True) if not own]
    return traceback.StackSummary.from_list(kept)


def is_machinery(filename: str) -> bool:
    """Return whether a frame of this file is of the import of a bot's own modules."""
    return filename == _ARCHIVE or filename.startswith(_IMPORTLIB)


def _chain(last: Any) -> list[Any]:
    """Return an exception and all that led to it, or the same of the report of one."""
    found: dict[int, Any] = {}
    left = [last]
    while left:
        one = left.pop()
        if one is None or id(one) in found:
            continue
        found[id(one)] = one
        left += [one.__cause__, one.__context__]
        if isinstance(one, (BaseExceptionGroup, traceback.TracebackException)):
            left += one.exceptions or ()
    return [*found.values()]


def _places(stack: traceback.StackSummary) -> traceback.StackSummary:
    """Return the first frame of each place, except for places that only occur near the limit."""
    places: dict[tuple[str, int | None, str], traceback.FrameSummary] = {}
    for frame in stack[: len(stack) // 2]:
        places.setdefault((frame.filename, frame.lineno, frame.name), frame)
    return _Recursion(places.values())
