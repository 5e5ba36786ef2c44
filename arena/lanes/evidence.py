"""Keep the evidence of a fault: the end of the bot's output, and its traceback.

Text that varies from run to run (addresses, folders, numbers) is replaced. A bot's process imports
this module, so it uses the standard library only.
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
"""Characters of output that are kept; a fault shows the end of them."""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
"""The folder of the arena; importing `pathlib` would delay a bot's start by 6 ms."""
_ARCHIVE = f"{ROOT}/arena/entries/archive.py"
_IMPORTLIB = "<frozen importlib"
_DEEP = 50  # frames; a deeper traceback is that of a runaway recursion
_COUNTED = "Thread|Dummy|Task|Process|ForkProcess|SpawnProcess|ThreadPoolExecutor"
_RUN = r"(?:/[^/\s'\"]{1,99}){0,9}/noir-arena-\d+(?:\.\d+)?/run-\w{8}(?:/(?:worker|bot)-\w+)*"
_VARYING = {
    # the folder of a bot's own files; the rest of the path is their name
    rf"{_RUN}/files-[0-9a-f]{{16}}(?:/|\b)": "",
    # addresses of objects: in a repr, and any number as long as an address
    r"(?<=\bat )0x[0-9a-fA-F]+|\b0x[0-9a-fA-F]{9,16}\b": "0x...",
    # the temporary folders of a run, of its worker and of a bot
    _RUN: "<folder>",
    # random names made by `tempfile`
    r"\btmp[a-z0-9_]{8}\b": "tmp...",
    # numbers of threads and of descriptors, which differ between processes
    rf"\b({_COUNTED})-\d+(?:_\d+)?": r"\1-...",
    r"\b(started|stopped|daemon) \d+": r"\1 ...",
    r"\bfd=\d+": "fd=...",
    # the number of repeated lines and the exact recursion depth depend on the lane
    r"\[Previous line repeated \d+ more times?\]": "[Previous line repeated]",
    r"(maximum recursion depth exceeded) [^\n'\"]*": r"\1",
    # suggestions of installed modules (from Python 3.15 on)
    r"(No module named '[^'\n]+')\. Did you mean: '[^'\n]+'\?": r"\1",
}
_PATTERNS = [(re.compile(pattern), word) for pattern, word in _VARYING.items()]


class Output(io.TextIOBase):
    """Replaces standard output: keeps the end of the text, and writes all to a descriptor."""

    def __init__(self, descriptor: int | None = None) -> None:
        self.descriptor = descriptor
        self.kept = ""
        self._captures = False

    def capture(self) -> None:
        """Replace standard output and standard error, and show every warning each time.

        By default Python shows a warning once in a process, but a process may play many games.
        """
        self._captures = True
        self.stay()
        warnings.simplefilter("always", append=True)  # after the filters that ignore some

    def stay(self) -> None:
        """Replace standard output and standard error again if a bot has changed them."""
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
        """Return the kept text, and discard it."""
        kept, self.kept = self.kept, ""
        return kept


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the data, however many writes it takes."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def settle(text: str) -> str:
    """Replace in a text the parts that differ between runs or processes.

    >>> settle("<Card at 0x7f3a5c0d1e50> in /tmp/noir-arena-7/run-q3x_81ab/worker-2/notes")
    '<Card at 0x...> in <folder>/notes'
    """
    text = text.replace(f"{ROOT}/", "")
    for pattern, word in _PATTERNS:
        text = pattern.sub(word, text)
    return text


class _Recursion(traceback.StackSummary):
    """The frames of a runaway recursion, each line of code once."""

    def format(self, **options: Any) -> list[str]:
        return [*super().format(**options), "  [and so on]\n"]


def format_error(error: BaseException, frames: TracebackType | None) -> str:
    """Return the traceback of an exception with these frames, and of its causes.

    The depth at which a runaway recursion fails is not the same in every game. So of a recursion
    each line of code is shown once, in order.
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
    """Return the frames without those of our import system, by which a bot's modules are loaded."""
    ours = [is_machinery(frame.filename) for frame in stack]
    if not any(ours):
        return stack
    kept = [frame for frame, own in zip(stack, ours, strict=True) if not own]
    return traceback.StackSummary.from_list(kept)


def is_machinery(filename: str) -> bool:
    """Return whether a file belongs to the machinery that imports a bot's own modules."""
    return filename == _ARCHIVE or filename.startswith(_IMPORTLIB)


def _chain(last: Any) -> list[Any]:
    """Return an exception and the chain of its causes; also for a TracebackException."""
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
    """Return the first frame of each line of code, without lines that occur only near the limit."""
    places: dict[tuple[str, int | None, str], traceback.FrameSummary] = {}
    for frame in stack[: len(stack) // 2]:
        places.setdefault((frame.filename, frame.lineno, frame.name), frame)
    return _Recursion(places.values())
